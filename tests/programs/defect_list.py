"""Defects that random programs must find: (name, file, exact text, what stands there instead).

Each is in code that only one of the compared forms uses: a defect of an op's own evaluation would
be in all of them.
"""

from trip_defect_list import TRIPS

RULES = [
    (
        "elementwise: operands in the other order if the first is invariant",
        "common/ops/elementwise/elementwise.cc",
        "  rewrite.Return(rewrite.build().Apply(rewrite.node().op, operands,",
        """  const bool two = rewrite.num_inputs() == 2;
  if (two && !rewrite.input_varies(0)) std::swap(operands[0], operands[1]);
  rewrite.Return(rewrite.build().Apply(rewrite.node().op, operands,""",
    ),
    (
        "reduction: axes not behind the iterations",
        "common/ops/reduce/reduction.cc",
        'Shifted(rewrite.attr("axes").AsInts())',
        'rewrite.attr("axes").AsInts()',
    ),
    (
        "cumulative: runs along the iterations",
        "common/ops/reduce/cumulative.cc",
        'rewrite.attr("axis").AsInt() + 1',
        'rewrite.attr("axis").AsInt()',
    ),
    (
        "reshape: iterations as the last axis",
        "common/ops/movement/reshape.cc",
        """  return ReturnStacked(rewrite,
                       {{"shape", Prepend(rewrite.extent(), rewrite.attr("shape").AsDims())}});""",
        """  std::vector<Dim> shape = rewrite.attr("shape").AsDims();
  shape.push_back(rewrite.extent());
  return ReturnStacked(rewrite, {{"shape", std::move(shape)}});""",
    ),
    (
        "transpose: the inverse permutation",
        "common/ops/movement/transpose.cc",
        "  const Int64s permutation ="
        ' Prepend<int64_t>(0, Shifted(rewrite.attr("permutation").AsInts()));\n',
        """  const Int64s& forward = rewrite.attr("permutation").AsInts();
  Int64s permutation(forward.size() + 1, 0);
  for (size_t i = 0; i < forward.size(); ++i) {
    permutation[forward[i] + 1] = static_cast<int64_t>(i) + 1;
  }
""",
    ),
    (
        "slice: takes the first elements",
        "common/ops/movement/slice.cc",
        """  return ReturnStacked(rewrite,
                       {{"start", Prepend<Dim>(0, rewrite.attr("start").AsDims())},
                        {"limit", Prepend(rewrite.extent(), rewrite.attr("limit").AsDims())},""",
        """  std::vector<Dim> limit = rewrite.attr("limit").AsDims();
  for (size_t i = 0; i < limit.size(); ++i) limit[i] = limit[i] - rewrite.attr("start").AsDims()[i];
  return ReturnStacked(rewrite,
                       {{"start", std::vector<Dim>(limit.size() + 1, Dim(0))},
                        {"limit", Prepend(rewrite.extent(), limit)},""",
    ),
    (
        "dynamic_slice: one start for all axes",
        "common/ops/movement/dynamic_slice.cc",
        "starts.push_back(rewrite.stacked(i));",
        "starts.push_back(rewrite.stacked(1));",
    ),
    (
        "dynamic_update_slice: the start is not clamped from above",
        "common/ops/movement/dynamic_update_slice.cc",
        '  return b.Apply("minimum", {start, rewrite.Stack(limit)});',
        "  return start;",
    ),
    (
        "dynamic_update_slice: the start is not clamped from below",
        "common/ops/movement/dynamic_update_slice.cc",
        'b.Apply("maximum", {rewrite.stacked(kFirstStart + axis), zero});',
        "rewrite.stacked(kFirstStart + axis);",
    ),
    (
        "concatenate: operands from the last to the first",
        "common/ops/movement/concatenate.cc",
        """  return ReturnStacked(rewrite, {{"axis", rewrite.attr("axis").AsInt() + 1}});""",
        """  std::vector<ValueId> operands;
  for (int i = rewrite.num_inputs(); i-- > 0;) operands.push_back(rewrite.stacked(i));
  rewrite.Return(rewrite.build().Apply("concatenate", operands,
                                       {{"axis", rewrite.attr("axis").AsInt() + 1}}));
  return absl::OkStatus();""",
    ),
    (
        "pad: a varying value counts as zero",
        "common/ops/movement/pad.cc",
        "b.Scalar<bool>(false)",
        "b.Scalar<bool>(true)",
    ),
    (
        "reverse: turns the iterations round",
        "common/ops/movement/reverse.cc",
        'Shifted(rewrite.attr("axes").AsInts())',
        'rewrite.attr("axes").AsInts()',
    ),
    (
        "gather: varying operand and indices share the wrong batch axis",
        "common/ops/movement/gather_dims.cc",
        "  dims.indices_batching = Prepend<int64_t>(0, dims.indices_batching);",
        "  dims.indices_batching.push_back(0);",
    ),
    (
        "gather: starts of a varying operand one axis off",
        "common/ops/movement/gather_dims.cc",
        """  dims.operand_batching = Shifted(operand_batching);
  dims.index_map = Shifted(index_map);""",
        """  dims.operand_batching = Shifted(operand_batching);""",
    ),
    (
        "scatter: varying updates with the combiner of another op",
        "common/ops/movement/scatter.cc",
        '  if (indices_vary) attrs.erase("indices_are_sorted");',
        '  if (indices_vary) attrs["combiner"] = "add";',
    ),
    (
        "dot_general: the axis of iterations changes places with the first",
        "common/ops/linalg/dot_general.cc",
        """    std::rotate(permutation.begin(), permutation.begin() + position,
                permutation.begin() + position + 1);""",
        """    std::swap(permutation[0], permutation[position]);""",
    ),
    (
        "convolution: iterations of the kernel outside of the groups",
        "common/ops/nn/convolution.cc",
        "  weights = Moved(build, weights, 1, 0);\n",
        "",
    ),
    (
        "convolution: batch groups in the order of iterations",
        "common/ops/nn/convolution.cc",
        "    rows = Moved(build, rows, 1, 0);\n",
        "",
    ),
    (
        "convolution: iterations of both behind the features",
        "common/ops/nn/convolution.cc",
        "Reshaped(build, Moved(build, rows, 0, 1), Joined({input[0], m * input[1]}",
        "Reshaped(build, Moved(build, rows, 0, 2), Joined({input[0], m * input[1]}",
    ),
    (
        "reduce_window: padding at the wrong end",
        "common/ops/nn/reduce_window.cc",
        "  return ReturnStacked(rewrite, std::move(attrs));",
        """  std::swap(attrs["padding_low"], attrs["padding_high"]);
  return ReturnStacked(rewrite, std::move(attrs));""",
    ),
    (
        "sort: along the iterations",
        "common/ops/sort/sort.cc",
        'rewrite.attr("axis").AsInt() + 1',
        'rewrite.attr("axis").AsInt()',
    ),
    (
        "searchsorted: many lines as one",
        "common/ops/sort/searchsorted.cc",
        "rewrite.input_varies(0) || rewrite.input_type(0).rank() != 1",
        "rewrite.input_varies(0)",
    ),
]

