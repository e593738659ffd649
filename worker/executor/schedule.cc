#include "worker/executor/schedule.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

namespace weir {
namespace {

// A set of tasks, a bit for each; without memory of its own for up to 64 of them.
using TaskSet = absl::InlinedVector<uint64_t, 1>;

bool Has(const TaskSet& set, int t) { return (set[t / 64] >> (t % 64)) & 1; }
void Add(TaskSet* set, int t) { (*set)[t / 64] |= uint64_t{1} << (t % 64); }

bool Contains(const TaskSet& set, const TaskSet& part) {
  for (size_t w = 0; w < set.size(); ++w) {
    if ((part[w] & ~set[w]) != 0) return false;
  }
  return true;
}

// What both the search and the evaluation of an order need to know.
struct Index {
  explicit Index(const ScheduleProblem& problem)
      : none((problem.tasks.size() + 63) / 64),
        readers(problem.buffer_bytes.size(), none),
        before(problem.tasks.size(), none),
        reads(problem.tasks.size()) {
    std::vector<int> maker(problem.buffer_bytes.size(), -1);
    for (size_t t = 0; t < problem.tasks.size(); ++t) {
      for (int buffer : problem.tasks[t].writes) maker[buffer] = static_cast<int>(t);
    }
    for (size_t t = 0; t < problem.tasks.size(); ++t) {
      for (int first : problem.tasks[t].after) Add(&before[t], first);
      reads[t] = problem.tasks[t].reads;
      std::sort(reads[t].begin(), reads[t].end());
      reads[t].erase(std::unique(reads[t].begin(), reads[t].end()), reads[t].end());
      for (int buffer : reads[t]) {
        Add(&readers[buffer], static_cast<int>(t));
        if (maker[buffer] >= 0) Add(&before[t], maker[buffer]);
      }
    }
  }

