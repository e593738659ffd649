"""Defects that the tests of vertices of flows must find (worker/flow), as in defect_list.py."""

GROUPED = "worker/flow/keyed/grouped_state.cc"
MERGE = "worker/flow/keyed/merge_records.cc"
COLUMN = "worker/flow/keyed/column_accumulator.cc"
COUNTED = "worker/flow/keyed/counted_records.cc"
JOIN = "worker/flow/vertices/join.cc"
SEMIJOIN = "worker/flow/vertices/semijoin.cc"

DEFECTS = [
    ("a sum of floats begins with 0", COLUMN, "kInitial = -0.0;", "kInitial = 0.0;"),
    (
        "equal records of one origin are not merged",
        MERGE,
        "    if (weight == 0) return;\n    rows.push_back(row);",
        "    rows.push_back(row);",
    ),
    (
        "frames that overlap are taken to be in order",
        MERGE,
        "           return a >= b;\n",
        "           return a == b;\n",
    ),
    (
        "the origin of a group is that of its first record",
        GROUPED,
        "    group.origin = std::min(group.origin, origins[row]);\n",
        "    if (group.origin > (int64_t{1} << 62)) group.origin = origins[row];\n",
    ),
    (
        "what is taken back has the new origin",
        GROUPED,
        "*origin++ = past_[group].origin;",
        "*origin++ = groups_[group].origin;",
    ),
    (
        "a result that is as before comes out again",
        GROUPED,
        "(!holds || sent_rows_.Equals(group, results, row))",
        "!holds",
    ),
    (
        "keys are never forgotten",
        GROUPED,
        "  for (const uint32_t group : groups) Forget(group);\n",
        "",
    ),
    (
        "a record that comes back keeps its old origin",
        COUNTED,
        "      entry.begins = entry.weight <= 0;\n",
        "      entry.begins = entry.weight < 0;\n",
    ),
    (
        "records that are gone stay in their group",
        COUNTED,
        "{ return entries_[record].weight != 0; }",
        "{ return entries_[record].weight > -100; }",
    ),
    (
        "new left records meet new right ones twice",
        JOIN,
        "static_cast<int64_t>(other) >= sides_[0].first_new)",
        "static_cast<int64_t>(other) < 0)",
    ),
    (
        "a join does not look for what was taken back",
        JOIN,
        "    if (!worth_it) return absl::OkStatus();\n",
        "    if (worth_it || !worth_it) return absl::OkStatus();\n",
    ),
    (
        "left records of keys that cease to be there are not taken back",
        SEMIJOIN,
        "weights.push_back(begins ? weight : scalar::Negate(weight));",
        "weights.push_back(weight);",
    ),
    (
        "a key is there only in the time that brings it",
        SEMIJOIN,
        "        key.was_there = key.weight > 0;\n",
        "        key.was_there = key.weight > 1;\n",
    ),
    (
        "the last place of top_k has all of its weight",
        "worker/flow/keyed/top_of_time.cc",
        "      places += std::min(left - places, all_.weight(*begin));\n",
        "      places += all_.weight(*begin);\n",
    ),
    (
        "a fold takes a record once whatever its weight",
        "worker/flow/keyed/fold_combiner.cc",
        "      std::fill_n(rows->begin() + at, weight, static_cast<int64_t>(row));\n",
        "      (*rows)[at] = static_cast<int64_t>(row);\n",
    ),
    (
        "a part of a frame keeps the whole",
        "worker/flow/keyed/kept_records.cc",
        "  return memory > needed ? tensor.Clone() : tensor;",
        "  return memory > 100 * needed ? tensor.Clone() : tensor;",
    ),
    (
        "state of a loop stays",
        "worker/flow/keyed/keyed_vertex.cc",
        "LessEqual(state->first, time) ? states_.erase(state) : std::next(state);",
        "std::next(state);",
    ),
    (
        "a window begins one epoch late",
        "worker/flow/vertices/window.cc",
        "epoch < size_ ? 0 : (epoch - size_) / slide_ + 1;",
        "epoch <= size_ ? 0 : (epoch - size_) / slide_ + 2;",
    ),
]
