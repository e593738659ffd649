// The memory of a worker's flows: so much may be kept in memory, what is beyond it lies on disk.
//
// Counted is what flows keep from one call to the next: frames in queues, records of times that are
// not complete, state by key, and what stands in memory for what they have on disk. What a call
// takes while it runs is not, but it is cut so that it is about FlowShare::work_bytes(). When all
// flows together keep more than the budget, those that have more than an equal part of it put what
// comes next on disk: a flow with little is never slowed down by one with much, and all together
// have twice the budget at most.
//
// A FlowMemory is owned by the worker's service, a FlowShare by a flow and all that it keeps. Both
// are thread-safe.
#ifndef WEIR_WORKER_FLOW_MEMORY_FLOW_MEMORY_H_
#define WEIR_WORKER_FLOW_MEMORY_FLOW_MEMORY_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/flow/memory/spill_log.h"

namespace weir {

class FlowShare;

class FlowMemory : public std::enable_shared_from_this<FlowMemory> {
 public:
  struct Options {
    int64_t budget = 0;           // bytes; 0: a quarter of what the process may take
    std::string spill_directory;  // as SpillDirectory::Open takes it
    int64_t spill_limit = 0;      // bytes on disk; 0: any
  };
  // Errors: InvalidArgument, a directory was named that will not do. If none was named and none
  // will do, flows fail when they are beyond the budget.
  static absl::StatusOr<std::shared_ptr<FlowMemory>> Make(const Options& options);

  // The share of one more flow, until it is gone.
  std::shared_ptr<FlowShare> AddFlow();

  int64_t budget() const { return budget_; }
  // How much another worker may have under way to this one, beside the budget: a part of it so
  // small that links to many workers together take no more than the flows do.
  int64_t link_bytes() const {
    return std::clamp<int64_t>(budget_ / 32, int64_t{256} << 10, int64_t{64} << 20);
  }
  int64_t flows() const { return flows_.load(std::memory_order_relaxed); }
  int64_t kept_bytes() const { return kept_bytes_.load(std::memory_order_relaxed); }
  // Of records and of tables.
  int64_t spilled_bytes() const { return directory_ == nullptr ? 0 : directory_->bytes(); }

 private:
  friend class FlowShare;

  // What stands in memory for so many bytes on disk, tables of pages (a 512th) and of batches; of
  // a budget, it leaves a quarter for what is kept.
  static int64_t StandIns(int64_t spilled, int64_t budget) {
    return std::min(spilled / 256, budget / 4 * 3);
  }
  int64_t taken_bytes() const { return kept_bytes() + StandIns(spilled_bytes(), budget_); }

  FlowMemory(int64_t budget, absl::StatusOr<std::shared_ptr<SpillDirectory>> directory)
      : budget_(budget),
        directory_(directory.ok() ? *std::move(directory) : nullptr),
        no_directory_(directory.status()) {}

  const int64_t budget_;
  const std::shared_ptr<SpillDirectory> directory_;  // null: see no_directory_
  const absl::Status no_directory_;
  std::atomic<int64_t> kept_bytes_{0};
  std::atomic<int64_t> flows_{0};
};

class FlowShare : public std::enable_shared_from_this<FlowShare> {
 public:
  explicit FlowShare(std::shared_ptr<FlowMemory> memory);
  ~FlowShare();

  int64_t budget() const { return memory_->budget(); }
  int64_t kept_bytes() const { return kept_bytes_.load(std::memory_order_relaxed); }
  int64_t spilled_bytes() const {
    return log_.bytes() + table_bytes_.load(std::memory_order_relaxed);
  }
  // Whether what comes next belongs on disk.
  bool is_over() const {
    const int64_t part = budget() / memory_->flows();
    return memory_->taken_bytes() > budget() &&
           kept_bytes() + FlowMemory::StandIns(spilled_bytes(), part) > part;
  }
  // Whether it belongs there at once, as much of what does waits in memory already.
  bool is_far_over() const { return is_over() && memory_->taken_bytes() > budget() + work_bytes(); }
  // How much one call should take at once.
  int64_t work_bytes() const { return std::max<int64_t>(budget() / memory_->flows() / 8, 1); }
  // What is less than that is not worth a place on disk.
  int64_t piece_bytes() const { return std::clamp<int64_t>(budget() / 1024, 1, 1 << 20); }

  void Charge(int64_t bytes) {
    memory_->kept_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    kept_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  // Puts a batch on disk. Errors: ResourceExhausted. REQUIRES: it is not empty.
  absl::StatusOr<SpilledRecords> Spill(const RecordBatch& batch);
  // The flow ends: what it has on disk is about to be forgotten.
  void BeginEnd() { log_.BeginEnd(); }
  // A table on disk, which counts as spilled until FreeTable. Errors: ResourceExhausted.
  absl::StatusOr<std::unique_ptr<SpillFile>> MakeTable(int64_t bytes);
  void FreeTable(std::unique_ptr<SpillFile> table);

  // The share of the flow whose call runs on this thread; null outside of calls. The state of a
  // vertex is made inside of its calls, by classes that need not know whose it is.
  static FlowShare* Current();
  class Scope {
   public:
    explicit Scope(FlowShare* share);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    FlowShare* const before_;
  };

 private:
  absl::Status CheckDirectory() const;

  const std::shared_ptr<FlowMemory> memory_;
  SpillLog log_;
  std::atomic<int64_t> kept_bytes_{0};
  std::atomic<int64_t> table_bytes_{0};
};

// Bytes that somebody keeps, as the share of the flow counts them. A value that moves; the share is
// that of the call in which it was first set.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  explicit MemoryCharge(std::shared_ptr<FlowShare> share) : share_(std::move(share)) {}
  MemoryCharge(MemoryCharge&& other) noexcept
      : share_(std::move(other.share_)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    Set(0);
    share_ = std::move(other.share_);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }
  ~MemoryCharge() { Set(0); }

  void Set(int64_t bytes);
  int64_t bytes() const { return bytes_; }
  FlowShare* share() const { return share_.get(); }

 private:
  std::shared_ptr<FlowShare> share_;
  int64_t bytes_ = 0;
};

// What an allocation throws that cannot be on disk; RunFlowCall makes a status of it.
struct FlowMemoryError : std::bad_alloc {
  explicit FlowMemoryError(absl::Status why) : status(std::move(why)) {}

  absl::Status status;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_MEMORY_FLOW_MEMORY_H_
