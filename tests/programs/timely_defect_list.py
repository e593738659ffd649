"""Defects that the tests of common/timely must find, as in defect_list.py."""

TIMES = [
    (
        "summaries: a constant is below every counter",
        "common/timely/path_summary.cc",
        "  if (a.kept() > b.kept()) return false;\n",
        "",
    ),
    (
        "composition: constants are not advanced",
        "common/timely/path_summary.cc",
        "kept_here ? add_[i] : append_[i - kept()], next.add_[i], kept_here",
        "kept_here ? add_[i] : append_[i - kept()], kept_here ? next.add_[i] : 0,\n"
        "             kept_here",
    ),
    (
        "antichain: what is above a new element stays",
        "common/timely/antichain.h",
        "std::erase_if(elements_, [&](const T& other) { return LessEqual(element, other); });",
        "",
    ),
    (
        "counted antichain: nothing takes the place of what goes",
        "common/timely/mutable_antichain.cc",
        "    if (frontier_.Insert(entry->time)) changes->Add(entry->time, 1);",
        "    if (frontier_.empty() && frontier_.Insert(entry->time)) changes->Add(entry->time, 1);",
    ),
    (
        "counted antichain: negative counts hold back, too",
        "common/timely/mutable_antichain.cc",
        "if (entry->count <= 0 ||",
        "if (entry->count == 0 ||",
    ),
]

GRAPH = [
    (
        "cycles: any counter that grows will do, also one that is dropped on the way",
        "common/timely/causal_order.cc",
        "if (scope(place) == scope(component[0])) continue;",
        "if (scope(place).valid()) continue;",
    ),
    (
        "order: only times count",
        "common/timely/topology.cc",
        "    if (rank_a[level] != rank_b[level]) return rank_a[level] < rank_b[level];\n",
        "",
    ),
    (
        "reachability: the first way found",
        "common/timely/reachability.cc",
        "if (longer.has_value() && ways[back.from.value()].Insert(*longer)) {",
        "if (longer.has_value() && ways[back.from.value()].empty() &&\n"
        "          ways[back.from.value()].Insert(*longer)) {",
    ),
    (
        "reachability: only the first bound of a place is followed",
        "common/timely/reachability.cc",
        "    if (i == size) return;",
        "    return;",
    ),
    (
        "reachability: a way takes no time",
        "common/timely/reachability.cc",
        "    bounds_[before + i] = after - summary.add()[i];",
        "    bounds_[before + i] = after;",
    ),
]

TRACKER = [
    (
        "tracker: one summary of several",
        "common/timely/tracker.cc",
        "        Push(hop.to, *later, delta);\n",
        "        Push(hop.to, *later, delta);\n        break;\n",
    ),
    (
        "tracker: changes of one place and time are not merged",
        "common/timely/tracker.cc",
        "      work.delta += Pop().delta;",
        "      if (work.delta < 0) break;\n      work.delta += Pop().delta;",
    ),
    (
        "tracker: removals are told first",
        "common/timely/tracker.cc",
        "      if (delta > 0) updates_.push_back({{location, time}, delta});\n    }\n  }",
        "      if (delta < 0) updates_.push_back({{location, time}, delta});\n    }\n  }",
    ),
    (
        "tracker: counts below zero are forgotten",
        "common/timely/tracker.cc",
        "if (count < 0 && !place.implied.frontier().Covers(time))",
        "if (count < -1 && !place.implied.frontier().Covers(time))",
    ),
    (
        "explain: only the first that holds back",
        "common/timely/explain.cc",
        "        holders.push_back({{from, time}, count, since, *element});\n",
        "        holders.push_back({{from, time}, count, since, *element});\n        break;\n",
    ),
]

PROTOCOL = [
    (
        "batches: a gap is taken",
        "common/timely/batch_receiver.cc",
        "if (batch.sequence > next_) {",
        "if (batch.sequence > next_ + 1) {",
    ),
    (
        "batches: a repeat is taken",
        "common/timely/batch_receiver.cc",
        "if (batch.sequence < next_) {",
        "if (batch.sequence < next_ - 1) {",
    ),
    (
        "batches: additions are not sent",
        "common/timely/batch_sender.cc",
        "    noted_.Add(change.key, change.delta);",
        "    if (change.delta < 0 || changes.size() < 3) noted_.Add(change.key, change.delta);",
    ),
    (
        "batches: a removal at the frontier waits",
        "common/timely/batch_sender.cc",
        "touches_frontier_ || (change.delta < 0 && is_at_frontier(change.key));",
        "touches_frontier_ || (change.delta < -1 && is_at_frontier(change.key));",
    ),
    (
        "batches: a new frontier is not compared with what waits",
        "common/timely/batch_sender.cc",
        "seen_ != view.version() || std::any_of",
        "std::any_of",
    ),
    (
        "ledger: anything held justifies anything",
        "common/timely/capability_ledger.cc",
        "    if (!reachability_.HasCause(pointstamp, held)) {",
        "    if (in_use_ == 0 && !reachability_.HasCause(pointstamp, held)) {",
    ),
    (
        "ledger: more is released than is held",
        "common/timely/capability_ledger.cc",
        "if (held + change.delta < 0) {",
        "if (held + change.delta < -1) {",
    ),
    (
        "view: a frontier goes back",
        "common/timely/frontier_view.cc",
        "if (is_known() && !before.Covers(change.key.time))",
        "if (is_known() && before.empty())",
    ),
    (
        "inner frontiers: without what may enter",
        "common/timely/inner_frontiers.cc",
        "    if (is_entry_[change.key.location.value()]) {",
        "    if (is_entry_[change.key.location.value()] && is_inside_.empty()) {",
    ),
    (
        "inner frontiers: without what is inside",
        "common/timely/inner_frontiers.cc",
        "  if (is_inside_[location.value()]) tracker_",
        "  if (is_inside_[location.value()] && is_entry_[location.value()]) tracker_",
    ),
]

DEFECTS = TIMES + GRAPH + TRACKER + PROTOCOL