VARIANCE = [
    (
        "variance: only the first output varies",
        "server/compiler/pfor/variance.cc",
        "      for (ValueId output : node.outputs) MarkVarying(output);",
        "      if (!node.outputs.empty()) MarkVarying(node.outputs[0]);",
    ),
    (
        "variance: what a loop carries is looked at once",
        "common/ops/control/region.cc",
        "      changed = changed || (context.varies(body.results[i]) && !context.varies(arg));",
        "      if (context.varies(arg)) continue;",
    ),
    (
        "variance: a varying predicate does not make its results vary",
        "common/ops/control/branch.cc",
        "context.input_varies(0) || context.varies(results[i])",
        "context.varies(results[i])",
    ),
    (
        "variance: the results of the first branch speak for all",
        "common/ops/control/branch.cc",
        "    const std::vector<ValueId>& results = context.graph().region(branch).results;",
        """    const RegionId first = node.regions[0];
    const std::vector<ValueId>& results = context.graph().region(first).results;""",
    ),
    (
        "variance: a loop that diverges ends with what is invariant inside",
        "common/ops/control/while.cc",
        "if (diverges || context.varies(body.args[i]))",
        "if (context.varies(body.args[i]))",
    ),
]

CONTROL = [
    (
        "branches: those of a varying predicate changed over",
        "common/ops/control/branch.cc",
        'build.Apply("not", {index})',
        "index",
    ),
    (
        "case_rows, interpreted: rows do not go back to their places",
        "common/ops/control/case_rows.cc",
        "    for (size_t i = 0; i < results.size(); ++i) control::PutRows(results[i], ids,",
        """    for (size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<int64_t>(k);
    for (size_t i = 0; i < results.size(); ++i) control::PutRows(results[i], ids,""",
    ),
    (
        "case_rows, executed: an index out of range takes the first branch",
        "worker/executor/rows_step.cc",
        "return branch < 0 || branch >= branches ? branches - 1 : branch;",
        "return branch < 0 || branch >= branches ? 0 : branch;",
    ),
    (
        "case_rows, executed: no branch runs behind an empty one",
        "worker/executor/rows_step.cc",
        "    if (count == 0) continue;",
        "    if (count == 0) break;",
    ),
    (
        "while_rows, interpreted: finished rows run on",
        "common/ops/control/while_rows.cc",
        """    active_ = std::move(left);
    if (active_.empty()) return absl::OkStatus();""",
        """    if (left.empty()) active_.clear();
    if (active_.empty()) return absl::OkStatus();""",
    ),
    (
        "while_rows, interpreted: finished rows get what all rows shared at first",
        "common/ops/control/while_rows.cc",
        "control::PutRows(shared_[i].Reshape(OneRow(shared_[i])), {active_[k]},",
        """const Tensor& start = context_.input(i);
        control::PutRows(start.Reshape(OneRow(start)), {active_[k]},""",
    ),
    (
        "while_rows, executed: the row that moves into a gap is not asked",
        "worker/executor/rows_step.cc",
        "for (int64_t row = count_ - 1; row >= 0; --row) {",
        "for (int64_t row = 0; row < count_; ++row) {",
    ),
    (
        "while_rows, executed: a moved row keeps the number of the finished one",
        "worker/executor/rows_step.cc",
        "    ids_[to] = ids_[from];\n",
        "",
    ),
    (
        "while_rows, executed: what stays the same does not move along",
        "worker/executor/rows_step.cc",
        "for (size_t i = shared_; i < state_.operands.size(); ++i)",
        "for (size_t i = shared_; i < state_.results.size(); ++i)",
    ),
    (
        "loop by rows: results in the order of the operands",
        "common/ops/control/row_loop.cc",
        "results[order_[i]] = outputs[extra_shared_.size() + i];",
        "results[i] = outputs[extra_shared_.size() + i];",
    ),
    (
        "for by rows: one trip too many",
        "common/ops/control/for.cc",
        'condition.into.Apply("less", {counter, trips->rows})',
        'condition.into.Apply("less_equal", {counter, trips->rows})',
    ),
    (
        "for by rows: the first trip has number 1",
        "common/ops/control/for.cc",
        "  rewrite.Bind(rewrite.source().region(source).args[0], body.extra_shared[0]);",
        """  rewrite.Bind(rewrite.source().region(source).args[0],
               body.into.Apply("add", {body.extra_shared[0], body.into.Scalar<int64_t>(1)}));""",
    ),
    (
        "nested pfor: lanes of iterations in the other order",
        "common/ops/control/pfor.cc",
        """  Int64s axes = {0};
  for (size_t axis = 1; axis < dims.size(); ++axis) axes.push_back(static_cast<int64_t>(axis) + 1);
  dims.insert(dims.begin() + 1, inner);""",
        """  Int64s axes = {1};
  for (size_t axis = 1; axis < dims.size(); ++axis) axes.push_back(static_cast<int64_t>(axis) + 1);
  dims.insert(dims.begin(), inner);""",
    ),
    (
        "counted pfor: only what varies inside varies behind it",
        "common/ops/control/pfor.cc",
        "context.varies(results[i]) || (touched && HasCount(node))",
        "context.varies(results[i])",
    ),
    (
        "counted pfor: reductions take what does not run for zeros",
        "common/ops/control/ragged.cc",
        "ReduceRows(b, kind, count.valid() ? WithoutRowsBehind(b, kind, rows, count) : rows)",
        "ReduceRows(b, kind, rows)",
    ),
    (
        "counted pfor: updates of what does not run count",
        "common/ops/control/state.cc",
        "control::ReduceIterations(b, share.kind, rows, count)",
        "control::ReduceIterations(b, share.kind, rows, ValueId())",
    ),
    (
        "counted pfor, as a loop: each iteration writes the first row",
        "common/ops/control/ragged.cc",
        "update.push_back(graph.region(body).args[0]);",
        "update.push_back(inside.Scalar<int64_t>(0));",
    ),
    (
        "ragged_rows, interpreted: lanes are numbered through",
        "common/ops/control/ragged_rows.cc",
        "lanes.indices.push_back(index);",
        "lanes.indices.push_back(static_cast<int64_t>(lanes.indices.size()));",
    ),
    (
        "ragged_rows, executed: what other rows left stands behind",
        "worker/executor/ragged_step.cc",
        "        std::memset(to + live, 0, static_cast<size_t>(state_.extent - count) * bytes);\n",
        "",
    ),
    (
        "ragged_rows, executed: the first rows move first",
        "worker/executor/ragged_step.cc",
        """      int64_t from = count_;
      for (int64_t row = state_.rows - 1; row >= 0; --row) {
        const int64_t count = CountOf(row);
        from -= count;
""",
        """      int64_t from = 0, next = 0;
      for (int64_t row = 0; row < state_.rows; ++row) {
        const int64_t count = CountOf(row);
        from = std::exchange(next, next + count);
""",
    ),
    (
        "lanes: one owner for all rows that are read by owner",
        "common/ops/control/rows.cc",
        "const auto at = std::find(operands_.begin(), operands_.end(), operand);",
        """const auto at = whole.valid() ? operands_.begin()
                                : std::find(operands_.begin(), operands_.end(), operand);""",
    ),
    (
        "shard: each range starts with iteration 0",
        "common/ops/control/shard.cc",
        "Tensor::Scalar<int64_t>(begin)",
        "Tensor::Scalar<int64_t>(0)",
    ),
    (
        "shard: ranges with one iteration more begin too early",
        "common/ops/control/shard.cc",
        "range * (extent / ranges) + std::min(range, extent % ranges);",
        "range * (extent / ranges);",
    ),
    (
        "for, executed: what trips yield from the last to the first",
        "worker/executor/control.cc",
        "r.result(static_cast<int>(i)) + trip * row;",
        "r.result(static_cast<int>(i)) + (trips - 1 - trip) * row;",
    ),
    (
        "part of the iterations, executed: as many rows as at first",
        "worker/executor/part_region.cc",
        "  symbols_.insert_or_assign(local_, rows);",
        "  if (symbols_.at(local_) == 0) symbols_.insert_or_assign(local_, rows);",
    ),
    (
        "parts: rows of a branch are read as if they were all iterations",
        "server/compiler/pfor/rewrite.cc",
        "std::exchange(iteration_rows_, [](ValueId) { return ValueId(); });",
        "iteration_rows_;",
    ),
]

