"""Defects of flows on workers that tests must find, as in defect_list.py."""

CALLS = "worker/flow/flow_job_calls.cc"
JOB = "worker/flow/flow_job.cc"
READ = "worker/flow/vertices/read_files.cc"
SLOT = "worker/flow/vertex_slot.cc"
WRITE = "worker/flow/vertices/write_files.cc"
PROGRESS = "worker/flow/flow_progress.cc"

# Random flows find these.
DEFECTS = [
    (
        "frames are taken before they are sent",
        CALLS,
        "    effects->changes.push_back({input, frame.time, 1, at});\n",
        "    if (is_here) effects->changes.push_back({input, frame.time, 1, at});\n",
    ),
    (
        "a call takes one frame fewer than it does",
        CALLS,
        "-static_cast<int64_t>(call.frames.size())",
        "-1",
    ),
    (
        "a notification is not awaited",
        CALLS,
        "        {setup_.topology->request(call->id, request.input), request.time, 1});",
        "        {setup_.topology->request(call->id, request.input), request.time, 0});",
    ),
    (
        "a notification that goes on is over",
        CALLS,
        "      if (activation.continues()) return;\n",
        "",
    ),
    (
        "a source is late to say how far it is",
        CALLS,
        "      if (activation.next_epoch() <= time.epoch()) return;\n",
        "      if (activation.next_epoch() <= time.epoch() + 1) return;\n",
    ),
    (
        "a source lets go of an epoch that it is at",
        READ,
        "      activation->Advance(files_.begin()->first.first);\n",
        "      activation->Advance(files_.begin()->first.first + 1);\n",
    ),
    (
        "a file is read by two workers",
        READ,
        "      if (number % workers_ != rank_) continue;\n",
        "      if (number % workers_ != rank_ && number != 1) continue;\n",
    ),
    (
        "origins depend on who reads",
        READ,
        "MakeBatch(std::move(columns), OriginInFile(number, file.rows))",
        "MakeBatch(std::move(columns), OriginInFile(number / workers_, file.rows))",
    ),
    (
        "every worker writes the part of rank 0",
        WRITE,
        "        part_(setup.rank),\n",
        "        part_(0),\n",
    ),
    (
        "equal records stand in files as they came",
        WRITE,
        "    records_ = sorted_.NextMerged(rows_at_once_);\n",
        "    records_ = sorted_.Next(rows_at_once_);\n",
    ),
    (
        "times are complete too early",
        SLOT,
        "    if (!progress.IsComplete(id_, i, time)) return false;\n",
        "    if (i == 0 && !progress.IsComplete(id_, i, time)) return false;\n",
    ),
    (
        "state over all times sees them in any order",
        SLOT,
        "      if (!(time < element)) return false;\n",
        "      if (LessEqual(element, time)) return false;\n",
    ),
    (
        "state of a loop is dropped while the loop goes on",
        SLOT,
        "      if (LessEqual(part_of(element), time)) return false;\n",
        "      if (element == part_of(element) && LessEqual(element, time)) return false;\n",
    ),
    (
        "loops whose frames change workers count as local",
        PROGRESS,
        "      stays[loops[v].value()] = false;\n",
        "",
    ),
    (
        "frames at different times are taken together",
        SLOT,
        "if (frame.time != call->activation.time()) {",
        "if (frame.time.epoch() != call->activation.time().epoch()) {",
    ),
    (
        "a frame that comes again is taken again",
        "worker/flow/flow_channels.cc",
        "  if (number < due) {\n",
        "  if (number < due) return absl::OkStatus();\n  if (number < due) {\n",
    ),
    (
        "credit is not given back",
        CALLS,
        "      channels_.Owe(frame.from_rank, input, frame.bytes);\n",
        "",
    ),
    (
        "records of one key go to two workers",
        "worker/flow/frame_split.cc",
        "        HashKeys(batch, routing.keys, begin, out);\n",
        "        HashKeys(batch, std::max(1, routing.keys - 1 + rank % 2), begin, out);\n",
    ),
    (
        "outputs come after what consumes them",
        CALLS,
        "  outbox_->SendToCoordinator(message, PayloadsOf(call.batch));\n"
        "  Effects effects;\n"
        "  AddConsumed(call, &effects);\n"
        "  WEIR_RETURN_IF_ERROR(Commit(std::move(effects), now));\n",
        "  Effects effects;\n"
        "  AddConsumed(call, &effects);\n"
        "  WEIR_RETURN_IF_ERROR(Commit(std::move(effects), now));\n"
        "  SendDue(now);\n"
        "  outbox_->SendToCoordinator(message, PayloadsOf(call.batch));\n",
    ),
    (
        "a stopped flow goes on",
        "worker/flow/flow_table.cc",
        "    entry->job->Stop();\n    entry->is_stopping = true;\n",
        "    entry->is_stopping = true;\n",
    ),
    (
        "what comes early is lost",
        "worker/flow/flow_table.cc",
        "  if (!ended_.contains(key)) early_[key].push_back({message, std::move(payloads)});\n",
        "",
    ),
    (
        "a vertex waits for its own cycle, of channels of a byte",
        "worker/flow/held_channels.cc",
        "        if (cycles.NumberOf(one) == cycles.NumberOf(id)) continue;\n",
        "",
    ),
    (
        "a variable without an order waits for its turn",
        "worker/flow/vertices/variable.cc",
        "  if (IsRelaxed(setup.vertex())) ",
        "  if (false) ",
    ),
]

# The tests of worker/flow itself find these.
PROGRESS_DEFECTS = [
    (
        "frames that come are not outstanding here",
        JOB,
        "  progress_.Arrived(setup_.topology->input(slot.id(), input), time);\n",
        "",
    ),
    (
        "frames for others count here",
        PROGRESS,
        "    if (change.at == FlowChange::At::kElsewhere) continue;\n",
        "",
    ),
]
