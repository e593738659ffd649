"""Defects of loops whose trips workers share, as in defect_list.py: random programs find them."""

TRIPS = [
    (
        "trips: rows of a trip are sent as those of the next one",
        "worker/dataflow/run.cc",
        "outgoing_.push_back({to, value, slot.made - 1, std::move(part)});",
        "outgoing_.push_back({to, value, slot.made, std::move(part)});",
    ),
    (
        "trips: what was made in front of a loop is there for its first trip only",
        "common/plan/plan_loops.cc",
        "    kept = loops_[loop].repeat;",
        "    break;",
    ),
    (
        "trips: a counted loop makes one more",
        "server/compiler/partition/trips.cc",
        'condition.Apply("less", {number, count})',
        'condition.Apply("less_equal", {number, count})',
    ),
]
