"""Defects that the tests of vertices of flows must find (worker/flow), as in defect_list.py."""

GROUPED = "worker/flow/keyed/grouped_state.cc"
MERGE = "worker/flow/keyed/merge_records.cc"
COLUMN = "worker/flow/keyed/column_accumulator.cc"
COUNTED = "worker/flow/keyed/counted_records.cc"
JOIN = "worker/flow/vertices/join.cc"
CSV = "worker/flow/files/csv_reader.cc"
DATA = "worker/flow/files/data_directories.cc"
NPY = "worker/flow/files/npy_reader.cc"
READ = "worker/flow/vertices/read_files.cc"
UNFINISHED = "worker/flow/files/unfinished_file.cc"
SEMIJOIN = "worker/flow/vertices/semijoin.cc"

DEFECTS = [
    (
        "a path is judged before links are followed",
        DATA,
        "  WEIR_ASSIGN_OR_RETURN(const std::string place, found->Place());\n",
        "  const std::string place = std::filesystem::path(full).lexically_normal();\n",
    ),
    (
        "a directory allows those whose names begin like its own",
        DATA,
        'absl::StartsWith(place, directory + "/")',
        "absl::StartsWith(place, directory)",
    ),
    (
        "a glob climbs up behind a wildcard",
        DATA,
        '    if (part != "..") continue;\n',
        "    if (!part.empty() || part.empty()) continue;\n",
    ),
    (
        "whether there is a file outside is told",
        DATA,
        "    WEIR_RETURN_IF_ERROR(CheckPlace(std::filesystem::path(full).lexically_",
        "    if (has_all_) WEIR_RETURN_IF_ERROR(CheckPlace(std::filesystem::path(full).lexically_",
    ),
    (
        "a file that is not finished stays",
        UNFINISHED,
        "  if (!is_finished_) unlinkat(directory_.descriptor(), hidden_.c_str(), 0);\n",
        "",
    ),
    (
        "a file that has changed is read on",
        READ,
        "    if (identity != file.identity) {\n",
        "    if (identity.inode != file.identity.inode) {\n",
    ),
    (
        "lines are counted from the beginning of a piece",
        CSV,
        "    int64_t first = line_ + 1;  // of the lines that are records\n",
        "    int64_t first = 1;  // of the lines that are records\n",
    ),
    (
        "a field too many is left out",
        CSV,
        "    return begin == line.size() + 1 ? absl::OkStatus() : WrongCount(line, number);\n",
        "    return begin > 0 ? absl::OkStatus() : WrongCount(line, number);\n",
    ),
    (
        "a .npy file in Fortran order is read as it lies",
        NPY,
        "    if (header_.fortran_order && ",
        "    if (!header_.fortran_order && extents[0] < 0 && ",
    ),
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
        "keys that come part by part fill one place of a table",
        "worker/flow/keyed/key_table.h",
        "(hash << kKeyPartBits) >> shift",
        "(hash << 0) >> shift",
    ),
    (
        "an entry behind one that is erased is lost",
        "worker/flow/keyed/key_table.h",
        "if (((at - home) & mask()) < ((at - gap) & mask())) continue;",
        "if (((at - home) & mask()) <= ((at - gap) & mask())) continue;",
    ),
    (
        "records of some batches are left out of a part",
        "worker/flow/keyed/key_order.cc",
        "    const Ordered& from = batches_[next_++];",
        "    const Ordered& from = batches_[next_];\n    next_ += 2;",
    ),
    (
        "every second record goes with the one before it",
        "worker/flow/frame_split.cc",
        "WorkerOfGroup(KeyGroupOf(hashes[i]), workers)",
        "WorkerOfGroup(KeyGroupOf(hashes[i & ~size_t{1}]), workers)",
    ),
    (
        "a record is taken in place of the one behind it",
        "worker/flow/owned_rows.cc",
        "    out[end] = of(row);\n",
        "    out[end] = of(row > 0 ? row - 1 : row);\n",
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
        "    if (!worth_it || !FitsWhole(bytes())) return absl::OkStatus();\n",
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
        "worker/flow/keyed/group_fold.cc",
        "    std::fill_n(split.rows.begin() + at, weight, static_cast<int64_t>(row));\n",
        "    split.rows[at] = static_cast<int64_t>(row);\n",
    ),
    (
        "a part of a frame keeps the whole",
        "worker/flow/own_records.cc",
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
    (
        "equal updates of a variable are assigned one by one",
        "worker/flow/vertices/variable.cc",
        "    const RecordBatch some = updates_.NextMerged(most);\n",
        "    const RecordBatch some = updates_.Next(most);\n",
    ),
    (
        "the values of a variable die with the time",
        "worker/flow/vertices/variable.cc",
        "StateLife::kJob,",
        "StateLife::kTime,",
    ),
    (
        "new keys of a variable begin with the value of the first of them",
        "worker/flow/keyed/variable_values.cc",
        "values,\n                  static_cast<int64_t>(i));",
        "values, 0);",
    ),
    (
        "reads of a variable that are left are lost",
        "worker/flow/vertices/variable.cc",
        "{ return updates_.done() && reads_.empty(); }",
        "{ return updates_.done() && (reads_.empty() || next_ > 0); }",
    ),
    (
        "a group is split once for each record of weight 0",
        "worker/flow/keyed/group_fold.cc",
        "if (count == 0 && weight > 0) ",
        "if (count == 0) ",
    ),
    (
        "a vertex waits for its own cycle",
        "worker/flow/held_channels.cc",
        "        if (cycles.NumberOf(one) == cycles.NumberOf(id)) continue;\n",
        "",
    ),
    (
        "whoever reaches a cycle is part of it",
        "worker/flow/held_channels.cc",
        "Visit(writers_, *v, is_new,",
        "Visit(readers_, *v, is_new,",
    ),
    (
        "a second record of an origin may come when the first has gone on",
        "worker/flow/vertices/zip.cc",
        "if (batch.weight(row) != 1 || paired.contains(origin) ||",
        "if (batch.weight(row) != 1 ||",
    ),
    (
        "a record without a partner never stops",
        "worker/flow/vertices/zip.cc",
        "      if (stops_) activation->NotifyAt(input, time);\n",
        "",
    ),
    (
        "what is held serves earlier trips, too",
        "worker/flow/vertices/zip.cc",
        "    const bool is = found != records.end() && LessEqual(found->second.time, time);\n",
        "    const bool is = found != records.end();\n",
    ),
    (
        "after gives the columns of all inputs",
        "worker/flow/vertices/zip.cc",
        'setup.vertex().kind == "after" ? 1 : types_.size()',
        'setup.vertex().kind == "before" ? 1 : types_.size()',
    ),
    (
        "merge remembers all times",
        "worker/flow/vertices/merge.cc",
        "    count_ -= static_cast<int64_t>(found->second.size());\n    origins_.erase(found);\n",
        "",
    ),
    (
        "merge does not tell times apart",
        "worker/flow/vertices/merge.cc",
        "origins_[activation->time()];",
        "origins_[Timestamp::Minimum(activation->time().depth())];",
    ),
    (
        "frames of one time that are apart are taken one by one",
        "worker/flow/vertex_slot.cc",
        "constexpr int kMostLookedAt = 64;",
        "constexpr int kMostLookedAt = 1;",
    ),
]