STATE = [
    (
        "state: a branch without an update forgets those before",
        "common/ops/control/state.cc",
        "        const std::vector<ValueId> end = Start(name, b, inner);",
        """        if (!writes.contains(name)) inner.values.erase(name);
        const std::vector<ValueId> end = Start(name, b, inner);""",
    ),
    (
        "state: zero as what max and min start from",
        "common/ops/control/ragged.cc",
        "  return ReduceRows(b, kind, Full(b, type.dtype, std::move(rows), 0));",
        "  return Full(b, type.dtype, type.shape.dims(), 0);",
    ),
    (
        "state: an update in a while is lost behind it",
        "common/ops/control/state.cc",
        """      AddOutputs(id, NumOutputs(id), name, state);
    }
    return end.status();""",
        """      State lost = *state;
      AddOutputs(id, NumOutputs(id), name, &lost);
    }
    return end.status();""",
    ),
    (
        "state: sums of updates are their greatest",
        "common/ops/control/state.cc",
        'kind == "sum" ? "add"',
        'kind == "sum" ? "maximum"',
    ),
    (
        "state: a for starts without the updates before it",
        "common/ops/control/state.cc",
        """    int carried = static_cast<int>(node.inputs.size()) - 1;
    State inner = Inside(*state);
    for (const std::string& name : written) {""",
        """    int carried = static_cast<int>(node.inputs.size()) - 1;
    State inner = Inside(*state);
    for (const std::string& name : written) {
      if (state->in_pfor()) state->values.erase(name);""",
    ),
]

