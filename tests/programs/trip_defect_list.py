"""Defects of loops whose trips workers share, as in defect_list.py: random programs find them."""

TRIPS = [
    (
        "trips: rows of any trip are taken for those of this one",
        "worker/dataflow/run.cc",
        "if (arrival.complete && arrival.version + 1 == slot.made) return &arrival;",
        "if (arrival.complete) return &arrival;",
    ),
    (
        "trips: what was made in front of a loop is there for its first trip only",
        "common/plan/plan_loops.cc",
        "    kept = loops_[loop].repeat;",
        "    break;",
    ),
    (
        "trips: an operand is overwritten that others hold",
        "worker/dataflow/run.cc",
        "task.given[i] && task.operands[i].buffer().use_count() == 1;",
        "task.given[i] || task.operands[i].buffer() != nullptr;",
    ),
    (
        "trips: what a trip begins with is given up as if the trip had made it",
        "common/plan/routing.cc",
        "values_[value].made_at >= steps_[step].jump;",
        "true;",
    ),
    (
        "trips: a counted loop makes one more",
        "server/compiler/partition/trips.cc",
        'condition.Apply("less", {number, count})',
        'condition.Apply("less_equal", {number, count})',
    ),
    (
        "trips: results of a loop are those of the trip before",
        "server/compiler/partition/partition.cc",
        "    AddCarrying(v1::Step::CONTROL_REPEAT, carried, region().results, values);",
        """    const std::vector<ValueId>& before = region().args;
    AddCarrying(v1::Step::CONTROL_REPEAT, carried, before, values);""",
    ),
]
