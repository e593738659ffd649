#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "common/ops/registry.h"
#include "server/compiler/optimize/region_walk.h"
#include "server/compiler/optimize/simplify.h"

namespace weir {
namespace {

size_t HashAttr(const Attr& attr) {
  switch (attr.kind()) {
    case Attr::Kind::kInts:
      return absl::HashOf(attr.AsInts());
    case Attr::Kind::kInt:
      return absl::HashOf(attr.AsInt());
    case Attr::Kind::kString:
      return absl::HashOf(attr.AsString());
    case Attr::Kind::kTensor: {
      const Tensor dense = attr.AsTensor().Contiguous();
      const size_t bytes = static_cast<size_t>(std::min<int64_t>(dense.num_bytes(), 4096));
      return absl::HashOf(
          absl::string_view(reinterpret_cast<const char*>(dense.raw_data()), bytes));
    }
    default:
      return static_cast<size_t>(attr.kind());
  }
}

size_t HashNode(const Node& node) {
  size_t hash = absl::HashOf(node.op, node.inputs);
  for (const auto& [name, attr] : node.attrs) hash = absl::HashOf(hash, name, HashAttr(attr));
  return hash;
}

bool MayShare(const Node& node) {
  const OpDef* op = FindOp(node.op);
  return op != nullptr && op->effect == Effect::kPure && node.regions.empty() &&
         node.control_inputs.empty() && node.op != "call";
}

}  // namespace

absl::Status EliminateCommonSubexpressions(Graph* graph, const CompileOptions&, CompileReport*) {
  absl::flat_hash_map<size_t, std::vector<NodeId>> seen;
  return RewriteNodes(graph, [&](NodeId id, Builder& builder) -> absl::StatusOr<Replacement> {
    const Node& node = graph->node(id);
    if (!MayShare(node)) return std::nullopt;
    std::vector<NodeId>& candidates = seen[HashNode(node)];
    for (NodeId candidate : candidates) {
      const Node& other = graph->node(candidate);
      if (other.op == node.op && other.inputs == node.inputs && other.attrs == node.attrs &&
          graph->Contains(other.parent, node.parent)) {
        return other.outputs;
      }
    }
    candidates.push_back(id);
    return std::nullopt;
  });
}

}  // namespace weir
