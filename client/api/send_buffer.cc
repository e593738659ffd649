#include "client/api/send_buffer.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"

namespace weir {

absl::StatusOr<SendBuffer> SendBuffer::Make(const v1::FlowInput& input) {
  SendBuffer buffer;
  buffer.name_ = input.name();
  for (const std::string& text : input.types()) {
    WEIR_ASSIGN_OR_RETURN(TensorType column, TensorType::Parse(text));
    buffer.type_.push_back(std::move(column));
  }
  buffer.last_ = input.taken();
  buffer.epoch_ = input.epoch();
  buffer.closed_ = input.closed();
  buffer.OnAttached(input);
  return buffer;
}

absl::Status SendBuffer::CheckOpen() const {
  if (!closed_) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat("input '", name_, "' is closed"));
}

absl::Status SendBuffer::Check(int64_t epoch, const RecordBatch& batch) const {
  WEIR_RETURN_IF_ERROR(CheckOpen());
  if (epoch < epoch_) {
    return absl::FailedPreconditionError(
        StrCat("input '", name_, "' is at epoch ", epoch_, ": epoch ", epoch, " is over"));
  }
  return CheckBatch(batch, type_, StrCat("records for input '", name_, "'"));
}

bool SendBuffer::HasCredit(int64_t bytes) const {
  return bytes_under_way() == 0 || bytes_under_way() + bytes <= limit_bytes_;
}

ToFlow SendBuffer::Note(ToFlow message, int64_t bytes) {
  sent_bytes_ += bytes;
  pending_.push_back({++last_, bytes, message});
  return message;
}

ToFlow SendBuffer::Send(int64_t epoch, const RecordBatch& batch) {
  ToFlow out;
  v1::FlowRecords* records = out.message.mutable_records();
  records->set_port(name_);
  records->set_number(last_ + 1);
  records->set_epoch(epoch);
  records->set_has_weights(batch.weights.has_value());
  out.tensors = TensorsWithoutOrigins(batch);
  return Note(std::move(out), batch.bytes());
}

ToFlow SendBuffer::AdvanceTo(int64_t epoch, bool closed) {
  epoch_ = epoch;
  closed_ = closed;
  ToFlow out;
  v1::FlowAdvance* advance = out.message.mutable_advance();
  advance->set_input(name_);
  advance->set_number(last_ + 1);
  advance->set_epoch(epoch);
  advance->set_closed(closed);
  return Note(std::move(out), 0);
}

absl::StatusOr<ToFlow> SendBuffer::Advance(int64_t epoch) {
  WEIR_RETURN_IF_ERROR(CheckOpen());
  if (epoch < epoch_) {
    return InvalidArgument("input '", name_, "' is at epoch ", epoch_, " and cannot go back to ",
                           epoch);
  }
  return AdvanceTo(epoch, false);
}

absl::StatusOr<ToFlow> SendBuffer::Close() {
  WEIR_RETURN_IF_ERROR(CheckOpen());
  return AdvanceTo(epoch_, true);
}

void SendBuffer::OnInput(const v1::FlowInput& input) {
  taken_ = std::max(taken_, input.taken());
  consumed_bytes_ = std::max(consumed_bytes_, input.consumed_bytes());
  limit_bytes_ = input.limit_bytes();
  while (!pending_.empty() && pending_.front().number <= taken_) pending_.pop_front();
}

std::vector<ToFlow> SendBuffer::OnAttached(const v1::FlowInput& input) {
  OnInput(input);
  sent_bytes_ = input.taken_bytes();
  std::vector<ToFlow> again;
  for (const Pending& pending : pending_) {
    sent_bytes_ += pending.bytes;
    again.push_back(pending.message);
  }
  return again;
}

}  // namespace weir
