"""Defects that the tests of server/progress must find, as in defect_list.py."""

WIRE = [
    (
        "wire: epochs are not relative",
        "common/plan/progress_wire.cc",
        "    epoch_ = pointstamp.time.epoch();\n",
        "",
    ),
    (
        "wire: what goes comes",
        "common/plan/progress_wire.cc",
        "(change.delta > 0 ? additions : removals)",
        "(change.delta != 0 ? additions : removals)",
    ),
]

JOB = [
    (
        "job: an old generation is taken",
        "server/progress/job_progress.cc",
        "if (batch.generation() == setup_.generation) return",
        "if (batch.generation() <= setup_.generation) return",
    ),
    (
        "job: whoever was refused once is heard again",
        "server/progress/job_progress.cc",
        "if (worker->part != Part::kWorking) {",
        "if (worker->part == Part::kLost) {",
    ),
    (
        "job: a joining worker may begin before what is complete",
        "server/progress/job_progress.cc",
        "if (state_ == State::kRunning) {\n        for",
        "if (state_ == State::kCompleted) {\n        for",
    ),
    (
        "job: a joining worker begins with the update after its first",
        "server/progress/job_progress.cc",
        "std::max<int64_t>(last_update_, 1)",
        "std::max<int64_t>(last_update_ + 1, 1)",
    ),
    (
        "job: grants are not counted",
        "server/progress/job_progress.cc",
        "    tracker_->Update(grant.key.location, grant.key.time, grant.delta);\n",
        "",
    ),
    (
        "job: counts that do not add up are not looked at",
        "server/progress/job_progress.cc",
        "  if (!counts.ok()) {\n    NoteWrong(counts);",
        "  if (!counts.ok() && working_ == 0) {\n    NoteWrong(counts);",
    ),
    (
        "job: completed while something is outstanding",
        "server/progress/job_progress.cc",
        "tracker_->active() == 0 ?",
        "tracker_->active() <= 1 ?",
    ),
    (
        "cancel: a closed connection is enough",
        "server/progress/job_progress.cc",
        "worker.part != Part::kStopped && worker.stops_by > now",
        "worker.part != Part::kStopped && worker.part != Part::kLost && worker.stops_by > now",
    ),
    (
        "cancel: what was taken is still told",
        "server/progress/job_progress.cc",
        "  if (state_ != State::kRunning) return std::nullopt;",
        "  if (state_ != State::kRunning && state_ != State::kCancelling) return std::nullopt;",
    ),
]

EXPLAIN = [
    (
        "explain: only the first worker that holds",
        "server/progress/explain_progress.cc",
        "      waits->push_back(std::move(share));\n",
        "      waits->push_back(std::move(share));\n      return;\n",
    ),
    (
        "explain: ages of the whole and not of the share",
        "server/progress/explain_progress.cc",
        "      share.since = since;\n",
        "",
    ),
    (
        "explain: what is behind something else counts as a root",
        "common/timely/explain.cc",
        "|| coming[l].Covers(time)) continue;",
        ") continue;",
    ),
    (
        "explain: who has its turn still waits for it",
        "server/progress/explain_turns.cc",
        "if (time < element || (least",
        "if ((least",
    ),
    (
        "explain: turns anywhere",
        "server/progress/explain_turns.cc",
        "    if (port.has_value() && ways[l].empty()) continue;\n",
        "",
    ),
]

DEFECTS = WIRE + JOB + EXPLAIN