ASSIGNMENTS = [
    (
        "assignments: an iteration that assigns nothing has the last word",
        "common/ops/control/assignment.cc",
        "Where(b, happened, index, b.Scalar<int64_t>(-1))",
        "index",
    ),
    (
        "assignments: the mean counts all iterations",
        "common/ops/control/assignment.cc",
        '{"sum", Cast(b, happened, DType::kI64)}',
        '{"sum", b.Scalar<int64_t>(1)}',
    ),
    (
        "assignments: one that may not happen forgets the one before",
        "common/ops/control/assignment.cc",
        'b.Apply("or", {before.happened, next.happened})',
        "next.happened",
    ),
    (
        "assignments: those of no iteration count",
        "common/ops/control/assignment.cc",
        """  return assigned.happened.valid() ? Where(b, assigned.happened, assigned.value, old)
                                   : assigned.value;""",
        "  return assigned.value;",
    ),
    (
        "assignments in order: more iterations than there are",
        "common/ops/control/ordered.cc",
        "control::LoopOverIterations(outside, inside.region(), loop.inputs, extent)",
        "control::LoopOverIterations(outside, inside.region(), {}, extent)",
    ),
    (
        "assignments in order: each iteration has the rows of the first",
        "common/ops/control/ordered.cc",
        "map.emplace(value, TakeRow(inside, rows.at(value), index));",
        "map.emplace(value, TakeRow(inside, rows.at(value), inside.Scalar<int64_t>(0)));",
    ),
]

