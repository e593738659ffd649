#include <algorithm>

#include "common/base/status.h"
#include "common/ops/control/ragged.h"
#include "common/ops/control/region.h"
#include "common/ops/control/rows.h"
#include "common/ops/lang.h"

namespace weir {
namespace {

// With a count, iterations from it on do not run, and the extent is what it may be at most.
bool HasCount(const Node& node) { return !node.inputs.empty(); }

absl::StatusOr<std::vector<TensorType>> Infer(const InferContext& context) {
  WEIR_ASSIGN_OR_RETURN(const Dim extent, control::ExtentAttr(context));
  if (HasCount(context.node())) {
    WEIR_RETURN_IF_ERROR(
        control::CheckScalar("operand 0, the count,", context.input(0), DType::kI64));
  }
  WEIR_RETURN_IF_ERROR(control::CheckEqualTypes("region argument", control::ArgTypes(context, 0),
                                                "loop variable", {control::IndexType()}));
  std::vector<TensorType> types = context.ResultTypes(0);
  for (TensorType& type : types) type = control::WithLeading(extent, type);
  return types;
}

// Adds rows of zeros at the end.
Tensor WithRows(const Tensor& rows, int64_t extent) {
  Extents extents = rows.extents();
  if (extents[0] == extent) return rows;
  extents[0] = extent;
  Tensor whole = Tensor::Zeros(rows.dtype(), extents);
  if (rows.num_elements() > 0) rows.CopyTo(whole.raw_mutable_data());
  return whole;
}

absl::StatusOr<std::vector<Tensor>> Evaluate(EvalContext& context) {
  WEIR_ASSIGN_OR_RETURN(const Extents extents, context.Evaluate("extent"));
  const int64_t extent = extents[0];
  if (extent < 0) return InvalidArgument("pfor extent ", extent, " is negative");
  const int64_t count = HasCount(context.node()) ? context.input(0).At<int64_t>({}) : extent;
  WEIR_RETURN_IF_ERROR(control::CheckCount(count, extent));
  control::Collector collector(context, 0);
  for (int64_t i = 0; i < count; ++i) {
    absl::StatusOr<std::vector<Tensor>> results =
        context.RunRegion(0, {Tensor::Scalar<int64_t>(i)});
    if (!results.ok()) return control::InIteration(results.status(), i);
    WEIR_RETURN_IF_ERROR(control::InIteration(collector.Add(*results, 0), i));
  }
  WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> results, collector.Take());
  for (Tensor& rows : results) rows = WithRows(rows, extent);
  return results;
}

void MarkVarying(VarianceContext& context) {
  const Node& node = context.node();
  const RegionId body = node.regions[0];
  const std::vector<ValueId> captures = context.graph().Captures(body);
  const bool touched = (HasCount(node) && context.input_varies(0)) ||
                       std::any_of(captures.begin(), captures.end(),
                                   [&](ValueId capture) { return context.varies(capture); });
  // Lanes of both loops are converted together, so its own variable varies like the outer one.
  if (touched) context.MarkVarying(context.graph().region(body).args[0]);
  context.AnalyzeRegion(body);
  const std::vector<ValueId>& results = context.graph().region(body).results;
  for (size_t i = 0; i < results.size(); ++i) {
    if (context.varies(results[i]) || (touched && HasCount(node))) {
      context.MarkVarying(node.outputs[i]);
    }
  }
}

// T[a, b, s...] to T[a * b, s...].
ValueId JoinLeading(Builder& build, ValueId value) {
  std::vector<Dim> dims = build.type(value).shape.dims();
  dims[1] = dims[0] * dims[1];
  dims.erase(dims.begin());
  return build.Apply("reshape", {value}, {{"shape", std::move(dims)}});
}

// T[outer, s...] to T[outer * inner, s...]: the same for all lanes of an outer iteration.
ValueId RowsOfLanes(Builder& build, ValueId value, const Dim& inner) {
  std::vector<Dim> dims = build.type(value).shape.dims();
  Int64s axes = {0};
  for (size_t axis = 1; axis < dims.size(); ++axis) axes.push_back(static_cast<int64_t>(axis) + 1);
  dims.insert(dims.begin() + 1, inner);
  return JoinLeading(build,
                     build.Apply("broadcast_in_dim", {value}, {{"shape", dims}, {"axes", axes}}));
}

// Each iteration has as many lanes as its count says. They read what varies around them by their
// owner, so that what they use of it only in part need not be copied for each of them.
absl::Status ByCount(PforRewrite& rewrite) {
  Builder& build = rewrite.build();
  const RegionId body = rewrite.node().regions[0];
  const std::string local = rewrite.FreshSymbol("k");
  const Dim lanes = Dim::Symbol(local);
  const RegionId region = build.NewRegion();
  Builder into = build.In(region);
  const ValueId owner = into.AddArg({DType::kI64, Shape({lanes})}, "owner");
  rewrite.Bind(rewrite.source().region(body).args[0],
               into.AddArg({DType::kI64, Shape({lanes})}, "j"));
  std::vector<PforRewrite::PartRows> rows;
  for (ValueId capture : control::VaryingCaptures(rewrite, body)) {
    rows.push_back({capture, TakeRow(into, rewrite.converted(capture), owner)});
  }
  WEIR_ASSIGN_OR_RETURN(std::vector<ValueId> results, rewrite.ConvertPart(body, into, lanes, rows));
  const std::vector<bool> varies = control::ResultsVary(rewrite, 0);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!varies[i]) results[i] = control::RepeatRows(into, results[i], lanes);
  }
  into.Yield(std::move(results));
  rewrite.Return(build.ApplyAll("ragged_rows", {rewrite.stacked(0)},
                                {{"extent", rewrite.attr("extent")}, {"local", local}}, {region}));
  return absl::OkStatus();
}

