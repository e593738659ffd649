#include "worker/executor/schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace weir {
namespace {

using Bits = std::vector<uint64_t>;

bool Has(const Bits& bits, int i) { return (bits[i / 64] >> (i % 64)) & 1; }
void Add(Bits* bits, int i) { (*bits)[i / 64] |= uint64_t{1} << (i % 64); }

// What both the search and the evaluation of an order need to know.
struct Index {
  explicit Index(const ScheduleProblem& problem)
      : readers(problem.buffer_bytes.size()), before(problem.tasks.size()) {
    std::vector<int> maker(problem.buffer_bytes.size(), -1);
    for (size_t t = 0; t < problem.tasks.size(); ++t) {
      for (int buffer : problem.tasks[t].writes) maker[buffer] = static_cast<int>(t);
    }
    for (size_t t = 0; t < problem.tasks.size(); ++t) {
      std::vector<int>& first = before[t];
      first = problem.tasks[t].after;
      for (int buffer : problem.tasks[t].reads) {
        std::vector<int>& list = readers[buffer];
        if (list.empty() || list.back() != static_cast<int>(t)) {
          list.push_back(static_cast<int>(t));
        }
        if (maker[buffer] >= 0) first.push_back(maker[buffer]);
      }
      std::sort(first.begin(), first.end());
      first.erase(std::unique(first.begin(), first.end()), first.end());
    }
  }

  std::vector<std::vector<int>> readers;  // tasks that read a buffer
  std::vector<std::vector<int>> before;   // tasks that must come before a task
};

// Live bytes after task `t`, given those before it and which tasks are done (t included).
template <class IsDone>
int64_t LiveAfter(const ScheduleProblem& problem, const Index& index, int t, int64_t live,
                  const IsDone& done) {
  const ScheduleProblem::Task& task = problem.tasks[t];
  auto dead = [&](int buffer) {
    if (problem.kept[buffer]) return false;
    return std::all_of(index.readers[buffer].begin(), index.readers[buffer].end(), done);
  };
  for (int buffer : task.writes) live += dead(buffer) ? 0 : problem.buffer_bytes[buffer];
  for (size_t i = 0; i < task.reads.size(); ++i) {
    const int buffer = task.reads[i];
    const bool again =
        std::find(task.reads.begin(), task.reads.begin() + i, buffer) != task.reads.begin() + i;
    if (!again && dead(buffer)) live -= problem.buffer_bytes[buffer];
  }
  return live;
}

int64_t LiveDuring(const ScheduleProblem& problem, int t, int64_t live) {
  live += problem.tasks[t].scratch;
  for (int buffer : problem.tasks[t].writes) live += problem.buffer_bytes[buffer];
  return live;
}

// Buffers that no task makes are live from the start.
int64_t LiveAtStart(const ScheduleProblem& problem) {
  int64_t live =
      std::accumulate(problem.buffer_bytes.begin(), problem.buffer_bytes.end(), int64_t{0});
  for (const ScheduleProblem::Task& task : problem.tasks) {
    for (int buffer : task.writes) live -= problem.buffer_bytes[buffer];
  }
  return live;
}

// One set of finished tasks, reached with the lowest peak found.
struct State {
  Bits done;
  int64_t live = 0;
  int64_t peak = 0;
  int parent = -1;  // in the level before
  int task = -1;
};

class BeamSearch {
 public:
  BeamSearch(const ScheduleProblem& problem, const Index& index, int beam)
      : problem_(problem), index_(index), beam_(beam) {}

  Schedule Run() {
    const size_t words = (problem_.tasks.size() + 63) / 64;
    const int64_t start = LiveAtStart(problem_);
    levels_.push_back({{Bits(words), start, start, -1, -1}});
    for (size_t level = 0; level < problem_.tasks.size(); ++level) levels_.push_back(Expand());
    Schedule out;
    out.peak_bytes = levels_.back().front().peak;
    int at = 0;
    for (size_t level = levels_.size() - 1; level > 0; --level) {
      out.order.push_back(levels_[level][at].task);
      at = levels_[level][at].parent;
    }
    std::reverse(out.order.begin(), out.order.end());
    return out;
  }

 private:
  std::vector<State> Expand() {
    const std::vector<State>& last = levels_.back();
    std::vector<State> next;
    absl::flat_hash_map<Bits, int> seen;
    for (size_t s = 0; s < last.size(); ++s) {
      for (size_t t = 0; t < problem_.tasks.size(); ++t) {
        if (!IsReady(last[s].done, static_cast<int>(t))) continue;
        State state = After(last[s], static_cast<int>(t));
        state.parent = static_cast<int>(s);
        auto [it, added] = seen.try_emplace(state.done, static_cast<int>(next.size()));
        if (added) {
          next.push_back(std::move(state));
        } else if (state.peak < next[it->second].peak) {
          next[it->second] = std::move(state);
        }
      }
    }
    auto better = [](const State& a, const State& b) {
      return std::pair(a.peak, a.live) < std::pair(b.peak, b.live);
    };
    std::stable_sort(next.begin(), next.end(), better);
    if (next.size() > static_cast<size_t>(beam_)) next.resize(beam_);
    return next;
  }

  bool IsReady(const Bits& done, int t) const {
    if (Has(done, t)) return false;
    return std::all_of(index_.before[t].begin(), index_.before[t].end(),
                       [&](int first) { return Has(done, first); });
  }

  State After(const State& state, int t) const {
    State out;
    out.done = state.done;
    Add(&out.done, t);
    out.peak = std::max(state.peak, LiveDuring(problem_, t, state.live));
    out.live = LiveAfter(problem_, index_, t, state.live,
                         [&](int reader) { return Has(out.done, reader); });
    out.task = t;
    return out;
  }

  const ScheduleProblem& problem_;
  const Index& index_;
  const int beam_;
  std::vector<std::vector<State>> levels_;
};

int64_t PeakOf(const ScheduleProblem& problem, const Index& index, const std::vector<int>& order) {
  std::vector<bool> done(problem.tasks.size());
  int64_t live = LiveAtStart(problem);
  int64_t peak = live;
  for (int t : order) {
    peak = std::max(peak, LiveDuring(problem, t, live));
    done[t] = true;
    live = LiveAfter(problem, index, t, live, [&](int reader) { return done[reader]; });
  }
  return peak;
}

}  // namespace

int64_t PeakBytes(const ScheduleProblem& problem, const std::vector<int>& order) {
  return PeakOf(problem, Index(problem), order);
}

Schedule OrderTasks(const ScheduleProblem& problem, int beam) {
  const Index index(problem);
  Schedule given;
  given.order.resize(problem.tasks.size());
  std::iota(given.order.begin(), given.order.end(), 0);
  given.peak_bytes = PeakOf(problem, index, given.order);
  // The work of a level is beam * tasks; long regions get a narrower beam, so that planning stays
  // in milliseconds.
  const int tasks = static_cast<int>(problem.tasks.size());
  const int width = tasks <= 32 ? beam : std::max(1, std::min(beam, 200'000 / (tasks * tasks)));
  Schedule found = BeamSearch(problem, index, width).Run();
  return found.peak_bytes < given.peak_bytes ? found : given;
}

}  // namespace weir
