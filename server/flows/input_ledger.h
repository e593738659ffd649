// What came to one input of a flow: which messages were taken, which epochs are open, how many
// bytes workers have not consumed. Owned by the flow; thread-compatible.
#ifndef WEIR_SERVER_FLOWS_INPUT_LEDGER_H_
#define WEIR_SERVER_FLOWS_INPUT_LEDGER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/flow/attach_stream.h"
#include "common/flow/record_batch.h"

namespace weir {

class InputLedger {
 public:
  InputLedger(std::string name, RecordType type, int64_t limit_bytes)
      : name_(std::move(name)), type_(std::move(type)), limit_bytes_(limit_bytes) {}

  const std::string& name() const { return name_; }
  int64_t epoch() const { return epoch_; }
  bool closed() const { return closed_; }
  uint64_t taken() const { return taken_; }

  // Returns: false for a message that was taken before. Errors: FailedPrecondition, one is missing.
  absl::StatusOr<bool> IsNext(uint64_t number) const;
  // Takes the next message. Returns: its records, numbered on from those of the epoch so far.
  // Errors: InvalidArgument, records that do not fit; FailedPrecondition, an epoch that is over or
  // an input that is closed; ResourceExhausted, more bytes than the client had credit for.
  absl::StatusOr<RecordBatch> Take(const v1::FlowRecords& records, std::vector<Tensor> tensors);
  // Takes the next message. Errors: InvalidArgument, an epoch before the one that is open;
  // FailedPrecondition, an input that is closed.
  absl::Status Take(const v1::FlowAdvance& advance);
  // Workers have consumed so many bytes.
  void OnConsumed(int64_t bytes);

  v1::FlowInput ToMessage() const;
  int64_t records() const { return records_; }
  int64_t unconsumed_bytes() const { return taken_bytes_ - consumed_bytes_; }

 private:
  absl::Status CheckOpen() const;

  const std::string name_;
  const RecordType type_;
  const int64_t limit_bytes_;
  uint64_t taken_ = 0;
  int64_t epoch_ = 0;
  bool closed_ = false;
  std::map<int64_t, int64_t> next_origins_;  // by epoch, of those that have records and are open
  int64_t taken_bytes_ = 0;
  int64_t consumed_bytes_ = 0;
  int64_t records_ = 0;
};

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_INPUT_LEDGER_H_