  const TaskSet none;
  std::vector<TaskSet> readers;         // of a buffer
  std::vector<TaskSet> before;          // what must come before a task
  std::vector<std::vector<int>> reads;  // of a task, each buffer once
};

// Live bytes after task `t`, given those before it and which tasks are done (t included).
int64_t LiveAfter(const ScheduleProblem& problem, const Index& index, int t, int64_t live,
                  const TaskSet& done) {
  const auto dead = [&](int buffer) {
    return !problem.kept[buffer] && Contains(done, index.readers[buffer]);
  };
  for (int buffer : problem.tasks[t].writes)
    live += dead(buffer) ? 0 : problem.buffer_bytes[buffer];
  for (int buffer : index.reads[t]) live -= dead(buffer) ? problem.buffer_bytes[buffer] : 0;
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

bool Meet(const TaskSet& a, const TaskSet& b) {
  for (size_t w = 0; w < a.size(); ++w) {
    if ((a[w] & b[w]) != 0) return true;
  }
  return false;
}

// What no order stays below: the start, and at each task what it makes and works in beside what
// was made in front of it and is read by it or behind it.
int64_t LowerBound(const ScheduleProblem& problem, const Index& index) {
  const int tasks = static_cast<int>(problem.tasks.size());
  std::vector<TaskSet> all_before = index.before;
  std::vector<TaskSet> from(tasks, index.none);  // a task and what comes behind it
  for (int t = 0; t < tasks; ++t) {
    for (int first = 0; first < t; ++first) {
      if (!Has(index.before[t], first)) continue;
      for (size_t w = 0; w < index.none.size(); ++w) all_before[t][w] |= all_before[first][w];
    }
    for (int first = 0; first < t; ++first) {
      if (Has(all_before[t], first)) Add(&from[first], t);
    }
    Add(&from[t], t);
  }
  std::vector<TaskSet> makers(problem.buffer_bytes.size(), index.none);
  for (int t = 0; t < tasks; ++t) {
    for (int buffer : problem.tasks[t].writes) Add(&makers[buffer], t);
  }
  int64_t bound = LiveAtStart(problem);
  for (int t = 0; t < tasks; ++t) {
    int64_t live = LiveDuring(problem, t, 0);
    for (size_t buffer = 0; buffer < makers.size(); ++buffer) {
      const bool needed = problem.kept[buffer] || Meet(index.readers[buffer], from[t]);
      if (needed && Contains(all_before[t], makers[buffer])) live += problem.buffer_bytes[buffer];
    }
    bound = std::max(bound, live);
  }
  return bound;
}

// One set of finished tasks, reached with the lowest peak found.
struct State {
  TaskSet done;
  int64_t live = 0;
  int64_t peak = 0;
  int parent = -1;  // in the level before
  int task = -1;
};

// Finds orders whose peak is below `limit`; `reached` is a peak that every order has.
class BeamSearch {
 public:
  BeamSearch(const ScheduleProblem& problem, const Index& index, int64_t reached, int64_t limit)
      : problem_(problem), index_(index), reached_(reached), limit_(limit) {}

  std::optional<Schedule> Run(int beam) {
    levels_ = {{{index_.none, LiveAtStart(problem_), reached_, -1, -1}}};
    for (size_t level = 0; level < problem_.tasks.size(); ++level) {
      levels_.push_back(Expand(levels_.back()));
      Narrow(beam, &levels_.back());
      if (levels_.back().empty()) return std::nullopt;
    }
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
  std::vector<State> Expand(const std::vector<State>& last) const {
    std::vector<State> next;
    absl::flat_hash_map<TaskSet, int> seen;
    for (size_t s = 0; s < last.size(); ++s) {
      for (State& state : Successors(last[s])) {
        state.parent = static_cast<int>(s);
        auto [it, added] = seen.try_emplace(state.done, static_cast<int>(next.size()));
        if (added) {
          next.push_back(std::move(state));
        } else if (state.peak < next[it->second].peak) {
          next[it->second] = std::move(state);
        }
      }
    }
    return next;
  }

  // A task that neither raises the peak nor the live bytes may as well come now: later it frees no
  // less, so no other task has less room behind it. Then it is the only one.
  std::vector<State> Successors(const State& state) const {
    std::vector<State> found;
    for (int t = 0; t < static_cast<int>(problem_.tasks.size()); ++t) {
      if (Has(state.done, t) || !Contains(state.done, index_.before[t])) continue;
      State next = After(state, t);
      if (next.peak >= limit_) continue;
      if (next.peak == state.peak && next.live <= state.live) return {std::move(next)};
      found.push_back(std::move(next));
    }
    return found;
  }

  State After(const State& state, int t) const {
    State out;
    out.done = state.done;
    Add(&out.done, t);
    out.peak = std::max(state.peak, LiveDuring(problem_, t, state.live));
    out.live = LiveAfter(problem_, index_, t, state.live, out.done);
    out.task = t;
    return out;
  }

  static void Narrow(int beam, std::vector<State>* level) {
    const auto better = [](const State& a, const State& b) {
      return std::pair(a.peak, a.live) < std::pair(b.peak, b.live);
    };
    std::stable_sort(level->begin(), level->end(), better);
    if (level->size() > static_cast<size_t>(beam)) level->resize(beam);
  }

  const ScheduleProblem& problem_;
  const Index& index_;
  const int64_t reached_;
  const int64_t limit_;
  std::vector<std::vector<State>> levels_;
};

int64_t PeakOf(const ScheduleProblem& problem, const Index& index, const std::vector<int>& order) {
  TaskSet done = index.none;
  int64_t live = LiveAtStart(problem);
  int64_t peak = live;
  for (int t : order) {
    peak = std::max(peak, LiveDuring(problem, t, live));
    Add(&done, t);
    live = LiveAfter(problem, index, t, live, done);
  }
  return peak;
}

}  // namespace

int64_t PeakBytes(const ScheduleProblem& problem, const std::vector<int>& order) {
  return PeakOf(problem, Index(problem), order);
}

Schedule OrderTasks(const ScheduleProblem& problem, int beam) {
  const Index index(problem);
  Schedule best;
  best.order.resize(problem.tasks.size());
  std::iota(best.order.begin(), best.order.end(), 0);
  best.peak_bytes = PeakOf(problem, index, best.order);
  const int64_t bound = LowerBound(problem, index);
  // The work of a level is beam * tasks; long regions get a narrower beam, so that planning stays
  // in milliseconds. What a narrow one finds leaves less for the wide one to look at.
  const int tasks = static_cast<int>(problem.tasks.size());
  const int width = tasks <= 32 ? beam : std::max(1, std::min(beam, 200'000 / (tasks * tasks)));
  for (const int narrow : {std::min(width, 16), width}) {
    if (best.peak_bytes <= bound) break;
    std::optional<Schedule> found = BeamSearch(problem, index, bound, best.peak_bytes).Run(narrow);
    if (found.has_value()) best = *std::move(found);
  }
  return best;
}

}  // namespace weir
