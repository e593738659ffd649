// The workers that the coordinator knows: who is ready, who drains, who was lost, and what each
// holds. Owned by the core; thread-compatible.
#ifndef WEIR_SERVER_JOBS_WORKER_TABLE_H_
#define WEIR_SERVER_JOBS_WORKER_TABLE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/jobs/limits.h"
#include "weir/v1/service.pb.h"
#include "weir/v1/worker.pb.h"

namespace weir {

struct WorkerEntry {
  enum class Load { kSent, kLoaded };

  uint64_t id = 0;     // of its connection
  v1::Register hello;  // empty until it has registered
  v1::Worker::State state = v1::Worker::STATE_UNSPECIFIED;
  absl::Time last_heard;
  absl::Time last_probed;
  uint64_t resident_bytes = 0;
  int runs = 0;                       // that the coordinator has given it
  std::map<uint64_t, Load> programs;  // by id
  std::set<std::string> blobs;        // constants that it holds

  const std::string& name() const { return hello.name(); }
  bool registered() const { return state != v1::Worker::STATE_UNSPECIFIED; }
};

class WorkerTable {
 public:
  explicit WorkerTable(const Limits& limits) : limits_(limits) {}

  void Connect(uint64_t id, absl::Time now);
  // Returns: ALREADY_EXISTS if a living worker has that name, INVALID_ARGUMENT for a registration
  // that makes no sense.
  absl::Status Register(uint64_t id, const v1::Register& hello);
  // The connection is over. Returns: whether a registered worker was lost (one that drained has
  // left).
  bool Disconnect(uint64_t id, absl::Time now);
  // Returns: null for connections that are over.
  WorkerEntry* Find(uint64_t id);

  // The workers for a run: `wanted` of them, or all that are ready for 0. All have the same
  // numerics class. Those that are preferred come first, in that order, then those with the fewest
  // runs; behind the former the order is that of their ids.
  struct Choice {
    std::vector<uint64_t> workers;
    std::string waits_for;  // what is missing, if there are not enough
  };
  Choice Choose(uint32_t wanted, const std::vector<uint64_t>& preferred = {}) const;

  // Living connections.
  std::map<uint64_t, WorkerEntry>& entries() { return entries_; }
  const std::map<uint64_t, WorkerEntry>& entries() const { return entries_; }
  int CountReady() const;
  // Living and recently lost ones, for people.
  std::vector<v1::Worker> List(absl::Time now) const;

 private:
  std::vector<const WorkerEntry*> LargestClass() const;

  const Limits limits_;
  std::map<uint64_t, WorkerEntry> entries_;
  std::vector<WorkerEntry> lost_;  // oldest first
};

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_WORKER_TABLE_H_
