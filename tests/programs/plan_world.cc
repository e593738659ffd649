#include "tests/programs/plan_world.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <random>
#include <utility>

#include "common/base/status.h"
#include "common/plan/routing.h"
#include "common/plan/run_counters.h"
#include "worker/dataflow/run.h"
#include "worker/dataflow/step_runner.h"

namespace weir {
namespace {

constexpr int kMostEvents = 1'000'000;

class World {
 public:
  World(const std::shared_ptr<Program>& program, std::shared_ptr<const RunShape> shape,
        const SymbolBindings& symbols, uint64_t seed)
      : plan_(program->plan), shape_(std::move(shape)), random_(seed) {
    for (int rank = 0; rank < shape_->world(); ++rank) {
      runs_.push_back(std::make_unique<Run>(RunSpec{.id = 1, .rank = rank, .symbols = symbols},
                                            program, shape_));
    }
    queues_.resize(runs_.size() * runs_.size());
  }

  absl::StatusOr<std::vector<Tensor>> Execute(const std::vector<Tensor>& inputs) {
    WEIR_RETURN_IF_ERROR(Feed(inputs));
    for (size_t rank = 0; rank < runs_.size(); ++rank) Advance(rank);
    for (int events = 0; failure_.ok(); ++events) {
      std::vector<size_t> ready;
      for (size_t i = 0; i < queues_.size(); ++i) {
        if (!queues_[i].empty()) ready.push_back(i);
      }
      if (ready.empty()) break;
      if (events == kMostEvents) return absl::InternalError("the workers go on without end");
      auto& queue = queues_[ready[random_() % ready.size()]];
      const auto event = std::move(queue.front());
      queue.pop_front();
      event();
    }
    WEIR_RETURN_IF_ERROR(failure_);
    for (const auto& run : runs_) {
      if (!run->done()) return absl::InternalError("the workers wait for one another");
    }
    return Results(inputs);
  }

  void AddTo(PlanOutcome* outcome) {
    for (const auto& run : runs_) {
      AddCounters(run->counters(), &outcome->counters);
      outcome->lines.Add(std::move(run->lines()));
    }
  }

 private:
  absl::Status Feed(const std::vector<Tensor>& inputs) {
    for (int i = 0; i < plan_.inputs_size(); ++i) {
      const uint32_t value = plan_.inputs(i);
      for (size_t rank = 0; rank < runs_.size(); ++rank) {
        const Need need = shape_->NeedAt(static_cast<int>(rank), value);
        if (need == Need::kNothing) continue;
        Tensor rows = inputs[i];
        RowRange range;
        if (need == Need::kRows) {
          range = shape_->RowsOf(value, static_cast<int>(rank));
          rows = rows.Rows(range.begin, range.end);
        }
        WEIR_RETURN_IF_ERROR(runs_[rank]->AddRows(value, 0, range.begin, std::move(rows)));
      }
    }
    return absl::OkStatus();
  }

  void Fail(const absl::Status& status) {
    if (failure_.ok()) failure_ = status;
  }

  void Advance(size_t rank) {
    absl::StatusOr<std::optional<StepTask>> task = runs_[rank]->NextStep();
    for (Run::Outgoing& sent : runs_[rank]->TakeOutgoing()) {
      const size_t to = static_cast<size_t>(sent.rank);
      queues_[rank * runs_.size() + to].push_back([this, to, sent = std::move(sent)] {
        Fail(runs_[to]->AddRows(sent.value, sent.version, sent.part.first_row, sent.part.rows));
        Advance(to);
      });
    }
    if (!task.ok()) return Fail(task.status());
    if (!task->has_value()) return;
    queues_[rank * runs_.size() + rank].push_back([this, rank, task = **std::move(task)] {
      StepStats stats;
      auto outputs = RunStepHere(task, {}, &stats);
      if (stats.lines != nullptr) runs_[rank]->lines().Add(std::move(*stats.lines));
      if (!outputs.ok()) return Fail(outputs.status());
      Fail(runs_[rank]->FinishStep(task.step, *std::move(outputs), stats));
      Advance(rank);
    });
  }

  absl::StatusOr<std::vector<Tensor>> Results(const std::vector<Tensor>& inputs) {
    std::vector<Tensor> results;
    for (uint32_t value : plan_.outputs()) {
      const auto input = std::find(plan_.inputs().begin(), plan_.inputs().end(), value);
      if (input != plan_.inputs().end()) {
        results.push_back(inputs[input - plan_.inputs().begin()]);
        continue;
      }
      Tensor whole(shape_->dtype(value), shape_->extents(value));
      int64_t bytes = 0;
      for (const auto& run : runs_) {
        const auto parts = run->Results();
        const auto part = std::find_if(parts.begin(), parts.end(),
                                       [&](const auto& made) { return made.value == value; });
        if (part == parts.end() || part->part.rows.num_elements() == 0) continue;
        const Tensor& rows = part->part.rows;
        const int64_t row_bytes = rows.rank() == 0 ? 0 : rows.num_bytes() / rows.extent(0);
        rows.CopyTo(whole.raw_mutable_data() + part->part.first_row * row_bytes);
        bytes += rows.num_bytes();
      }
      if (bytes != whole.num_bytes()) return absl::InternalError("rows of a result are missing");
      results.push_back(std::move(whole));
    }
    return results;
  }

  const v1::Plan& plan_;
  const std::shared_ptr<const RunShape> shape_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Run>> runs_;
  // By (from, to): messages; from a worker to itself: its step that ends.
  std::vector<std::deque<std::function<void()>>> queues_;
  absl::Status failure_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Program>> Prepared(const PartitionedPlan& plan) {
  auto program = std::make_shared<Program>();
  program->plan = plan.plan;
  program->blobs = plan.blobs;
  WEIR_RETURN_IF_ERROR(PrepareProgram(program.get()));
  return program;
}

PlanOutcome RunPlan(const std::shared_ptr<Program>& program, const std::vector<Tensor>& inputs,
                    const SymbolBindings& symbols, int workers, uint64_t seed) {
  PlanOutcome outcome;
  absl::StatusOr<RunShape> shape = RunShape::Make(program->plan, symbols, workers);
  if (!shape.ok()) {
    outcome.results = shape.status();
    return outcome;
  }
  World world(program, std::make_shared<const RunShape>(*std::move(shape)), symbols, seed);
  outcome.results = world.Execute(inputs);
  world.AddTo(&outcome);
  return outcome;
}

}  // namespace weir
