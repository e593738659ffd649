// The dimension numbers that gather and scatter share (StableHLO), under one set of names: checks,
// walks over the slices, and what becomes of them when operands get an iteration axis. Immutable
// values; usable from any thread.
//
// Both ops relate an operand to `sliced` (the result of a gather, the updates of a scatter), whose
// axes are window axes, which run inside a slice, and batch axes, which count the index vectors.
#ifndef WEIR_COMMON_OPS_MOVEMENT_GATHER_DIMS_H_
#define WEIR_COMMON_OPS_MOVEMENT_GATHER_DIMS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/ops/op_def.h"

namespace weir {

// Names of the attributes.
struct GatherNames {
  std::string_view window;
  std::string_view dropped;
  std::string_view operand_batching;
  std::string_view indices_batching;
  std::string_view index_map;
};
inline constexpr GatherNames kGatherNames = {"offset_dims", "collapsed_slice_dims",
                                             "operand_batching_dims", "start_indices_batching_dims",
                                             "start_index_map"};
inline constexpr GatherNames kScatterNames = {
    "update_window_dims", "inserted_window_dims", "input_batching_dims",
    "scatter_indices_batching_dims", "scatter_dims_to_operand_dims"};

struct GatherDims {
  Int64s window;             // axes of `sliced`, ascending
  Int64s dropped;            // operand axes that slices lose
  Int64s operand_batching;   // operand axes indexed by the place of the index vector,
  Int64s indices_batching;   // namely by its coordinate along these axes of the indices
  Int64s index_map;          // entry k of an index vector counts along operand axis index_map[k]
  int64_t index_vector = 0;  // axis of the indices that holds index vectors; its rank: scalars

  static GatherDims Read(const Node& node, const GatherNames& names);
  Attrs Write(const GatherNames& names) const;
  static std::vector<AttrDef> Schema(const GatherNames& names);

  // Checks the numbers against the operand and the indices.
  absl::Status Check(const InferContext& context, const GatherNames& names, int operand,
                     int indices, int sliced_rank) const;
  // Operand axes that appear in `sliced`, in the order of `window`.
  Int64s WindowAxes(int operand_rank) const;
  // Axes of `sliced` that count index vectors.
  Int64s BatchAxes(int sliced_rank) const;
  // Axes of the indices other than the vectors.
  Int64s IndexAxes(int indices_rank) const;

  // The numbers when only the operand and `sliced` get an iteration axis in front (part of every
  // slice), when only the indices and `sliced` do, and when all three do.
  GatherDims WithWindow() const;
  GatherDims WithIndices() const;
  GatherDims WithBatch() const;

  // Calls visit(place, start) for each index vector in row-major order: its place among the batch
  // axes, and the operand index that it names (0 along axes that it does not mention), within
  // 2^60 of 0.
  void ForEachSlice(const Tensor& indices, int operand_rank,
                    absl::FunctionRef<void(const Extents&, const Extents&)> visit) const;
};

// True for a gather of rows of axis 0 by a vector of indices that keeps the other axes as they are.
bool TakesRows(const Graph& graph, const Node& node);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_MOVEMENT_GATHER_DIMS_H_
