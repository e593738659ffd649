"""Defects of common/flow that its tests must find, as in defect_list.py."""

TEXT = [
    (
        "two epochs may have one file",
        "common/flow/file_records.cc",
        "    if (i > 0 && !parted) {\n",
        "    if (i > 7 && !parted) {\n",
    ),
    (
        "an epoch of rows begins one row late",
        "common/flow/file_records.h",
        "rows_ > 0 ? row / rows_ : 0;",
        "rows_ > 0 ? (row - 1) / rows_ : 0;",
    ),
    (
        "two vertices may write one file",
        "common/flow/kinds/write_files.cc",
        "    WEIR_RETURN_IF_ERROR(CheckAlone(context.flow, vertex));\n",
        "",
    ),
    (
        "text: a name may be given twice",
        "common/flow/parse_flow.cc",
        "      if (is_new) continue;\n",
        "      if (is_new || i == 0) continue;\n",
    ),
    (
        "text: any number of outputs",
        "common/flow/parse_flow.cc",
        "if (names == static_cast<size_t>(std::max(kind->outputs, 1)))",
        "if (names >= static_cast<size_t>(std::max(kind->outputs, 1)))",
    ),
    (
        "text: loops nest without end",
        "common/flow/parse_flow.cc",
        "if (flow_.DepthOf(scope) > options_.max_loop_depth) {",
        "if (flow_.DepthOf(parent) > options_.max_loop_depth) {",
    ),
    (
        "text: inputs are not counted",
        "common/flow/parse_flow.cc",
        "if (++streams_ > options_.max_streams) {",
        "if (streams_ > options_.max_streams) {",
    ),
    (
        "text: locations are not printed",
        "common/flow/print_flow.cc",
        "if (location.known() && location.file != kAnonymousFile) {",
        "if (location.known() && location.file == kAnonymousFile) {",
    ),
    (
        "text: loops are printed without the one around",
        "common/flow/print_flow.cc",
        "if (loop.parent != LogicalGraph::kRoot) {",
        "if (loop.parent == ScopeId()) {",
    ),
    (
        "text: made-up names are taken already",
        "common/flow/print_flow.cc",
        "while (name.empty() || !taken.insert(name).second) name",
        "while (name.empty()) name",
    ),
]

CHECKS = [
    (
        "check: a cycle that nothing enters is read",
        "common/flow/check_flow.cc",
        "    WEIR_RETURN_IF_ERROR(ForEach(&FlowChecker::CheckReached));\n",
        "",
    ),
    (
        "check: what follows from a new type is not looked at again",
        "common/flow/check_flow.cc",
        "      if (!found_) continue;\n",
        "      if (!found_ || waiting.size() == 1) continue;\n",
    ),
    (
        "check: records may have any size",
        "common/flow/vertex_kind.cc",
        "if (elements > (kMaxRecordBytes - bytes) / size) {",
        "if (elements / 16 > (kMaxRecordBytes - bytes) / size) {",
    ),
    (
        "check: functions may meet other records",
        "common/flow/check_functions.cc",
        'node.op == "iteration_reduce" && !IsInsideOfPfor(functions, node)',
        'node.op == "iteration_reduce" && IsInsideOfPfor(functions, node)',
    ),
    (
        "check: symbols of a batch may differ",
        "common/flow/vertex_kind.cc",
        "fits = graph.type(body->args[i]) == WithRows(records[i], rows);",
        "fits = graph.type(body->args[i]).rank() == WithRows(records[i], rows).rank();",
    ),
    (
        "check: outputs of loops",
        "common/flow/kinds/output.cc",
        "if (context.vertex.scope == LogicalGraph::kRoot) return NotKnownYet();",
        "return NotKnownYet();",
    ),
    (
        "check: a record comes into too many windows",
        "common/flow/kinds/window.cc",
        "(size - 1) / slide + 1",
        "(size - 1) / slide",
    ),
    (
        "check: keys of joins differ",
        "common/flow/keyed_state.cc",
        "if (std::equal(left.begin(), left.begin() + keys, right.begin()))",
        "if (std::equal(left.begin(), left.begin() + keys / 2, right.begin()))",
    ),
    (
        "check: equal records go to several workers",
        "common/flow/kinds/distinct.cc",
        "Routing{Routing::To::kKey, static_cast<int>(vertex.input_types[0].size())}",
        "Routing{Routing::To::kSelf, static_cast<int>(vertex.input_types[0].size())}",
    ),
]

RECORDS = [
    (
        "records: the least origin is of what is gone",
        "common/flow/record_batch.cc",
        "  const RecordBatch merged = Merged(batch);\n",
        "  const RecordBatch merged = Sorted(batch);\n",
    ),
    (
        "records: those of other origins are merged too",
        "common/flow/record_batch.cc",
        "return batch.origin(a) == batch.origin(b) && rows.Equal(a, rows, b);",
        "return rows.Equal(a, rows, b);",
    ),
]

