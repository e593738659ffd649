"""Defects of what flows keep beyond memory that tests must find, as in defect_list.py."""

CALL = "worker/flow/flow_call.cc"
FILE = "worker/flow/memory/spill_file.cc"
JOB = "worker/flow/flow_job_calls.cc"
KEPT = "worker/flow/keyed/kept_records.cc"
LOG = "worker/flow/memory/spill_log.cc"
MEMORY = "worker/flow/memory/flow_memory.cc"
PARTS = "worker/flow/keyed/key_parts.cc"
SLOT = "worker/flow/vertex_slot.cc"
SORTED = "worker/flow/keyed/sorted_records.cc"

# The tests of worker/flow find these.
DEFECTS = [
    (
        "a run is not merged",
        SORTED,
        "  Push(runs_.size() - 1);\n",
        "  if (runs_.size() != 2) Push(runs_.size() - 1);\n",
    ),
    (
        "runs come in the wrong order",
        SORTED,
        "  if (left_origin != right_origin) return left_origin < right_origin;\n",
        "  if (left_origin != right_origin) return left_origin > right_origin;\n",
    ),
    (
        "a run goes on while another one's turn is",
        SORTED,
        "!Less(other, runs_[other].next, number, piece.end)) ++piece.end;\n",
        "!Less(other, runs_[other].next, number, piece.end - 1)) ++piece.end;\n",
    ),
    (
        "a run that was read stays",
        SORTED,
        "    if (run.next < run.size) continue;\n",
        "    if (run.next <= run.size) continue;\n",
    ),
    (
        "the last record of a piece comes twice",
        SORTED,
        "  return SliceRows(merged, 0, last);\n",
        "  return merged;\n",
    ),
    (
        "a frame on disk is read twice",
        CALL,
        "  call->queued.clear();\n",
        "  if (call->queued[0].number % 7 == 1) batches.push_back(batches[0]);\n"
        "  call->queued.clear();\n",
    ),
    (
        "a frame on its way to disk takes the place of the one behind it",
        SLOT,
        "  return found == queue.end() || found->number != number ? nullptr : &*found;\n",
        "  return found == queue.end() ? nullptr : &*found;\n",
    ),
    (
        "a frame on disk counts as memory",
        SLOT,
        "  charge_.Set(charge_.bytes() - frame->bytes);\n}\n",
        "}\n",
    ),
    (
        "frames that are late for the disk stay in memory",
        SLOT,
        "  if (!memory->is_far_over()) {\n",
        "  if (memory->is_over()) {\n",
    ),
    (
        "small records are lost when large ones go to disk",
        KEPT,
        "  PutTogether(type);\n"
        "  std::move(small_.begin(), small_.end(), std::back_inserter(batches_));\n",
        "",
    ),
    (
        "weights are not on disk",
        LOG,
        "  spilled.has_weights_ = batch.weights.has_value();\n",
        "",
    ),
    (
        "the disk space of what was read is not free",
        FILE,
        "  directory_->Release(kBlockBytes);\n",
        "",
    ),
    (
        "what was written last is written over",
        LOG,
        "    return made(file_, std::exchange(end_, end_ + bytes));\n",
        "    return made(file_, std::exchange(end_, end_ + bytes - 1));\n",
    ),
    (
        "a table in a file counts for ever",
        MEMORY,
        "  table_bytes_.fetch_sub(table->size(), std::memory_order_relaxed);\n",
        "",
    ),
    (
        "a key is in two parts",
        PARTS,
        "PartOf(keys.Hash(row), level_, parts_.size())",
        "PartOf(keys.Hash(row) + (uint64_t{1} << 32) * (row % 2), level_, parts_.size())",
    ),
    (
        "a part that is too large is not cut again",
        PARTS,
        "level_ + 1 < kMostLevels;\n",
        "level_ + 1 < 1;\n",
    ),
    (
        "what is left of a part that was cut again is lost",
        PARTS,
        "    if (!inputs.empty() || !inner_->done()) return inputs;\n",
        "    if (!inputs.empty()) return inputs;\n",
    ),
    (
        "inside of a loop nobody waits for a full link",
        JOB,
        "  return room_.FullBehind(slot.id());\n",
        "  return VertexId();\n",
    ),
    (
        "nobody hears that a link has room",
        "worker/flow/flow_job.cc",
        "    for (const VertexId writer : room_.SetRoom(rank)) List(writer);\n",
        "    room_.SetRoom(rank);\n",
    ),
    (
        "the last part is lost",
        PARTS,
        "  while (next_ < parts_.size()) {\n",
        "  while (next_ + 1 < parts_.size()) {\n",
    ),
    (
        "a function takes a time of any size",
        "worker/flow/vertices/collect.cc",
        '    WEIR_RETURN_IF_ERROR(CheckWhole(inputs[0], "its function"));\n',
        "",
    ),
    (
        "a function takes a record as often as there is memory for",
        "worker/flow/keyed/keyed_vertex.cc",
        "  if (FitsWhole(bytes)) return absl::OkStatus();\n",
        "  if (FitsWhole(bytes) || who.size() > 20) return absl::OkStatus();\n",
    ),
    (
        "a file says how many records came, not how many it holds",
        "worker/flow/vertices/write_files.cc",
        "        ++repeats_;\n        ++written_;\n",
        "        if (repeats_++ == 0) ++written_;\n",
    ),
]

# Flows on simulated clusters find these.
FLOW_DEFECTS = [
    (
        "credit of an output on disk is not given back",
        JOB,
        "    return SendOutput(*call, now);\n",
        "    call->frames.clear();\n    return SendOutput(*call, now);\n",
    ),
]
