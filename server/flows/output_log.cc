#include "server/flows/output_log.h"

#include "common/base/status.h"

namespace weir {

void OutputLog::AddRecords(int64_t epoch, RecordBatch batch, uint64_t worker) {
  Entry entry;
  entry.is_records = true;
  entry.epoch = epoch;
  entry.bytes = batch.bytes();
  entry.worker = worker;
  records_ += batch.size();
  kept_bytes_ += entry.bytes;
  entry.batch = std::move(batch);
  entries_.push_back(std::move(entry));
}

void OutputLog::AddComplete(int64_t epoch, bool finished) {
  if (finished_ || (!finished && epoch <= epoch_)) return;
  if (!finished) epoch_ = epoch;
  finished_ = finished;
  // What nobody has heard yet is said once.
  if (sent_ < entries_.size() && !entries_.back().is_records) entries_.pop_back();
  Entry entry;
  entry.epoch = epoch_;
  entry.finished = finished_;
  entries_.push_back(std::move(entry));
}

absl::Status OutputLog::CheckKnown(uint64_t received) const {
  const uint64_t last = first_ + entries_.size() - 1;
  if (is_dropped_ && received < last) {
    return absl::DataLossError(StrCat("what came out of output '", name_,
                                      "' is not kept any more: nobody took it in time"));
  }
  if (received <= last) return absl::OkStatus();
  return absl::DataLossError(StrCat("the client knows of message ", received, " of output '", name_,
                                    "', but only ", last, " have come out here"));
}

void OutputLog::Rewind(uint64_t received) {
  sent_ = received < first_ ? 0 : received - first_ + 1;
  sent_bytes_ = 0;
  for (size_t i = 0; i < sent_; ++i) sent_bytes_ += entries_[i].bytes;
}

FromFlow OutputLog::MessageOf(const Entry& entry, uint64_t number) const {
  FromFlow out;
  if (!entry.is_records) {
    v1::FlowComplete* complete = out.message.mutable_complete();
    complete->set_output(name_);
    complete->set_number(number);
    complete->set_epoch(entry.epoch);
    complete->set_finished(entry.finished);
    return out;
  }
  v1::FlowRecords* records = out.message.mutable_records();
  records->set_port(name_);
  records->set_number(number);
  records->set_epoch(entry.epoch);
  records->set_has_weights(entry.batch.weights.has_value());
  out.tensors = TensorsWithOrigins(entry.batch);
  return out;
}

std::optional<FromFlow> OutputLog::Next() {
  if (all_sent()) return std::nullopt;
  const Entry& entry = entries_[sent_];
  if (sent_bytes_ > 0 && sent_bytes_ + entry.bytes > window_bytes_) return std::nullopt;
  sent_bytes_ += entry.bytes;
  return MessageOf(entry, first_ + sent_++);
}

absl::StatusOr<OutputLog::Bytes> OutputLog::Acknowledge(uint64_t number) {
  if (number >= first_ + sent_) {
    return absl::FailedPreconditionError(StrCat("message ", number, " of output '", name_,
                                                "' is acknowledged, but only ", first_ + sent_ - 1,
                                                " were sent"));
  }
  Bytes forgotten;
  for (; first_ <= number; ++first_) {
    const Entry& entry = entries_.front();
    if (entry.bytes > 0) {
      if (forgotten.empty() || forgotten.back().first != entry.worker) {
        forgotten.push_back({entry.worker, 0});
      }
      forgotten.back().second += entry.bytes;
    }
    sent_bytes_ -= entry.bytes;
    kept_bytes_ -= entry.bytes;
    --sent_;
    entries_.pop_front();
  }
  return forgotten;
}

void OutputLog::Drop() {
  is_dropped_ = is_dropped_ || !entries_.empty();
  Clear();
}

void OutputLog::Clear() {
  first_ += entries_.size();
  entries_.clear();
  sent_ = 0;
  sent_bytes_ = kept_bytes_ = 0;
}

}  // namespace weir
