#include "client/api/receive_buffer.h"

#include <utility>

#include "common/base/status.h"

namespace weir {

absl::StatusOr<ReceiveBuffer> ReceiveBuffer::Make(const v1::FlowPortType& port) {
  ReceiveBuffer buffer;
  buffer.name_ = port.name();
  for (const std::string& text : port.types()) {
    WEIR_ASSIGN_OR_RETURN(TensorType column, TensorType::Parse(text));
    buffer.type_.push_back(std::move(column));
  }
  return buffer;
}

absl::Status ReceiveBuffer::OnRecords(const v1::FlowRecords& records, std::vector<Tensor> tensors) {
  if (records.number() <= received_) return absl::OkStatus();
  WEIR_ASSIGN_OR_RETURN(RecordBatch batch,
                        BatchWithOrigins(records, std::move(tensors), type_,
                                         StrCat("records of output '", name_, "'")));
  received_ = records.number();
  entries_.push_back({received_, {records.epoch(), std::move(batch)}});
  return absl::OkStatus();
}

void ReceiveBuffer::OnComplete(const v1::FlowComplete& complete) {
  if (complete.number() <= received_) return;
  received_ = complete.number();
  epoch_ = complete.epoch();
  is_finished_ = complete.finished();
}

std::optional<FlowResult> ReceiveBuffer::Take() {
  if (entries_.empty()) return std::nullopt;
  FlowResult result = std::move(entries_.front().result);
  entries_.pop_front();
  return result;
}

RecordBatch ReceiveBuffer::TakeEpoch(int64_t epoch) {
  std::vector<RecordBatch> batches;
  std::deque<Entry> others;
  for (Entry& entry : entries_) {
    if (entry.result.epoch == epoch) {
      batches.push_back(std::move(entry.result.batch));
    } else {
      others.push_back(std::move(entry));
    }
  }
  entries_ = std::move(others);
  return ConcatBatches(batches, type_);
}

std::optional<ToFlow> ReceiveBuffer::TakeAck() {
  const bool is_all = entries_.empty() || waiting_ > 0;
  const uint64_t number = is_all ? received_ : entries_.front().number - 1;
  if (number <= acknowledged_) return std::nullopt;
  acknowledged_ = number;
  ToFlow out;
  out.message.mutable_ack()->set_output(name_);
  out.message.mutable_ack()->set_number(number);
  return out;
}

}  // namespace weir
