#include "common/ops/registry.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/status.h"

namespace weir {

#define WEIR_OP(Name) OpDef Name##Op();
#include "common/ops/list.inc"
#undef WEIR_OP

namespace {

const std::vector<OpDef>& Table() {
  static const std::vector<OpDef>& table = *new std::vector<OpDef>{
#define WEIR_OP(Name) Name##Op(),
#include "common/ops/list.inc"
#undef WEIR_OP
  };
  return table;
}

absl::Status CheckCount(std::string_view what, int found, Count wanted) {
  if (found >= wanted.min && found <= wanted.max) return absl::OkStatus();
  std::string expected = StrCat(wanted.min);
  if (wanted.max >= kAny) {
    StrAppend(&expected, " or more");
  } else if (wanted.max != wanted.min) {
    StrAppend(&expected, " to ", wanted.max);
  }
  return InvalidArgument("expected ", expected, " ", what, ", found ", found);
}

absl::Status CheckAttrs(const OpDef& op, const Node& node) {
  size_t known = 0;
  for (const AttrDef& def : op.attrs) {
    const Attr* attr = node.FindAttr(def.name);
    if (attr == nullptr) {
      if (def.required) return InvalidArgument("attribute '", def.name, "' is missing");
      continue;
    }
    ++known;
    if (attr->kind() != def.kind) {
      return InvalidArgument("attribute '", def.name, "' must be ", AttrKindName(def.kind),
                             ", found ", AttrKindName(attr->kind()));
    }
  }
  if (known == node.attrs.size()) return absl::OkStatus();
  for (const auto& [name, attr] : node.attrs) {
    bool found = false;
    for (const AttrDef& def : op.attrs) found = found || def.name == name;
    if (!found) return InvalidArgument("unknown attribute '", name, "'");
  }
  return absl::OkStatus();
}

class Registry : public OpCatalog {
 public:
  Registry() {
    for (const OpDef& op : Table()) by_name_.emplace(op.name, &op);
  }

  const OpDef* Find(std::string_view name) const {
    auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : it->second;
  }

  bool Has(std::string_view op) const override { return Find(op) != nullptr; }

  std::vector<std::string_view> Names() const override {
    std::vector<std::string_view> names;
    for (const OpDef& op : Table()) names.push_back(op.name);
    return names;
  }

  absl::StatusOr<std::vector<TensorType>> Infer(const Graph& graph,
                                                const Node& node) const override {
    const OpDef* op = Find(node.op);
    if (op == nullptr) return InvalidArgument("unknown op '", node.op, "'");
    WEIR_RETURN_IF_ERROR(CheckCount("operands", static_cast<int>(node.inputs.size()), op->inputs));
    WEIR_RETURN_IF_ERROR(CheckCount("regions", static_cast<int>(node.regions.size()), op->regions));
    WEIR_RETURN_IF_ERROR(CheckAttrs(*op, node));
    return op->infer(InferContext(graph, node));
  }

 private:
  absl::flat_hash_map<std::string_view, const OpDef*> by_name_;
};

const Registry& TheRegistry() {
  static const Registry& registry = *new Registry;
  return registry;
}

}  // namespace

const OpDef* FindOp(std::string_view name) { return TheRegistry().Find(name); }
absl::Span<const OpDef> AllOps() { return Table(); }
const OpCatalog& Ops() { return TheRegistry(); }

}  // namespace weir
