#include "common/plan/run_counters.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace weir {
namespace {

int64_t Plus(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

// Workers run the same steps, each for its own iterations.
void AddStepCounts(const google::protobuf::RepeatedPtrField<v1::StepCount>& counts,
                   google::protobuf::RepeatedPtrField<v1::StepCount>* sum) {
  if (counts.empty()) return;
  std::map<std::string, v1::StepCount*> by_function;
  for (v1::StepCount& step : *sum) by_function.emplace(step.function(), &step);
  for (const v1::StepCount& step : counts) {
    const auto found = by_function.find(step.function());
    if (found == by_function.end()) {
      *sum->Add() = step;
      continue;
    }
    v1::StepCount& known = *found->second;
    known.set_iterations(Plus(known.iterations(), step.iterations()));
    known.set_chunk(std::max(known.chunk(), step.chunk()));
    known.set_threads(std::max(known.threads(), step.threads()));
    known.set_bytes_per_iteration(
        std::max(known.bytes_per_iteration(), step.bytes_per_iteration()));
    known.set_predicted_bytes(std::max(known.predicted_bytes(), step.predicted_bytes()));
    known.set_arena_bytes(std::max(known.arena_bytes(), step.arena_bytes()));
  }
}

}  // namespace

void AddCounters(const v1::RunCounters& counters, v1::RunCounters* sum) {
  sum->set_run_ns(Plus(sum->run_ns(), counters.run_ns()));
  sum->set_kernel_launches(Plus(sum->kernel_launches(), counters.kernel_launches()));
  sum->set_peer_bytes_sent(Plus(sum->peer_bytes_sent(), counters.peer_bytes_sent()));
  sum->set_peer_bytes_received(Plus(sum->peer_bytes_received(), counters.peer_bytes_received()));
  sum->set_arena_bytes(Plus(sum->arena_bytes(), counters.arena_bytes()));
  sum->set_chunks(Plus(sum->chunks(), counters.chunks()));
  sum->set_rows_run(Plus(sum->rows_run(), counters.rows_run()));
  sum->set_rows_moved(Plus(sum->rows_moved(), counters.rows_moved()));
  AddOpCounts(counters.ops(), sum->mutable_ops());
  sum->set_bytes_gathered(Plus(sum->bytes_gathered(), counters.bytes_gathered()));
  AddStepCounts(counters.steps(), sum->mutable_steps());
}

void AddOpCounts(const google::protobuf::RepeatedPtrField<v1::OpCount>& counts,
                 google::protobuf::RepeatedPtrField<v1::OpCount>* sum) {
  if (counts.empty()) return;
  std::map<std::string, v1::OpCount> by_name;
  for (const auto* part : {&counts, &std::as_const(*sum)}) {
    for (const v1::OpCount& each : *part) {
      v1::OpCount& count = by_name[each.op()];
      count.set_launches(Plus(count.launches(), each.launches()));
      count.set_elements(Plus(count.elements(), each.elements()));
      count.set_ns(Plus(count.ns(), each.ns()));
    }
  }
  sum->Clear();
  for (auto& [op, count] : by_name) {
    count.set_op(op);
    *sum->Add() = std::move(count);
  }
}

}  // namespace weir
