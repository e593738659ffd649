// Who waits for which job. Owned by the coordinator; thread-compatible.
#ifndef WEIR_SERVER_JOBS_WAITERS_H_
#define WEIR_SERVER_JOBS_WAITERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace weir {

template <class Outcome>
class Waiters {
 public:
  using Done = std::function<void(Outcome outcome)>;
  // Until the job has ended, also if nothing else happens to it.
  static constexpr uint64_t kEndOnly = ~uint64_t{0};

  // `log_offset`: the job's log beyond it is news.
  uint64_t Add(const std::string& job, uint64_t log_offset, Done done) {
    const uint64_t id = next_++;
    waiters_[job].push_back({id, log_offset, std::move(done)});
    jobs_[id] = job;
    return id;
  }

  void Remove(uint64_t id) {
    auto job = jobs_.find(id);
    if (job == jobs_.end()) return;
    auto list = waiters_.find(job->second);
    std::erase_if(list->second, [id](const Waiter& waiter) { return waiter.id == id; });
    if (list->second.empty()) waiters_.erase(list);
    jobs_.erase(job);
  }

  // Returns: those whom a job of this state concerns; they wait no longer.
  std::vector<Done> Take(const std::string& job, bool ended, uint64_t next_log_offset) {
    std::vector<Done> taken;
    auto list = waiters_.find(job);
    if (list == waiters_.end()) return taken;
    std::erase_if(list->second, [&](Waiter& waiter) {
      const bool news = waiter.log_offset != kEndOnly && waiter.log_offset < next_log_offset;
      if (!ended && !news) return false;
      taken.push_back(std::move(waiter.done));
      jobs_.erase(waiter.id);
      return true;
    });
    if (list->second.empty()) waiters_.erase(list);
    return taken;
  }

 private:
  struct Waiter {
    uint64_t id;
    uint64_t log_offset;
    Done done;
  };

  uint64_t next_ = 1;
  absl::flat_hash_map<std::string, std::vector<Waiter>> waiters_;  // by job
  absl::flat_hash_map<uint64_t, std::string> jobs_;
};

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_WAITERS_H_
