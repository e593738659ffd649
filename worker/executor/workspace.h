// The inside of a workspace: activations by extents, and one arena a call depth. Used by one thread
// at a time.
#ifndef WEIR_WORKER_EXECUTOR_WORKSPACE_H_
#define WEIR_WORKER_EXECUTOR_WORKSPACE_H_

#include <limits>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/tensor/buffer.h"
#include "worker/executor/activation.h"
#include "worker/executor/executable.h"

namespace weir {

struct Workspace::Impl {
 public:
  // An activation in use, with the arena to run it in.
  struct Lease {
    Activation* activation = nullptr;
    std::byte* arena = nullptr;
    std::vector<std::byte*>* externals = nullptr;  // for the caller to fill
    size_t entry = 0;
  };

  // Where an activation was found. It is there until its place is needed for another.
  struct Place {
    size_t entry = 0;
    uint64_t maker = 0;  // 0: nowhere
  };
  Place PlaceOf(const Lease& lease) const { return {lease.entry, entries_[lease.entry]->maker}; }
  // Whether AcquireAt may have it: it is still there, and not in use.
  bool IsFree(const Place& place) const {
    return place.maker != 0 && entries_[place.entry]->maker == place.maker &&
           !entries_[place.entry]->busy;
  }
  // REQUIRES: IsFree(place), and `place` is where Acquire found the activation for the same plan,
  // symbols and layouts.
  absl::StatusOr<Lease> AcquireAt(const Place& place, int depth) {
    return Enter(place.entry, depth);
  }

  // Finds or makes the activation of `plan` for these symbols and input layouts.
  absl::StatusOr<Lease> Acquire(const RegionPlan& plan, const SymbolBindings& symbols,
                                absl::Span<const cpu::View> inputs, int depth);
  void Release(const Lease& lease) { entries_[lease.entry]->busy = false; }
  // Of all depths together.
  int64_t arena_bytes() const { return arena_bytes_; }
  void LimitArenas(int64_t bytes);
  void ReleaseArenas();

 private:
  // A region that runs for some rows has an entry for each number of rows, a recursive function one
  // such region for each of its blocks.
  static constexpr size_t kMaxEntries = 2048;

  struct Entry {
    const RegionPlan* plan = nullptr;
    std::unique_ptr<Activation> activation;
    std::vector<std::byte*> externals;
    bool busy = false;
    uint64_t last_used = 0;
    uint64_t maker = 0;  // the use that made the activation; no other entry has it
    size_t hash = 0;
  };

  static size_t Hash(const RegionPlan& plan, const SymbolBindings& symbols,
                     absl::Span<const cpu::View> inputs);
  static bool Fits(const Entry& entry, const RegionPlan& plan, const SymbolBindings& symbols,
                   absl::Span<const cpu::View> inputs);
  // Takes the place of the entry that was used longest ago once there are enough.
  size_t SlotForNewEntry();
  absl::StatusOr<Lease> Enter(size_t entry, int depth);
  absl::Status GrowArena(int depth, int64_t bytes);

  std::vector<std::unique_ptr<Entry>> entries_;
  absl::flat_hash_map<size_t, std::vector<size_t>> by_hash_;
  std::vector<std::shared_ptr<Buffer>> arenas_;  // by depth
  int64_t arena_bytes_ = 0;
  int64_t arena_limit_ = std::numeric_limits<int64_t>::max();
  uint64_t uses_ = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_EXECUTOR_WORKSPACE_H_