MEETINGS = [
    (
        "meetings: iterations in other branches take part",
        "common/ops/control/meetings.cc",
        "return ReduceAll(guarded, kind, extent);",
        "return ReduceAll(value, kind, extent);",
    ),
    (
        "meetings: means count those in other branches",
        "common/ops/control/meetings.cc",
        "Guarded(b_, one, [](Builder& inside) { return inside.Scalar<int64_t>(0); });",
        "one;",
    ),
    (
        "meetings: who is in no branch of two takes the first inside",
        "common/ops/control/meetings.cc",
        "return std::vector<ValueId>{inside.Scalar<int64_t>(branches)};",
        "return std::vector<ValueId>{inside.Scalar<int64_t>(0)};",
    ),
    (
        "meetings: a loop that collects runs for those in other branches",
        "common/ops/control/meetings.cc",
        "if (extent != nullptr) GuardBody(",
        "if (extent != nullptr && operands.empty()) GuardBody(",
    ),
    (
        "meetings: a while ends with the first iteration that does",
        "common/ops/control/phases.cc",
        'goes_on.Yield({Reduce(goes_on, "reduce_or", active, {0})});',
        # Without iterations all of them go on, for ever.
        """goes_on.Yield({goes_on.Apply("and", {Reduce(goes_on, "reduce_or", active, {0}),
                                       Reduce(goes_on, "reduce_and", active, {0})})});""",
    ),
    (
        "meetings: a for runs all iterations as long as one",
        "common/ops/control/phases.cc",
        'inside.Apply("less", {number, limit})',
        'inside.Apply("less_equal", {number, number})',
    ),
]