// The lanes of both loops become one axis, so that they may take branches and leave loops alone.
absl::Status Pfor(PforRewrite& rewrite) {
  if (HasCount(rewrite.node())) return ByCount(rewrite);
  Builder& build = rewrite.build();
  const RegionId body = rewrite.node().regions[0];
  const Dim outer = rewrite.extent(), inner = rewrite.attr("extent").AsDims()[0];
  const ValueId owners = JoinLeading(build, Iota(build, DType::kI64, {outer, inner}, 0));
  const ValueId indices = JoinLeading(build, Iota(build, DType::kI64, {outer, inner}, 1));
  rewrite.Bind(rewrite.source().region(body).args[0], indices);
  std::vector<PforRewrite::PartRows> rows;
  for (ValueId capture : control::VaryingCaptures(rewrite, body)) {
    // By owner what lanes may use only in part.
    const bool is_whole = rewrite.source().type(capture).rank() == 0;
    const ValueId image = rewrite.converted(capture);
    rows.push_back(
        {capture, is_whole ? RowsOfLanes(build, image, inner) : TakeRow(build, image, owners)});
  }
  WEIR_ASSIGN_OR_RETURN(std::vector<ValueId> results,
                        rewrite.ConvertPart(body, build, outer * inner, rows));
  const std::vector<bool> varies = control::ResultsVary(rewrite, 0);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!varies[i]) {
      results[i] = control::RepeatRows(build, results[i], inner);
      continue;
    }
    std::vector<Dim> dims = build.type(results[i]).shape.dims();
    dims[0] = inner;
    dims.insert(dims.begin(), outer);
    results[i] = build.Apply("reshape", {results[i]}, {{"shape", std::move(dims)}});
  }
  rewrite.Return(std::move(results));
  return absl::OkStatus();
}

std::vector<Sample> Samples() {
  Sample rows{.label = "rows", .operands = {Rand(DType::kF32, {3, 2}), Rand(DType::kF32, {3, 2})}};
  rows.program = R"(
    func @main(%x: f32[3,2], %y: f32[3,2]) -> (f32[4,3,2] "out") {
      %out = pfor {extent = (4)} (%i: i64[]) {
        %sum = add(%x, %y) : f32[3,2]
        yield %sum
      } : f32[4,3,2]
      return %out
    })";
  Sample nested{.label = "nested", .operands = {Rand(DType::kF32, {2})}};
  nested.program = R"(
    func @main(%x: f32[2]) -> (i64[3,2] "index", f32[3,0,2] "none") {
      %index, %none = pfor {extent = (3)} (%i: i64[]) {
        %sums = pfor {extent = (2)} (%j: i64[]) {
          %sum = add(%i, %j) : i64[]
          yield %sum
        } : i64[2]
        %empty = pfor {extent = (0)} (%j: i64[]) {
          %twice = add(%x, %x) : f32[2]
          yield %twice
        } : f32[0,2]
        yield %sums, %empty
      } : i64[3,2], f32[3,0,2]
      return %index, %none
    })";
  Sample counted{.label = "counted",
                 .operands = {Rand(DType::kI64, {}, 0, 4), Rand(DType::kF32, {4, 2})}};
  counted.program = R"(
    func @main(%count: i64[], %x: f32[4,2]) -> (f32[4,2] "rows", i64[4] "indices") {
      %rows, %indices = pfor(%count) {extent = (4)} (%j: i64[]) {
        %row = gather(%x, %j) {collapsed_slice_dims = [0], index_vector_dim = 0,
            offset_dims = [0], operand_batching_dims = [], slice_sizes = (1, 2),
            start_index_map = [0], start_indices_batching_dims = []} : f32[2]
        %twice = add(%row, %row) : f32[2]
        %most = iteration_reduce(%twice) {extent = (4), kind = "max"} : f32[2]
        %less = subtract(%row, %most) : f32[2]
        yield %less, %j
      } : f32[4,2], i64[4]
      return %rows, %indices
    })";
  return {rows, nested, counted};
}

}  // namespace

OpDef PforOp() {
  OpDef op;
  op.name = "pfor";
  op.summary =
      "runs the region for every index below the count (by default the extent, its bound), "
      "independently, and stacks the results; zeros from the count on";
  op.inputs = {0, 1};
  op.outputs = {0, kAny};
  op.regions = {1, 1};
  op.attrs = {{"extent", Attr::Kind::kDims}};
  op.infer = Infer;
  op.reference = Evaluate;
  op.pfor = Pfor;
  op.variance = MarkVarying;
  op.samples = Samples;
  return op;
}

}  // namespace weir
