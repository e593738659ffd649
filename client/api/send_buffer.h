// What a client has sent to one input of a flow and does not know to be taken, and what it may
// still send. Driven by hand, no thread; thread-compatible. Owned by a DeployedFlow.
#ifndef WEIR_CLIENT_API_SEND_BUFFER_H_
#define WEIR_CLIENT_API_SEND_BUFFER_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/flow/attach_stream.h"

namespace weir {

class SendBuffer {
 public:
  // As the coordinator says it is. Errors: InvalidArgument, types that cannot be read.
  static absl::StatusOr<SendBuffer> Make(const v1::FlowInput& input);

  const std::string& name() const { return name_; }
  const RecordType& type() const { return type_; }
  int64_t epoch() const { return epoch_; }
  bool closed() const { return closed_; }
  uint64_t taken() const { return taken_; }
  bool all_taken() const { return pending_.empty(); }
  int64_t bytes_under_way() const { return sent_bytes_ - consumed_bytes_; }

  // Errors: InvalidArgument or FailedPrecondition, for records that the coordinator would refuse.
  absl::Status Check(int64_t epoch, const RecordBatch& batch) const;
  // Whether so many bytes may be sent now.
  bool HasCredit(int64_t bytes) const;
  // Notes and numbers a message. REQUIRES: Check, HasCredit.
  ToFlow Send(int64_t epoch, const RecordBatch& batch);
  // Errors: InvalidArgument, an epoch before the one that is open; FailedPrecondition if it is
  // closed.
  absl::StatusOr<ToFlow> Advance(int64_t epoch);
  absl::StatusOr<ToFlow> Close();

  // What the coordinator says about the input.
  void OnInput(const v1::FlowInput& input);
  // The same after the client has attached again. Returns: what is to be sent again.
  std::vector<ToFlow> OnAttached(const v1::FlowInput& input);

 private:
  struct Pending {
    uint64_t number;
    int64_t bytes;
    ToFlow message;
  };

  absl::Status CheckOpen() const;
  ToFlow AdvanceTo(int64_t epoch, bool closed);
  ToFlow Note(ToFlow message, int64_t bytes);

  std::string name_;
  RecordType type_;
  uint64_t last_ = 0;  // number given
  uint64_t taken_ = 0;
  int64_t epoch_ = 0;
  bool closed_ = false;
  int64_t sent_bytes_ = 0;
  int64_t consumed_bytes_ = 0;
  int64_t limit_bytes_ = 0;
  std::deque<Pending> pending_;
};

}  // namespace weir

#endif  // WEIR_CLIENT_API_SEND_BUFFER_H_
