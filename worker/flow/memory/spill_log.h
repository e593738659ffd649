// Records on disk: batches behind one another in files, each there until it has been read and
// forgotten. Owned by the memory of a flow; thread-safe. What it gave out outlives it.
#ifndef WEIR_WORKER_FLOW_MEMORY_SPILL_LOG_H_
#define WEIR_WORKER_FLOW_MEMORY_SPILL_LOG_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/statusor.h"
#include "common/flow/record_batch.h"
#include "worker/flow/memory/spill_file.h"

namespace weir {

// What a log and all that it gave out share.
struct SpillCount {
  std::atomic<int64_t> bytes{0};       // on disk now
  std::atomic<bool> all_ends = false;  // whole files go soon: their parts need not be freed
};

// A part of a file, which is free again when this is gone.
class SpilledBytes {
 public:
  using Counter = std::shared_ptr<SpillCount>;

  SpilledBytes() = default;
  SpilledBytes(std::shared_ptr<SpillFile> file, Counter counter, int64_t offset, int64_t bytes)
      : file_(std::move(file)), counter_(std::move(counter)), offset_(offset), bytes_(bytes) {}
  SpilledBytes(SpilledBytes&& other) noexcept { *this = std::move(other); }
  SpilledBytes& operator=(SpilledBytes&& other) noexcept;
  ~SpilledBytes() { Free(); }

  SpillFile* file() const { return file_.get(); }
  const std::shared_ptr<SpillFile>& shared_file() const { return file_; }
  int64_t offset() const { return offset_; }
  int64_t size() const { return bytes_; }

 private:
  void Free();

  std::shared_ptr<SpillFile> file_;
  Counter counter_;
  int64_t offset_ = 0;
  int64_t bytes_ = 0;
};

// A batch on disk.
class SpilledRecords {
 public:
  int64_t size() const { return records_; }
  int64_t bytes() const { return place_.size(); }
  // Returns: the batch, in memory that the kernel fetches from the disk. REQUIRES: `type` is that
  // of what was written; nothing has been read from this.
  RecordBatch Read(const RecordType& type) &&;
  // The same in memory of its own, read at once: better where batches that lie apart are read
  // whole. Errors: ResourceExhausted, the disk fails.
  absl::StatusOr<RecordBatch> Load(const RecordType& type) &&;

 private:
  friend class SpillLog;

  RecordBatch BatchIn(const RecordType& type, std::shared_ptr<Buffer> buffer) const;

  SpilledBytes place_;
  int64_t records_ = 0;
  bool has_weights_ = false;
};

class SpillLog {
 public:
  explicit SpillLog(std::shared_ptr<SpillDirectory> directory)
      : directory_(std::move(directory)), count_(std::make_shared<SpillCount>()) {}

  // May wait for the disk. Errors: ResourceExhausted. REQUIRES: the batch is not empty.
  absl::StatusOr<SpilledRecords> Write(const RecordBatch& batch);
  // On disk now.
  int64_t bytes() const { return count_->bytes.load(std::memory_order_relaxed); }
  // All of it is about to be forgotten.
  void BeginEnd() { count_->all_ends.store(true, std::memory_order_relaxed); }

 private:
  struct Written {
    std::weak_ptr<SpillFile> file;
    int64_t offset = 0;
    int64_t bytes = 0;
  };

  absl::StatusOr<SpilledBytes> Place(int64_t bytes);
  void WriteOut(const std::shared_ptr<SpillFile>& file, int64_t offset, int64_t bytes);
  // Returns: what goes to the disk now; nothing if it is not enough yet.
  Written AddWritten(Written part);

  const std::shared_ptr<SpillDirectory> directory_;
  const SpilledBytes::Counter count_;
  std::mutex mutex_;
  std::shared_ptr<SpillFile> file_;  // that the next batch goes to
  int64_t end_ = 0;                  // of what is in it
  Written last_;                     // not on its way to the disk
  std::deque<Written> written_;      // that may not be on disk yet
  int64_t written_bytes_ = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_MEMORY_SPILL_LOG_H_
