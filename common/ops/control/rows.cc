#include "common/ops/control/rows.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "common/base/status.h"
#include "common/ops/lang.h"
#include "common/ops/movement/gather_dims.h"

namespace weir::control {
namespace {

using Symbols = std::set<std::string, std::less<>>;

size_t RowBytes(const Tensor& tensor) {
  return tensor.extents()[0] == 0 ? 0 : tensor.num_bytes() / tensor.extents()[0];
}

}  // namespace

absl::StatusOr<Dim> LocalExtent(const InferContext& context, absl::Span<const TensorType> outside) {
  const std::string& local = context.attr("local").AsString();
  if (!Dim::IsSymbolName(local)) {
    return InvalidArgument("attribute 'local' must be a symbol, found '", local, "'");
  }
  Symbols used;
  for (const TensorType& type : outside) type.shape.CollectSymbols(&used);
  for (RegionId region : context.node().regions) {
    for (ValueId capture : context.graph().Captures(region)) {
      context.graph().type(capture).shape.CollectSymbols(&used);
    }
  }
  if (!used.contains(local)) return Dim::Symbol(local);
  return InvalidArgument("the symbol ", local, " of attribute 'local' is in use outside");
}

absl::StatusOr<std::vector<TensorType>> PartTypes(const InferContext& context, int first, int count,
                                                  const Dim& whole, const Dim& local) {
  std::vector<TensorType> types;
  for (int i = first; i < first + count; ++i) {
    TensorType type = context.input(i);
    if (type.rank() == 0 || type.shape[0] != whole) {
      return InvalidArgument("operand ", i, " must have the leading extent ", whole.ToString(),
                             ", found ", type.ToString());
    }
    type.shape[0] = local;
    types.push_back(std::move(type));
  }
  return types;
}

absl::StatusOr<std::vector<TensorType>> WholeTypes(absl::Span<const TensorType> parts,
                                                   const Dim& local, const Dim& whole) {
  std::vector<TensorType> types(parts.begin(), parts.end());
  for (size_t i = 0; i < types.size(); ++i) {
    Symbols inner;
    for (int axis = 1; axis < types[i].rank(); ++axis) types[i].shape[axis].CollectSymbols(&inner);
    if (types[i].rank() == 0 || types[i].shape[0] != local || inner.contains(local.ToString())) {
      return InvalidArgument("region result ", i, " must have ", local.ToString(),
                             " as its leading extent and nowhere else, found ",
                             types[i].ToString());
    }
    types[i].shape[0] = whole;
  }
  return types;
}

Tensor TakeRows(const Tensor& from, absl::Span<const int64_t> ids) {
  Extents extents = from.extents();
  extents[0] = static_cast<int64_t>(ids.size());
  Tensor rows(from.dtype(), extents);
  std::byte* to = rows.num_elements() == 0 ? nullptr : rows.raw_mutable_data();
  for (size_t k = 0; to != nullptr && k < ids.size(); ++k) {
    from.Row(ids[k]).CopyTo(to + k * RowBytes(rows));
  }
  return rows;
}

void PutRows(const Tensor& rows, absl::Span<const int64_t> ids, Tensor* to) {
  const size_t bytes = RowBytes(rows);
  if (bytes == 0) return;
  for (size_t k = 0; k < ids.size(); ++k) {
    rows.Row(static_cast<int64_t>(k)).CopyTo(to->raw_mutable_data() + ids[k] * bytes);
  }
}

void PartCaptures::Add(ValueId source) { Add(source, rewrite_.converted(source), ValueId()); }

void PartCaptures::AddByOwner(ValueId source) {
  const ValueId rows = rewrite_.converted(source);
  const Node* gather = rewrite_.build().graph().producer(rows);
  if (gather == nullptr || !TakesRows(rewrite_.build().graph(), *gather)) return Add(source);
  Add(source, gather->inputs[1], gather->inputs[0]);
}

void PartCaptures::Add(ValueId source, ValueId operand, ValueId whole) {
  const bool known = std::any_of(captures_.begin(), captures_.end(),
                                 [&](const Capture& capture) { return capture.source == source; });
  if (known) return;
  const auto at = std::find(operands_.begin(), operands_.end(), operand);
  captures_.push_back({source, static_cast<size_t>(at - operands_.begin()), whole});
  if (at == operands_.end()) operands_.push_back(operand);
}

std::vector<PforRewrite::PartRows> PartCaptures::AddArgs(Builder& into) const {
  std::vector<ValueId> args;
  for (ValueId operand : operands_) {
    const Value value = into.graph().value(operand);
    TensorType type = value.type;
    type.shape[0] = part_;
    args.push_back(into.AddArg(std::move(type), value.name));
  }
  std::vector<PforRewrite::PartRows> rows;
  for (const Capture& capture : captures_) {
    const ValueId arg = args[capture.operand];
    rows.push_back(
        {capture.source, capture.whole.valid() ? TakeRow(into, capture.whole, arg) : arg});
  }
  return rows;
}

std::vector<ValueId> VaryingCaptures(const PforRewrite& rewrite, RegionId region) {
  std::vector<ValueId> captures = rewrite.source().Captures(region);
  std::erase_if(captures, [&](ValueId value) { return !rewrite.varies(value); });
  return captures;
}

}  // namespace weir::control
