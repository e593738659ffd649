// What came out of one output of a flow and is not acknowledged: records, and which epochs are
// complete, numbered in the order in which they came. A client reads it from a place of its own
// and acknowledges; what it has acknowledged is forgotten. Owned by the flow; thread-compatible.
#ifndef WEIR_SERVER_FLOWS_OUTPUT_LOG_H_
#define WEIR_SERVER_FLOWS_OUTPUT_LOG_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/flow/attach_stream.h"
#include "common/flow/record_batch.h"

namespace weir {

class OutputLog {
 public:
  // A client has at most so many bytes that it has not acknowledged; only a batch that is alone may
  // be larger.
  OutputLog(std::string name, RecordType type, int64_t window_bytes)
      : name_(std::move(name)), type_(std::move(type)), window_bytes_(window_bytes) {}

  const std::string& name() const { return name_; }
  const RecordType& type() const { return type_; }

  void AddRecords(int64_t epoch, RecordBatch batch, uint64_t worker);
  // Epochs before `epoch` are complete; all, if it is finished. Nothing if that was known.
  void AddComplete(int64_t epoch, bool finished);

  // Errors: DataLoss, a client knows of more than has come out, or what it lacks is not kept.
  absl::Status CheckKnown(uint64_t received) const;
  // A client begins behind this number, or behind what is forgotten. REQUIRES: CheckKnown.
  void Rewind(uint64_t received);
  // Returns: the next message for the client; nothing if there is none, or the window is full.
  std::optional<FromFlow> Next();
  bool all_sent() const { return sent_ == entries_.size(); }
  // The client has everything up to this number. Returns: bytes that are forgotten, by the worker
  // that they came from. Errors: FailedPrecondition for what was not sent.
  using Bytes = std::vector<std::pair<uint64_t, int64_t>>;
  absl::StatusOr<Bytes> Acknowledge(uint64_t number);
  // Forgets everything that came.
  void Clear();
  // The same, for want of room: who has not received all is told so.
  void Drop();
  bool is_dropped() const { return is_dropped_; }

  int64_t epoch() const { return epoch_; }
  bool finished() const { return finished_; }
  int64_t records() const { return records_; }
  int64_t kept_bytes() const { return kept_bytes_; }

 private:
  struct Entry {
    bool is_records = false;
    int64_t epoch = 0;
    bool finished = false;
    RecordBatch batch;
    uint64_t worker = 0;
    int64_t bytes = 0;
  };

  FromFlow MessageOf(const Entry& entry, uint64_t number) const;

  const std::string name_;
  const RecordType type_;
  const int64_t window_bytes_;
  std::deque<Entry> entries_;
  uint64_t first_ = 1;      // number of the first entry
  size_t sent_ = 0;         // how many of the entries were
  int64_t sent_bytes_ = 0;  // in those
  int64_t kept_bytes_ = 0;  // in all
  int64_t epoch_ = 0;
  bool finished_ = false;
  int64_t records_ = 0;
  bool is_dropped_ = false;
};

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_OUTPUT_LOG_H_