ORACLE = [
    (
        "oracle: a vertex is taken before its last input",
        "common/flow/reference/reference_flow.cc",
        "if (topology_->ComesBefore(last, time, other, time)) last = other;",
        "if (topology_->ComesBefore(other, time, last, time)) last = other;",
    ),
    (
        "oracle: state of a loop lives for one trip",
        "common/flow/reference/states.cc",
        "life == StateLife::kTime ? all.end()",
        "life != StateLife::kJob ? all.end()",
    ),
    (
        "oracle: a bound lets one trip more",
        "common/flow/reference/times.cc",
        "if (next.back() >= bound_ - 1) {",
        "if (next.back() >= bound_) {",
    ),
    (
        "oracle: windows hold an epoch more",
        "common/flow/reference/times.cc",
        "epoch - k * slide_ < size_",
        "epoch - k * slide_ <= size_",
    ),
    (
        "oracle: keys with weights below zero are not there",
        "common/flow/reference/reduce.cc",
        "CountOf(history) == 0) return std::nullopt;",
        "CountOf(history) <= 0) return std::nullopt;",
    ),
    (
        "oracle: floats are added up in their own type",
        "common/flow/reference/reduce.cc",
        "sum = r == 0 ? term : sum + term;",
        "sum = static_cast<float>(r == 0 ? term : sum + term);",
    ),
    (
        "oracle: what is taken back has another origin",
        "common/flow/reference/reduce.cc",
        "out.Add(group.origin, Joined(key, *group.result), -1)",
        "out.Add(origin, Joined(key, *group.result), -1)",
    ),
    (
        "oracle: values that are gone are the largest",
        "common/flow/reference/reduce.cc",
        "if (weight > 0) present.push_back({values, weight});",
        "present.push_back({values, weight});",
    ),
    (
        "oracle: a record is folded once",
        "common/flow/reference/reduce.cc",
        "for (int64_t i = 0; i < one.weight; ++i) {",
        "for (int64_t i = 0; i < std::min<int64_t>(one.weight, 1); ++i) {",
    ),
    (
        "oracle: NaN comes first",
        "common/flow/reference/groups.cc",
        "return std::isnan(x) ? false : std::isnan(y) || x > y;",
        "return std::isnan(y) ? false : std::isnan(x) || x > y;",
    ),
    (
        "oracle: a record takes one place",
        "common/flow/reference/groups.cc",
        "std::min(left, entry.weight)",
        "std::min<int64_t>(left, 1)",
    ),
    (
        "oracle: changes of ranks are not taken back",
        "common/flow/reference/groups.cc",
        "if (EmitOf(vertex_) != weir::Emit::kChanges) return;",
        "if (EmitOf(vertex_) == weir::Emit::kChanges) return;",
    ),
    (
        "oracle: rows of a batch have one origin",
        "common/flow/reference/groups.cc",
        "origins[row_by_row_ ? row : 0]",
        "origins[row_by_row_ ? 0 : 0]",
    ),
    (
        "oracle: new records do not meet one another",
        "common/flow/reference/join.cc",
        "      Pair(before.left[key], records, &out);\n      before.right[key].AddAll(records);\n",
        "      Pair(before.left[key], records, &out);\n",
    ),
    (
        "oracle: keys with no weight left are there",
        "common/flow/reference/join.cc",
        "found->second > 0",
        "found->second >= 0",
    ),
    (
        "oracle: an update counts once whatever its weight",
        "common/flow/reference/variable.cc",
        "for (int64_t i = 0; i < weight; ++i)",
        "if (weight > 0)",
    ),
    (
        "oracle: updates change the value of all keys",
        "common/flow/reference/variable.cc",
        "const RecordBytes key = FirstColumns(update, keys_);",
        "const RecordBytes key = FirstColumns(update, 0);",
    ),
    (
        "a variable has any order",
        "common/flow/kinds/variable.cc",
        'order == "time" || order == "relaxed"',
        '!order.empty()',
    ),
    (
        "assign may return anything",
        "common/flow/kinds/variable.cc",
        "if (results == value) return",
        "if (!results.empty()) return",
    ),
    (
        "oracle: after shows the first control input",
        "common/flow/reference/origins.cc",
        "      if (i < shown_) together",
        "      if (i <= shown_) together",
    ),
    (
        "oracle: inputs of merge are apart",
        "common/flow/reference/origins.cc",
        "    for (size_t i = 0; i < step->inputs.size(); ++i) {\n      for (const auto& [key",
        "    for (size_t i = 0; i < step->inputs.size(); ++i) {\n"
        "      origins.clear();\n"
        "      for (const auto& [key",
    ),
    (
        "check: all inputs may be held",
        "common/flow/pairing.cc",
        "  if (inputs.size() < vertex.inputs.size()) return absl::OkStatus();\n",
        "  if (inputs.size() <= vertex.inputs.size()) return absl::OkStatus();\n",
    ),
]

DEFECTS = TEXT + CHECKS + RECORDS + ORACLE
