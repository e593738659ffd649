#include "common/ops/movement/gather_dims.h"

#include <algorithm>

#include "common/base/status.h"
#include "common/ops/axes.h"

namespace weir {
namespace {

constexpr std::string_view kIndexVector = "index_vector_dim";
constexpr int64_t kFarIndex = int64_t{1} << 60;

absl::Status CheckBatching(const GatherDims& dims, const GatherNames& names,
                           const InferContext& context, int operand, int indices) {
  if (dims.operand_batching.size() != dims.indices_batching.size()) {
    return InvalidArgument("attributes '", names.operand_batching, "' and '",
                           names.indices_batching, "' must have equally many entries");
  }
  for (size_t i = 0; i < dims.operand_batching.size(); ++i) {
    const Dim& a = context.input(operand).shape[static_cast<int>(dims.operand_batching[i])];
    const Dim& b = context.input(indices).shape[static_cast<int>(dims.indices_batching[i])];
    if (a == b || a.is_unknown() || b.is_unknown()) continue;
    return InvalidArgument("batching axis ", dims.operand_batching[i], " of ",
                           OperandText(context, operand), " and axis ", dims.indices_batching[i],
                           " of ", OperandText(context, indices), " must have equal extents");
  }
  if (HasAxis(dims.indices_batching, dims.index_vector)) {
    return InvalidArgument("attribute '", names.indices_batching,
                           "' must not name the axis of the index vectors, ", dims.index_vector);
  }
  return absl::OkStatus();
}

absl::Status CheckIndices(const GatherDims& dims, const GatherNames& names,
                          const InferContext& context, int indices) {
  const TensorType& type = context.input(indices);
  if (!IsInteger(type.dtype)) {
    return InvalidArgument("indices must be integers, found ", OperandText(context, indices));
  }
  if (dims.index_vector < 0 || dims.index_vector > type.rank()) {
    return InvalidArgument("attribute '", kIndexVector, "' must be in 0..", type.rank(), " for ",
                           OperandText(context, indices), ", found ", dims.index_vector);
  }
  const Dim length =
      dims.index_vector == type.rank() ? Dim(1) : type.shape[static_cast<int>(dims.index_vector)];
  if (length == Dim(static_cast<int64_t>(dims.index_map.size()))) return absl::OkStatus();
  return InvalidArgument("attribute '", names.index_map, "' has ", dims.index_map.size(),
                         " entries, the index vectors of ", OperandText(context, indices), " have ",
                         length.ToString());
}

}  // namespace

GatherDims GatherDims::Read(const Node& node, const GatherNames& names) {
  return {.window = node.attr(names.window).AsInts(),
          .dropped = node.attr(names.dropped).AsInts(),
          .operand_batching = node.attr(names.operand_batching).AsInts(),
          .indices_batching = node.attr(names.indices_batching).AsInts(),
          .index_map = node.attr(names.index_map).AsInts(),
          .index_vector = node.attr(kIndexVector).AsInt()};
}

Attrs GatherDims::Write(const GatherNames& names) const {
  Attrs attrs;
  attrs.emplace(names.window, window);
  attrs.emplace(names.dropped, dropped);
  attrs.emplace(names.operand_batching, operand_batching);
  attrs.emplace(names.indices_batching, indices_batching);
  attrs.emplace(names.index_map, index_map);
  attrs.emplace(kIndexVector, index_vector);
  return attrs;
}

std::vector<AttrDef> GatherDims::Schema(const GatherNames& names) {
  return {{names.window, Attr::Kind::kInts},           {names.dropped, Attr::Kind::kInts},
          {names.operand_batching, Attr::Kind::kInts}, {names.indices_batching, Attr::Kind::kInts},
          {names.index_map, Attr::Kind::kInts},        {kIndexVector, Attr::Kind::kInt}};
}

absl::Status GatherDims::Check(const InferContext& context, const GatherNames& names, int operand,
                               int indices, int sliced_rank) const {
  const int rank = context.input(operand).rank();
  const int indices_rank = context.input(indices).rank();
  WEIR_RETURN_IF_ERROR(CheckIndices(*this, names, context, indices));
  WEIR_RETURN_IF_ERROR(CheckAxes(names.window, window, sliced_rank));
  WEIR_RETURN_IF_ERROR(CheckSorted(names.window, window));
  WEIR_RETURN_IF_ERROR(CheckAxes(names.dropped, dropped, rank));
  WEIR_RETURN_IF_ERROR(CheckSorted(names.dropped, dropped));
  WEIR_RETURN_IF_ERROR(CheckAxes(names.operand_batching, operand_batching, rank));
  WEIR_RETURN_IF_ERROR(CheckSorted(names.operand_batching, operand_batching));
  WEIR_RETURN_IF_ERROR(CheckAxes(names.indices_batching, indices_batching, indices_rank));
  WEIR_RETURN_IF_ERROR(CheckAxes(names.index_map, index_map, rank));
  for (int64_t axis : operand_batching) {
    if (!HasAxis(dropped, axis) && !HasAxis(index_map, axis)) continue;
    return InvalidArgument("axis ", axis, " is in '", names.operand_batching, "' and also in '",
                           HasAxis(dropped, axis) ? names.dropped : names.index_map, "'");
  }
  if (window.size() + dropped.size() + operand_batching.size() != static_cast<size_t>(rank)) {
    return InvalidArgument("attributes '", names.window, "', '", names.dropped, "' and '",
                           names.operand_batching, "' must together have ", rank,
                           " entries, one for each axis of ", OperandText(context, operand));
  }
  return CheckBatching(*this, names, context, operand, indices);
}

Int64s GatherDims::WindowAxes(int operand_rank) const {
  Int64s hidden = dropped;
  hidden.insert(hidden.end(), operand_batching.begin(), operand_batching.end());
  return OtherAxes(hidden, operand_rank);
}

Int64s GatherDims::BatchAxes(int sliced_rank) const { return OtherAxes(window, sliced_rank); }

Int64s GatherDims::IndexAxes(int indices_rank) const {
  return OtherAxes({index_vector}, indices_rank);
}

GatherDims GatherDims::WithWindow() const {
  GatherDims dims = *this;
  dims.window = Prepend<int64_t>(0, Shifted(window));
  dims.dropped = Shifted(dropped);
  dims.operand_batching = Shifted(operand_batching);
  dims.index_map = Shifted(index_map);
  return dims;
}

GatherDims GatherDims::WithIndices() const {
  GatherDims dims = *this;
  dims.window = Shifted(window);
  dims.indices_batching = Shifted(indices_batching);
  dims.index_vector = index_vector + 1;
  return dims;
}

GatherDims GatherDims::WithBatch() const {
  GatherDims dims = WithIndices();
  dims.dropped = Shifted(dropped);
  dims.operand_batching = Prepend<int64_t>(0, Shifted(operand_batching));
  dims.indices_batching = Prepend<int64_t>(0, dims.indices_batching);
  dims.index_map = Shifted(index_map);
  return dims;
}

bool TakesRows(const Graph& graph, const Node& node) {
  if (node.op != "gather" || graph.type(node.inputs[1]).rank() != 1) return false;
  const GatherDims dims = GatherDims::Read(node, kGatherNames);
  const std::vector<Dim>& rows = graph.type(node.outputs[0]).shape.dims();
  const std::vector<Dim>& whole = graph.type(node.inputs[0]).shape.dims();
  return dims.index_map == Int64s{0} && dims.dropped == Int64s{0} && dims.index_vector == 1 &&
         dims.operand_batching.empty() &&
         dims.window == Shifted(FirstAxes(static_cast<int>(rows.size()) - 1)) &&
         std::equal(rows.begin() + 1, rows.end(), whole.begin() + 1, whole.end());
}

void GatherDims::ForEachSlice(const Tensor& indices, int operand_rank,
                              absl::FunctionRef<void(const Extents&, const Extents&)> visit) const {
  const Tensor numbers = ToInt64(indices);
  const int64_t* data = numbers.data<int64_t>();
  const Int64s axes = IndexAxes(indices.rank());
  const int64_t step = index_vector < indices.rank() ? numbers.strides()[index_vector] : 0;
  Extents extents;
  for (int64_t axis : axes) extents.push_back(indices.extent(static_cast<int>(axis)));
  if (NumElements(extents) == 0) return;
  Extents place(extents.size(), 0);
  do {
    int64_t position = 0;
    Extents start(operand_rank, 0);
    for (size_t i = 0; i < axes.size(); ++i) position += place[i] * numbers.strides()[axes[i]];
    for (size_t k = 0; k < index_map.size(); ++k) {
      start[index_map[k]] =
          std::clamp(data[position + static_cast<int64_t>(k) * step], -kFarIndex, kFarIndex);
    }
    for (size_t i = 0; i < operand_batching.size(); ++i) {
      const auto at = std::find(axes.begin(), axes.end(), indices_batching[i]);
      start[operand_batching[i]] = place[at - axes.begin()];
    }
    visit(place, start);
  } while (NextIndex(extents, &place));
}

}  // namespace weir
