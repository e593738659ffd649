// What came out of one output of a flow and was not taken by the user yet. Driven by hand, no
// thread; thread-compatible. Owned by a DeployedFlow.
#ifndef WEIR_CLIENT_API_RECEIVE_BUFFER_H_
#define WEIR_CLIENT_API_RECEIVE_BUFFER_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/flow/attach_stream.h"

namespace weir {

// Records that came out of an output together.
struct FlowResult {
  int64_t epoch = 0;
  RecordBatch batch;
};

class ReceiveBuffer {
 public:
  // Errors: InvalidArgument, types that cannot be read.
  static absl::StatusOr<ReceiveBuffer> Make(const v1::FlowPortType& port);

  const std::string& name() const { return name_; }
  const RecordType& type() const { return type_; }

  // What has come already is dropped. Errors: InvalidArgument, records of another type.
  absl::Status OnRecords(const v1::FlowRecords& records, std::vector<Tensor> tensors);
  void OnComplete(const v1::FlowComplete& complete);

  bool has_records() const { return !entries_.empty(); }
  // Returns: the oldest records that were not taken.
  std::optional<FlowResult> Take();
  // All records of an epoch. REQUIRES: IsComplete(epoch).
  RecordBatch TakeEpoch(int64_t epoch);
  bool IsComplete(int64_t epoch) const { return is_finished_ || epoch < epoch_; }
  bool is_finished() const { return is_finished_; }
  // Epochs before this one are complete.
  int64_t epoch() const { return epoch_; }

  // The last number that has come.
  uint64_t received() const { return received_; }
  // While somebody waits until an epoch is complete, what comes is acknowledged at once, as the
  // rest might not be sent otherwise.
  void BeginWait() { ++waiting_; }
  void EndWait() { --waiting_; }
  // Returns: an acknowledgement, if there is something to acknowledge.
  std::optional<ToFlow> TakeAck();
  // What the coordinator has heard of acknowledgements is not known any more.
  void ForgetAcks() { acknowledged_ = 0; }

 private:
  struct Entry {
    uint64_t number;
    FlowResult result;
  };

  std::string name_;
  RecordType type_;
  std::deque<Entry> entries_;
  uint64_t received_ = 0;
  uint64_t acknowledged_ = 0;
  int64_t epoch_ = 0;
  bool is_finished_ = false;
  int waiting_ = 0;
};

}  // namespace weir

#endif  // WEIR_CLIENT_API_RECEIVE_BUFFER_H_
