"""Defects that the tests of server/flows must find, as in defect_list.py."""

CLIENTS = "server/flows/flow_clients.cc"
INPUT = "server/flows/input_ledger.cc"
OUTPUT = "server/flows/output_log.cc"
WORKERS = "server/flows/flow_workers.cc"
ENDS = "server/flows/flow_ends.cc"
DEPLOY = "server/flows/flow_deploy.cc"
WAYS = "server/flows/pipelined/function_ways.cc"
OWN_WAY = "server/flows/pipelined/own_way.cc"

DEFECTS = [
    (
        "workers may see different files",
        "server/flows/flow_workers.cc",
        "  if (is_first || at->second.digest == found.digest()) return;\n",
        "  if (is_first || at->second.what != found.what()) return;\n",
    ),
    (
        "every batch of an epoch is numbered from its begin",
        INPUT,
        "next_origins_[records.epoch()] = first + batch.size();",
        "next_origins_[records.epoch()] = 0;",
    ),
    (
        "what was taken is taken again",
        INPUT,
        "  if (number <= taken_) return false;\n",
        "  if (number <= taken_) return true;\n",
    ),
    (
        "a batch that is alone needs credit, too",
        INPUT,
        "if (under_way > 0 && under_way",
        "if (under_way >= 0 && under_way",
    ),
    (
        "all records go to one worker",
        CLIENTS,
        "if (unconsumed[flow->workers[rank]] < unconsumed",
        "if (unconsumed[flow->workers[rank]] > unconsumed",
    ),
    (
        "workers do not hear of what was acknowledged",
        CLIENTS,
        "    shared_.outbox->SendToWorker(worker, out, {});\n  }\n  // There may be room",
        "  }\n  // There may be room",
    ),
    (
        "a client that comes back gets everything again",
        OUTPUT,
        "sent_ = received < first_ ? 0 : received - first_ + 1;",
        "sent_ = 0;",
    ),
    (
        "the window has no end",
        OUTPUT,
        "if (sent_bytes_ > 0 && sent_bytes_ + entry.bytes > window_bytes_)",
        "if (false)",
    ),
    (
        "an epoch is complete while it is open",
        WORKERS,
        "log->AddComplete(epoch.value_or(log->epoch()), !epoch.has_value());",
        "log->AddComplete(epoch.value_or(log->epoch()) + 1, !epoch.has_value());",
    ),
    (
        "a consequence is taken for the cause",
        WORKERS,
        "  if (!MayBeConsequence(*flow, failure)) return Fail",
        "  if (flow->workers.size() > 0) return Fail",
    ),
    (
        "a cancelled flow tells what it had kept",
        ENDS,
        "for (auto& [vertex, log] : flow->outputs) log.Clear();\n  }\n  if",
        "flow->reports.clear();\n  }\n  if",
    ),
    (
        "a cancelled flow ends before its workers",
        ENDS,
        "JobProgress::State::kCancelled) return Finish(flow);\n  std",
        "JobProgress::State::kCancelling) return Finish(flow);\n  std",
    ),
    (
        "a flow runs when the first worker has it",
        DEPLOY,
        "if (flow->deployed.size() == flow->workers.size()) Run(flow);",
        "if (flow->deployed.size() == 1) Run(flow);",
    ),
    (
        "a case takes the branch before",
        OWN_WAY,
        "  const auto number = static_cast<int32_t>(first);\n",
        "  const auto number = static_cast<int32_t>(first) + 1;\n",
    ),
    (
        "a for counts from 1",
        OWN_WAY,
        "  std::vector<ValueId> starts = {build.Scalar<int64_t>(0)};\n",
        "  std::vector<ValueId> starts = {build.Scalar<int64_t>(1)};\n",
    ),
    (
        "records go into the other branch",
        WAYS,
        "{{yes.vertex, static_cast<int>(branch)}, at.scope, at.columns};",
        "{{yes.vertex, 1 - static_cast<int>(branch)}, at.scope, at.columns};",
    ),
    (
        "what does not change in a loop goes round whatever its size",
        WAYS,
        "    return options_.hold_bytes > 0 && BytesOf(value) >= options_.hold_bytes;\n",
        "    return options_.hold_bytes > 0 && BytesOf(value) >= (int64_t{1} << 40);\n",
    ),
    (
        "a condition that fails stops a map that drops",
        WAYS,
        "options_.drops_failing &&\n",
        "options_.hold_bytes < 0 &&\n",
    ),
    (
        "maps that are brought out never drop",
        "server/flows/pipelined/flow_writer.cc",
        'vertex_.FindAttr("on_failure")',
        'vertex_.FindAttr("on_failures")',
    ),
    (
        "a name is taken twice",
        "server/flows/pipelined/flow_writer.cc",
        "  } while (flow_->FindVertex(vertex.name).valid());\n",
        "  } while (vertex.name.empty());\n",
    ),
]
