"""Defects that the tests of server/variables and worker/state must find, as in defect_list.py."""

CORE = "server/variables/variable_core.cc"
RUNS = "server/variables/variable_runs.cc"
JOBS = "server/jobs/coordinator_runs.cc"
VALUES = "worker/dataflow/worker_values.cc"
STORE = "worker/state/value_store.cc"

DEFECTS = [
    (
        "a writer does not wait for readers",
        CORE,
        "if (access == VariableAccess::kWrite || use",
        "if (use",
    ),
    (
        "readers wait for readers",
        CORE,
        "if (access == VariableAccess::kWrite || use",
        "if (access == VariableAccess::kRead || use",
    ),
    (
        "a run that is given up leaves its values",
        RUNS,
        "    if (made.variable->lost.ok()) DropLater(made.variable->worker, made.id);\n",
        "",
    ),
    (
        "a run is over before its values are with their owners",
        RUNS,
        "  return found->second.reads == 0 &&\n",
        "  return true || found->second.reads == 0 &&\n",
    ),
    (
        "a variable takes the value of a run that is not over",
        JOBS,
        "  if (--job->runs_left == 0) {\n    variables_.Commit(run.id);\n",
        "  variables_.Commit(run.id);\n  if (--job->runs_left == 0) {\n",
    ),
    (
        "old values are kept for ever",
        RUNS,
        "    DropLater(made.variable->worker, made.variable->value);\n",
        "",
    ),
    (
        "anybody may say that a value is whole",
        RUNS,
        "  if (made->variable->worker != worker.id) return std::nullopt;\n",
        "",
    ),
    (
        "a value moves while a run uses it",
        CORE,
        "  if (!variable->lost.ok() || variable->moves() || variable->runs > 0) return;",
        "  if (!variable->lost.ok() || variable->moves()) return;",
    ),
    (
        "a run starts while its variable moves",
        CORE,
        "    if (variable->moves() || owner == nullptr || owner->state != v1::Worker::READY) {",
        "    if (owner == nullptr) {",
    ),
    (
        "a move to a lost worker goes on",
        CORE,
        "    if (variable->next_worker == worker) CancelMove(variable.get());\n",
        "",
    ),
    (
        "what is lost with a worker stays usable",
        JOBS,
        "  variables_.OnWorkerLost(id, name, why);\n",
        "",
    ),
    (
        "a direct run writes what a job reads",
        CORE,
        "    if (variable == nullptr || !variable->uses.empty()) return std::nullopt;\n",
        "    if (variable == nullptr) return std::nullopt;\n",
    ),
    (
        "a value that is being read is dropped",
        CORE,
        "    if (value.variable->reads == 0) {",
        "    if (value.variable->reads >= 0) {",
    ),
    (
        "a result of another type becomes the value",
        JOBS,
        "        shape.extents(value) == variable.type.extents()) {",
        "        shape.extents(value).size() != 99) {",
    ),
]

WORKER_DEFECTS = [
    (
        "late rows of a dropped value wait for ever",
        STORE,
        "  if (id > last_expected_) early_[id]",
        "  early_[id]",
    ),
    (
        "rows that are more than the value are written",
        STORE,
        "      count > all - first_row || count > all - expected.arrived) {",
        "      count > all - first_row) {",
    ),
    (
        "results for variables go to the coordinator, too",
        VALUES,
        "    SendValue(store->id(), result.part.first_row, std::move(rows), store->owner());\n"
        "    return true;",
        "    SendValue(store->id(), result.part.first_row, std::move(rows), store->owner());\n"
        "    return false;",
    ),
    (
        "a client gets the memory of a variable",
        VALUES,
        "    if (IsIn(started->memory_of_variables, rows)) rows = rows.Clone();\n",
        "",
    ),
    (
        "a variable keeps the memory of a client",
        VALUES,
        "    if (IsIn(started->memory_of_clients, rows)) rows = rows.Clone();\n",
        "",
    ),
    (
        "a draining worker forgets its values",
        "worker/dataflow/worker_core.h",
        "draining_ && idle() && options_.values->empty()",
        "draining_ && idle()",
    ),
]
