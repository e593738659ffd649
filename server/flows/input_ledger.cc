#include "server/flows/input_ledger.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"

namespace weir {

absl::StatusOr<bool> InputLedger::IsNext(uint64_t number) const {
  if (number <= taken_) return false;
  if (number == taken_ + 1) return true;
  return absl::FailedPreconditionError(StrCat("message ", number, " for input '", name_,
                                              "' came, but number ", taken_ + 1, " is due"));
}

absl::Status InputLedger::CheckOpen() const {
  if (!closed_) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat("input '", name_, "' is closed"));
}

absl::StatusOr<RecordBatch> InputLedger::Take(const v1::FlowRecords& records,
                                              std::vector<Tensor> tensors) {
  WEIR_RETURN_IF_ERROR(CheckOpen());
  if (records.epoch() < epoch_) {
    return absl::FailedPreconditionError(StrCat("input '", name_, "' is at epoch ", epoch_,
                                                ": epoch ", records.epoch(), " is over"));
  }
  const auto open = next_origins_.find(records.epoch());
  const int64_t first = open == next_origins_.end() ? 0 : open->second;
  WEIR_ASSIGN_OR_RETURN(RecordBatch batch,
                        BatchWithoutOrigins(records, std::move(tensors), first, type_,
                                            StrCat("records for input '", name_, "'")));
  const int64_t bytes = batch.bytes();
  const int64_t under_way = taken_bytes_ - consumed_bytes_;
  if (under_way > 0 && under_way + bytes > limit_bytes_) {
    return absl::ResourceExhaustedError(StrCat("input '", name_, "' has ", under_way,
                                               " bytes that no worker has consumed; ", bytes,
                                               " more are above the limit of ", limit_bytes_));
  }
  next_origins_[records.epoch()] = first + batch.size();
  ++taken_;
  taken_bytes_ += bytes;
  records_ += batch.size();
  return batch;
}

absl::Status InputLedger::Take(const v1::FlowAdvance& advance) {
  WEIR_RETURN_IF_ERROR(CheckOpen());
  if (!advance.closed() && advance.epoch() < epoch_) {
    return InvalidArgument("input '", name_, "' is at epoch ", epoch_, " and cannot go back to ",
                           advance.epoch());
  }
  ++taken_;
  closed_ = advance.closed();
  if (closed_) {
    next_origins_.clear();
  } else {
    epoch_ = advance.epoch();
    next_origins_.erase(next_origins_.begin(), next_origins_.lower_bound(epoch_));
  }
  return absl::OkStatus();
}

void InputLedger::OnConsumed(int64_t bytes) {
  consumed_bytes_ += std::clamp<int64_t>(bytes, 0, taken_bytes_ - consumed_bytes_);
}

v1::FlowInput InputLedger::ToMessage() const {
  v1::FlowInput message;
  message.set_name(name_);
  for (const TensorType& column : type_) message.add_types(column.ToString());
  message.set_taken(taken_);
  message.set_epoch(epoch_);
  message.set_closed(closed_);
  message.set_taken_bytes(taken_bytes_);
  message.set_consumed_bytes(consumed_bytes_);
  message.set_limit_bytes(limit_bytes_);
  return message;
}

}  // namespace weir
