// Operators that move elements.
#include <algorithm>
#include <numeric>

#include "common/base/status.h"
#include "server/compiler/import/onnx_node.h"

namespace weir::onnx_import {
namespace {

// Counts negative indices from the end of a dimension.
ValueId FromFront(Builder& b, ValueId indices, const Dim& extent) {
  const ValueId wide = Cast(b, indices, DType::kI64);
  const ValueId shifted = Binary(b, "add", wide, DimValue(b, extent));
  return Where(b, Binary(b, "less", wide, 0.0), shifted, wide);
}

// Constant indices that are not negative stay as they are.
ValueId Indices(OnnxNode& node, int i, const Dim& extent) {
  absl::StatusOr<Int64s> known = node.Ints(i);
  if (known.ok() && std::all_of(known->begin(), known->end(), [](int64_t k) { return k >= 0; })) {
    return Cast(node.b(), node.input(i), DType::kI64);
  }
  return FromFront(node.b(), node.input(i), extent);
}

// i64 coordinates of every element of `shape` along `axis`, with a last axis of one.
ValueId Coordinate(Builder& b, const Shape& shape, int axis) {
  return ExpandDims(b, Iota(b, DType::kI64, shape.dims(), axis), {shape.rank()});
}

// Coordinates [..., rank] that are those of the element itself but for `axis`, where `indices`
// stand.
ValueId ElementCoordinates(Builder& b, ValueId indices, int axis) {
  const Shape shape = b.type(indices).shape;
  std::vector<ValueId> parts;
  for (int i = 0; i < shape.rank(); ++i) {
    parts.push_back(i == axis ? ExpandDims(b, indices, {shape.rank()}) : Coordinate(b, shape, i));
  }
  return Concatenate(b, std::move(parts), shape.rank());
}

Int64s Count(int n) {
  Int64s out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

Attrs ScatterAttrs(int indexed, int update_window, int indices_rank, std::string kind) {
  Int64s window(update_window);
  std::iota(window.begin(), window.end(), indices_rank - 1);
  return {{"update_window_dims", std::move(window)},
          {"inserted_window_dims", Count(indexed)},
          {"input_batching_dims", Int64s{}},
          {"scatter_indices_batching_dims", Int64s{}},
          {"scatter_dims_to_operand_dims", Count(indexed)},
          {"index_vector_dim", indices_rank - 1},
          {"combiner", std::move(kind)}};
}

absl::StatusOr<std::string> ScatterKind(OnnxNode& node) {
  const std::string reduction = node.String("reduction", "none");
  if (reduction == "none") return std::string("set");
  if (reduction == "add" || reduction == "mul" || reduction == "min" || reduction == "max") {
    return reduction;
  }
  return node.Unsupported(StrCat("reduction '", reduction, "'"));
}

}  // namespace

absl::Status TranslateTranspose(OnnxNode& node) {
  Int64s reversed = Count(node.rank(0));
  std::reverse(reversed.begin(), reversed.end());
  node.Return(Transpose(node.b(), node.input(0), node.Ints("perm", reversed)));
  return absl::OkStatus();
}

absl::Status TranslateConcat(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(const int axis, node.Axis(node.Int("axis", 0), node.rank(0)));
  std::vector<ValueId> parts;
  for (int i = 0; i < node.num_inputs(); ++i) parts.push_back(node.input(i));
  node.Return(Concatenate(node.b(), std::move(parts), axis));
  return absl::OkStatus();
}

absl::Status TranslateSplit(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(const int axis, node.Axis(node.Int("axis", 0), node.rank(0)));
  const Dim extent = node.type(0).shape[axis];
  Int64s sizes = node.Ints("split", {});
  if (node.opset() >= 13 && node.has_input(1)) {
    WEIR_ASSIGN_OR_RETURN(sizes, node.Ints(1));
  }
  std::vector<Dim> parts(sizes.begin(), sizes.end());
  if (parts.empty()) {
    parts.assign(static_cast<size_t>(node.num_outputs()),
                 FloorDiv(extent, Dim(node.num_outputs())));
  }
  Dim begin = 0;
  for (const Dim& size : parts) {
    node.Return(Slice(node.b(), node.input(0), axis, begin, begin + size));
    begin = begin + size;
  }
  return absl::OkStatus();
}

absl::Status TranslateSlice(OnnxNode& node) {
  const int rank = node.rank(0);
  Int64s starts = node.Ints("starts", {});
  Int64s ends = node.Ints("ends", {});
  Int64s axes = node.Ints("axes", {});
  Int64s steps;
  std::vector<Dim> start_dims(starts.begin(), starts.end());
  std::vector<Dim> end_dims(ends.begin(), ends.end());
  if (node.opset() >= 10) {
    WEIR_ASSIGN_OR_RETURN(start_dims, node.Dims(1));
    WEIR_ASSIGN_OR_RETURN(end_dims, node.Dims(2));
    if (node.has_input(3)) {
      WEIR_ASSIGN_OR_RETURN(axes, node.Ints(3));
    }
    if (node.has_input(4)) {
      WEIR_ASSIGN_OR_RETURN(steps, node.Ints(4));
    }
  }
  if (axes.empty()) axes = Count(static_cast<int>(start_dims.size()));
  if (steps.empty()) steps.assign(axes.size(), 1);
  if (start_dims.size() != axes.size() || end_dims.size() != axes.size() ||
      steps.size() != axes.size()) {
    return InvalidArgument("starts, ends, axes and steps have different lengths");
  }
  ValueId value = node.input(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    WEIR_ASSIGN_OR_RETURN(const int axis, node.Axis(axes[i], rank));
    WEIR_RETURN_IF_ERROR(node.b().status());
    const Dim extent = node.b().type(value).shape[axis];
    if (steps[i] == 0) return InvalidArgument("step ", i, " is 0");
    // Numbers beyond the end are common ("everything from here"); with a symbolic extent they stand
    // for it.
    auto clip = [&](const Dim& position, int64_t low, const Dim& high) -> Dim {
      if (!position.is_number()) return position;
      const int64_t p = position.number();
      if (p < 0) return Max(extent + std::max<int64_t>(p, -(int64_t{1} << 40)), Dim(low));
      return p >= (int64_t{1} << 31) - 1 ? high : Min(position, high);
    };
    if (steps[i] > 0) {
      const Dim begin = clip(start_dims[i], 0, extent);
      const Dim end = Max(begin, clip(end_dims[i], 0, extent));
      value = Slice(node.b(), value, axis, begin, end, steps[i]);
      continue;
    }
    const Dim begin = clip(start_dims[i], -1, extent - 1);
    const Dim end = clip(end_dims[i], -1, extent - 1);
    value = node.b().Apply("reverse", {value}, {{"axes", Int64s{axis}}});
    const Dim from = extent - 1 - begin;
    value = Slice(node.b(), value, axis, from, Max(from, extent - 1 - end), -steps[i]);
  }
  node.Return(value);
  return absl::OkStatus();
}

absl::Status TranslateGather(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(const int axis, node.Axis(node.Int("axis", 0), node.rank(0)));
  const ValueId indices = Indices(node, 1, node.type(0).shape[axis]);
  node.Return(Take(node.b(), node.input(0), indices, axis));
  return absl::OkStatus();
}

absl::Status TranslateGatherElements(OnnxNode& node) {
  Builder& b = node.b();
  WEIR_ASSIGN_OR_RETURN(const int axis, node.Axis(node.Int("axis", 0), node.rank(0)));
  const ValueId indices = Indices(node, 1, node.type(0).shape[axis]);
  const int rank = node.rank(0);
  node.Return(b.Apply("gather", {node.input(0), ElementCoordinates(b, indices, axis)},
                      {{"offset_dims", Int64s{}},
                       {"collapsed_slice_dims", Count(rank)},
                       {"operand_batching_dims", Int64s{}},
                       {"start_indices_batching_dims", Int64s{}},
                       {"start_index_map", Count(rank)},
                       {"index_vector_dim", rank},
                       {"slice_sizes", std::vector<Dim>(rank, Dim(1))}}));
  return absl::OkStatus();
}

// Negative coordinates are counted from the end of their own dimension.
static absl::StatusOr<ValueId> Coordinates(OnnxNode& node, int depth, int first_axis) {
  Builder& b = node.b();
  std::vector<ValueId> parts;
  const int last = node.rank(1) - 1;
  if (depth < 0 || depth > node.rank(0) - first_axis) {
    return InvalidArgument("indices of depth ", depth, " into ", node.type(0).ToString());
  }
  for (int i = 0; i < depth; ++i) {
    const ValueId column = Slice(b, node.input(1), last, Dim(i), Dim(i + 1));
    parts.push_back(FromFront(b, column, node.type(0).shape[first_axis + i]));
  }
  return Concatenate(b, std::move(parts), last);
}

absl::Status TranslateGatherND(OnnxNode& node) {
  Builder& b = node.b();
  const int64_t batch_dims = node.Int("batch_dims", 0);
  if (batch_dims < 0 || batch_dims > node.rank(0)) {
    return InvalidArgument("batch_dims ", batch_dims, " of ", node.type(0).ToString());
  }
  const int batch = static_cast<int>(batch_dims);
  const int indices_rank = node.rank(1);
  if (indices_rank == 0) return InvalidArgument("the indices must have at least one axis");
  const Dim depth_dim = node.type(1).shape[indices_rank - 1];
  if (!depth_dim.is_number()) return node.Unsupported("the last dimension of the indices");
  const int depth = static_cast<int>(depth_dim.number());
  const int rank = node.rank(0);
  WEIR_ASSIGN_OR_RETURN(const ValueId coordinates, Coordinates(node, depth, batch));
  std::vector<Dim> sizes = node.type(0).shape.dims();
  Int64s collapsed;
  Int64s start_map;
  for (int i = 0; i < batch + depth; ++i) {
    sizes[i] = 1;
    if (i >= batch) collapsed.push_back(i);
    if (i >= batch) start_map.push_back(i);
  }
  Int64s offsets(rank - batch - depth);
  std::iota(offsets.begin(), offsets.end(), indices_rank - 1);
  node.Return(b.Apply("gather", {node.input(0), coordinates},
                      {{"offset_dims", offsets},
                       {"collapsed_slice_dims", collapsed},
                       {"operand_batching_dims", Count(batch)},
                       {"start_indices_batching_dims", Count(batch)},
                       {"start_index_map", start_map},
                       {"index_vector_dim", indices_rank - 1},
                       {"slice_sizes", std::move(sizes)}}));
  return absl::OkStatus();
}

absl::Status TranslateScatterElements(OnnxNode& node) {
  Builder& b = node.b();
  WEIR_ASSIGN_OR_RETURN(const int axis, node.Axis(node.Int("axis", 0), node.rank(0)));
  WEIR_ASSIGN_OR_RETURN(const std::string kind, ScatterKind(node));
  const ValueId indices = FromFront(b, node.input(1), node.type(0).shape[axis]);
  const int rank = node.rank(0);
  node.Return(b.Apply("scatter",
                      {node.input(0), ElementCoordinates(b, indices, axis), node.input(2)},
                      ScatterAttrs(rank, 0, rank + 1, kind)));
  return absl::OkStatus();
}

absl::Status TranslateScatter(OnnxNode& node) { return TranslateScatterElements(node); }

absl::Status TranslateScatterND(OnnxNode& node) {
  WEIR_ASSIGN_OR_RETURN(const std::string kind, ScatterKind(node));
  const int indices_rank = node.rank(1);
  if (indices_rank == 0) return InvalidArgument("the indices must have at least one axis");
  const Dim depth_dim = node.type(1).shape[indices_rank - 1];
  if (!depth_dim.is_number()) return node.Unsupported("the last dimension of the indices");
  const int depth = static_cast<int>(depth_dim.number());
  WEIR_ASSIGN_OR_RETURN(const ValueId coordinates, Coordinates(node, depth, 0));
  node.Return(node.b().Apply("scatter", {node.input(0), coordinates, node.input(2)},
                             ScatterAttrs(depth, node.rank(0) - depth, indices_rank, kind)));
  return absl::OkStatus();
}

absl::Status TranslateTile(OnnxNode& node) {
  Builder& b = node.b();
  WEIR_ASSIGN_OR_RETURN(const std::vector<Dim> repeats, node.Dims(1));
  const Shape shape = node.type(0).shape;
  if (static_cast<int>(repeats.size()) != shape.rank()) {
    return InvalidArgument("expected ", shape.rank(), " repeats, found ", repeats.size());
  }
  std::vector<Dim> wide;
  std::vector<Dim> merged;
  Int64s axes;
  for (int i = 0; i < shape.rank(); ++i) {
    wide.push_back(repeats[i]);
    wide.push_back(shape[i]);
    merged.push_back(repeats[i] * shape[i]);
    axes.push_back(2 * i + 1);
  }
  const ValueId copies = b.Apply("broadcast_in_dim", {node.input(0)},
                                 {{"shape", std::move(wide)}, {"axes", std::move(axes)}});
  node.Return(Reshape(b, copies, std::move(merged)));
  return absl::OkStatus();
}

// One axis of a reflecting or repeating border, by gathering.
static absl::StatusOr<ValueId> PadByIndex(OnnxNode& node, ValueId x, int axis, int64_t low,
                                          int64_t high, const std::string& mode) {
  const Dim extent = node.b().type(x).shape[axis];
  if (!extent.is_number() || extent.number() == 0) {
    return node.Unsupported(StrCat("mode '", mode, "' over dimension ", extent.ToString()));
  }
  const int64_t n = extent.number();
  constexpr int64_t kMost = int64_t{1} << 24;  // indices become a constant of the program
  for (int64_t pad : {low, high}) {
    if (pad < -kMost || pad > kMost) {
      return InvalidArgument("mode '", mode, "' with a pad of ", pad, ": at most ", kMost,
                             " is allowed");
    }
  }
  if (n > kMost) return node.Unsupported(StrCat("mode '", mode, "' over dimension ", n));
  Int64s indices;
  for (int64_t k = -low; k < n + high; ++k) {
    int64_t at = k;
    if (mode == "edge") {
      at = std::clamp<int64_t>(k, 0, n - 1);
    } else if (n == 1) {
      at = 0;
    } else {
      const int64_t period = 2 * (n - 1);
      at = ((k % period) + period) % period;
      if (at >= n) at = period - at;
    }
    indices.push_back(at);
  }
  const ValueId at =
      node.b().Constant(Tensor::FromSpan<int64_t>({static_cast<int64_t>(indices.size())}, indices));
  return Take(node.b(), x, at, axis);
}

absl::Status TranslatePad(OnnxNode& node) {
  Int64s pads = node.Ints("pads", {});
  if (node.opset() >= 11) {
    WEIR_ASSIGN_OR_RETURN(pads, node.Ints(1));
  }
  const int rank = node.rank(0);
  if (static_cast<int>(pads.size()) != 2 * rank) {
    return InvalidArgument("expected ", 2 * rank, " pads, found ", pads.size());
  }
  const Int64s low(pads.begin(), pads.begin() + rank);
  const Int64s high(pads.begin() + rank, pads.end());
  const std::string mode = node.String("mode", "constant");
  ValueId value = node.input(0);
  if (mode == "constant") {
    const DType dtype = node.type(0).dtype;
    ValueId fill;
    if (node.opset() >= 11 && node.has_input(2)) {
      fill = Reshape(node.b(), node.input(2), {});
    } else {
      fill = node.b().Constant(ScalarOf(dtype, node.Float("value", 0)));
    }
    node.Return(node.b().Apply("pad", {value, fill},
                               {{"low", low}, {"high", high}, {"interior", Int64s(rank, 0)}}));
    return absl::OkStatus();
  }
  if (mode != "reflect" && mode != "edge") return node.Unsupported(StrCat("mode '", mode, "'"));
  for (int axis = 0; axis < rank; ++axis) {
    if (low[axis] == 0 && high[axis] == 0) continue;
    WEIR_ASSIGN_OR_RETURN(value, PadByIndex(node, value, axis, low[axis], high[axis], mode));
  }
  node.Return(value);
  return absl::OkStatus();
}

absl::Status TranslateOneHot(OnnxNode& node) {
  Builder& b = node.b();
  WEIR_ASSIGN_OR_RETURN(const double depth_number, node.Number(1));
  const Dim depth = static_cast<int64_t>(depth_number);
  const int rank = node.rank(0) + 1;
  WEIR_ASSIGN_OR_RETURN(const int axis, node.Axis(node.Int("axis", -1), rank));
  const ValueId indices = FromFront(b, node.input(0), depth);
  std::vector<Dim> shape = node.type(0).shape.dims();
  shape.insert(shape.begin() + axis, depth);
  const ValueId hit =
      Binary(b, "equal", Iota(b, DType::kI64, shape, axis), ExpandDims(b, indices, {axis}));
  const ValueId off = Reshape(b, Slice(b, node.input(2), 0, Dim(0), Dim(1)), {});
  const ValueId on = Reshape(b, Slice(b, node.input(2), 0, Dim(1), Dim(2)), {});
  node.Return(Where(b, hit, on, off));
  return absl::OkStatus();
}

absl::Status TranslateDepthToSpace(OnnxNode& node) {
  Builder& b = node.b();
  const Shape s = node.type(0).shape;
  if (s.rank() != 4) return InvalidArgument("the operand must be [N,C,H,W]");
  const Dim k = node.Int("blocksize", 1);
  const Dim c = FloorDiv(s[1], k * k);
  const bool crd = node.String("mode", "DCR") == "CRD";
  const ValueId split = Reshape(b, node.input(0),
                                crd ? std::vector<Dim>{s[0], c, k, k, s[2], s[3]}
                                    : std::vector<Dim>{s[0], k, k, c, s[2], s[3]});
  const ValueId moved =
      Transpose(b, split, crd ? Int64s{0, 1, 4, 2, 5, 3} : Int64s{0, 3, 4, 1, 5, 2});
  node.Return(Reshape(b, moved, {s[0], c, s[2] * k, s[3] * k}));
  return absl::OkStatus();
}

absl::Status TranslateSpaceToDepth(OnnxNode& node) {
  Builder& b = node.b();
  const Shape s = node.type(0).shape;
  if (s.rank() != 4) return InvalidArgument("the operand must be [N,C,H,W]");
  const Dim k = node.Int("blocksize", 1);
  const Dim h = FloorDiv(s[2], k);
  const Dim w = FloorDiv(s[3], k);
  const ValueId split = Reshape(b, node.input(0), {s[0], s[1], h, k, w, k});
  node.Return(Reshape(b, Transpose(b, split, {0, 3, 5, 1, 2, 4}), {s[0], s[1] * k * k, h, w}));
  return absl::OkStatus();
}

}  // namespace weir::onnx_import
