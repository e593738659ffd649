#include "common/base/status.h"
#include "common/ops/control/ragged.h"
#include "common/ops/control/region.h"
#include "common/ops/control/rows.h"

namespace weir {
namespace {

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  const TensorType& counts = context.input(0);
  if (counts.rank() != 1 || counts.dtype != DType::kI64) {
    return InvalidArgument("the counts must be i64 of rank 1, found ", counts.ToString());
  }
  WEIR_ASSIGN_OR_RETURN(const Dim extent, control::ExtentAttr(context));
  WEIR_ASSIGN_OR_RETURN(const Dim local,
                        control::LocalExtent(context, {counts, {DType::kI64, Shape({extent})}}));
  const TensorType ids = {DType::kI64, Shape({local})};
  WEIR_RETURN_IF_ERROR(control::CheckEqualTypes("region argument", control::ArgTypes(context, 0),
                                                "number of a lane", {ids, ids}));
  WEIR_ASSIGN_OR_RETURN(std::vector<TensorType> types,
                        control::WholeTypes(context.ResultTypes(0), local, extent));
  for (TensorType& type : types) type = control::WithLeading(counts.shape[0], type);
  return types;
}

// Where each lane belongs.
struct Lanes {
  std::vector<int64_t> owners;   // rows of the counts
  std::vector<int64_t> indices;  // below the owner's count
  std::vector<int64_t> places;   // among all that there may be
};

absl::StatusOr<Lanes> LanesOf(const Tensor& counts, int64_t extent) {
  Lanes lanes;
  for (int64_t owner = 0; owner < counts.extents()[0]; ++owner) {
    const int64_t count = counts.At<int64_t>({owner});
    WEIR_RETURN_IF_ERROR(control::CheckCount(count, extent));
    for (int64_t index = 0; index < count; ++index) {
      lanes.owners.push_back(owner);
      lanes.indices.push_back(index);
      lanes.places.push_back(owner * extent + index);
    }
  }
  return lanes;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  const Tensor& counts = context.input(0);
  WEIR_ASSIGN_OR_RETURN(const Extents extent, context.Evaluate("extent"));
  if (extent[0] < 0) return InvalidArgument("extent ", extent[0], " is negative");
  WEIR_ASSIGN_OR_RETURN(const Lanes lanes, LanesOf(counts, extent[0]));
  std::vector<Tensor> results;
  const int64_t count = static_cast<int64_t>(lanes.owners.size());
  if (count > 0) {
    WEIR_ASSIGN_OR_RETURN(results,
                          context.RunRegion(0,
                                            {Tensor::FromSpan<int64_t>({count}, lanes.owners),
                                             Tensor::FromSpan<int64_t>({count}, lanes.indices)},
                                            {{context.attr("local").AsString(), count}}));
  }
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < context.node().outputs.size(); ++i) {
    WEIR_ASSIGN_OR_RETURN(const Extents extents, context.OutputExtents(static_cast<int>(i)));
    Extents joined = extents;
    joined[1] *= joined[0];
    joined.erase(joined.begin());
    Tensor rows = Tensor::Zeros(context.output_dtype(static_cast<int>(i)), joined);
    if (count > 0) control::PutRows(results[i], lanes.places, &rows);
    outputs.push_back(rows.Reshape(extents));
  }
  return outputs;
}

std::vector<Sample> Samples() {
  Sample lengths;
  lengths.program = R"(
    func @main(%counts: i64[n], %x: f32[n,4], %y: f32[2]) -> (f32[n,4,2] "out", i64[n,4] "owners") {
      %out, %owners = ragged_rows(%counts) {extent = (4), local = "k"}
          (%owner: i64[k], %j: i64[k]) {
        %rows = gather(%x, %owner) {collapsed_slice_dims = [0], index_vector_dim = 1,
            offset_dims = [1], operand_batching_dims = [], slice_sizes = (1, 4),
            start_index_map = [0], start_indices_batching_dims = []} : f32[k,4]
        %own = gather(%rows, %j) {collapsed_slice_dims = [1], index_vector_dim = 1,
            offset_dims = [], operand_batching_dims = [0], slice_sizes = (1, 1),
            start_index_map = [1], start_indices_batching_dims = [0]} : f32[k]
        %wide = broadcast_in_dim(%own) {axes = [0], shape = (k, 2)} : f32[k,2]
        %ys = broadcast_in_dim(%y) {axes = [1], shape = (k, 2)} : f32[k,2]
        %product = multiply(%wide, %ys) : f32[k,2]
        yield %product, %owner
      } : f32[n,4,2], i64[n,4]
      return %out, %owners
    })";
  std::vector<Sample> samples;
  for (const std::vector<int64_t>& counts :
       {std::vector<int64_t>{2, 0, 4, 1}, {4, 4}, {0, 0, 0}, {3}, {}}) {
    const int64_t n = static_cast<int64_t>(counts.size());
    lengths.label = StrCat(n, " rows");
    lengths.operands = {Fixed(Tensor::FromSpan<int64_t>({n}, counts)), Rand(DType::kF32, {n, 4}),
                        Rand(DType::kF32, {2})};
    samples.push_back(lengths);
  }
  return samples;
}

}  // namespace

OpDef RaggedRowsOp() {
  OpDef op;
  op.name = "ragged_rows";
  op.summary =
      "runs the region for indices 0 .. counts[r]-1 of every row r at once, as lanes, and puts the "
      "results back by row and index, zeros behind: a vectorized pfor with a count";
  op.outputs = {0, kAny};
  op.regions = {1, 1};
  op.attrs = {{"extent", Attr::Kind::kDims}, {"local", Attr::Kind::kString}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.no_pfor = "it is what a pfor was converted to; loops around it are converted together with it";
  op.samples = Samples;
  return op;
}

}  // namespace weir