LINES = [
    (
        "print: lines know the place in the range, not the iteration",
        "common/ops/control/print.cc",
        "for (int i = 0; i < rewrite.num_inputs(); ++i) operands.push_back(rewrite.stacked(i));",
        """for (int i = 0; i < rewrite.num_inputs(); ++i) {
    operands.push_back(rewrite.stacked(i));
    if (!rewrite.is_iteration_index(i)) continue;
    operands.back() = rewrite.build().Apply(
        "iota", {},
        {{"shape", std::vector<Dim>{rewrite.extent()}}, {"dtype", DType::kI64}, {"axis", 0}});
  }""",
    ),
]

RANDOM = [
    (
        "random, interpreted: all iterations draw with the key of the first",
        "common/ops/random/random.cc",
        "keys.data<uint64_t>()[row]",
        "keys.data<uint64_t>()[0]",
    ),
    (
        "random, executed: rows of keys with several axes overlap",
        "worker/device/cpu/random/draw.cc",
        "key += at[axis] * keys.strides[axis];",
        "key += at[axis];",
    ),
    (
        "random: a key is folded with the place in the range, not the iteration",
        "common/ops/elementwise/elementwise.cc",
        "  for (int i = 0; i < rewrite.num_inputs(); ++i) operands.push_back(rewrite.stacked(i));",
        """  for (int i = 0; i < rewrite.num_inputs(); ++i) operands.push_back(rewrite.stacked(i));
  if (rewrite.node().op == "rng_fold" && rewrite.is_iteration_index(1)) {
    operands[1] = rewrite.build().Apply(
        "iota", {},
        {{"shape", std::vector<Dim>{rewrite.extent()}}, {"dtype", DType::kI64}, {"axis", 0}});
  }""",
    ),
]

PASSES = [
    (
        "cse: nodes that differ in an attribute are one",
        "server/compiler/optimize/cse.cc",
        "other.inputs == node.inputs && other.attrs == node.attrs &&",
        "other.inputs == node.inputs &&",
    ),
    (
        "fold: a size with a symbol is a constant",
        "server/compiler/optimize/fold.cc",
        "!MayFold(*graph, graph->node(id)) || MentionsSymbols(graph->node(id))",
        "!MayFold(*graph, graph->node(id))",
    ),
    (
        "canonicalize: two permutations in the other order",
        "server/compiler/optimize/canonicalize.cc",
        "for (int64_t axis : outer) both.push_back(first[axis]);",
        "for (int64_t axis : first) both.push_back(outer[axis]);",
    ),
    (
        "canonicalize: of two broadcasts the axes of the outer one",
        "server/compiler/optimize/canonicalize.cc",
        'for (int64_t axis : inner->attr("axes").AsInts()) both.push_back(axes[axis]);',
        'both.assign(axes.begin(), axes.begin() + inner->attr("axes").AsInts().size());',
    ),
    (
        "canonicalize: elements of rows by the axes in the other order",
        "server/compiler/optimize/canonicalize.cc",
        "  dims.index_map = Prepend<int64_t>(0, dims.index_map);",
        "  dims.index_map.push_back(0);",
    ),
    (
        "no iterations: a convolution without groups fails",
        "common/ops/nn/convolution.cc",
        "if (groups.features == 0 || groups.batches == 0) return groups;",
        """if (groups.features == 0 || groups.batches == 0) return InvalidArgument("no group");""",
    ),
]

DEFECTS = (
    RULES + VARIANCE + CONTROL + STATE + ASSIGNMENTS + MEETINGS + LINES + RANDOM + PASSES + TRIPS
)
