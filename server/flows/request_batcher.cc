#include "server/flows/request_batcher.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/flow/attach_stream.h"

namespace weir {
namespace {

absl::StatusOr<RecordType> TypeOf(const google::protobuf::RepeatedPtrField<std::string>& columns) {
  RecordType type;
  for (const std::string& column : columns) {
    WEIR_ASSIGN_OR_RETURN(TensorType parsed, TensorType::Parse(column));
    type.push_back(std::move(parsed));
  }
  return type;
}

}  // namespace

RequestBatcher::RequestBatcher(FlowGateway gateway, BatchingOptions options,
                               std::shared_ptr<EventLoop> loop)
    : gateway_(gateway), options_(std::move(options)), loop_(std::move(loop)) {}

RequestBatcher::~RequestBatcher() {
  if (attachment_ != 0) gateway_.Detach(attachment_);
}

absl::StatusOr<std::shared_ptr<RequestBatcher>> RequestBatcher::Make(
    FlowGateway gateway, BatchingOptions options, std::shared_ptr<EventLoop> loop) {
  v1::FlowAttach attach;
  attach.set_id(options.flow);
  attach.set_client(StrCat("batches of '", options.input, "'"));
  attach.add_inputs()->set_name(options.input);
  attach.add_outputs()->set_name(options.output);
  auto batcher = std::shared_ptr<RequestBatcher>(
      new RequestBatcher(gateway, std::move(options), std::move(loop)));
  std::weak_ptr<RequestBatcher> weak = batcher;
  WEIR_ASSIGN_OR_RETURN(batcher->attachment_, gateway.Attach(attach, [weak] {
    if (auto self = weak.lock()) self->Pump();
  }));
  batcher->Pump();
  return batcher;
}

void RequestBatcher::Call(std::vector<Tensor> record, OnAnswer on_answer) {
  absl::Status refused;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    refused = over_;
    if (refused.ok() && waiting_.size() >= options_.max_waiting) {
      refused = absl::ResourceExhaustedError(
          StrCat(options_.max_waiting, " requests wait already; try again later"));
    }
    if (refused.ok() && is_attached_) refused = CheckRecord(record);
    if (refused.ok()) {
      waiting_.push_back({std::move(record), std::move(on_answer), loop_->clock()->Now()});
    }
  }
  if (!refused.ok()) return on_answer(refused);
  Pump();
}

absl::Status RequestBatcher::over() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return over_;
}

int64_t RequestBatcher::epochs() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return next_epoch_;
}

absl::Status RequestBatcher::CheckRecord(const std::vector<Tensor>& record) const {
  RecordType type;
  for (const Tensor& column : record) type.push_back(column.type());
  if (type == input_type_) return absl::OkStatus();
  return InvalidArgument("the record is ", ToString(type), "; input '", options_.input, "' takes ",
                         ToString(input_type_));
}

void RequestBatcher::Pump() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    pump_again_ = pumps_;
    if (std::exchange(pumps_, true)) return;
  }
  bool again = true;
  while (again) {
    while (TakeOne()) continue;
    while (SendOne()) continue;
    GiveAnswers();
    std::lock_guard<std::mutex> lock(mutex_);
    again = std::exchange(pump_again_, false);
    pumps_ = again;
  }
}

bool RequestBatcher::TakeOne() {
  absl::StatusOr<std::optional<FromFlow>> next = gateway_.Next(attachment_);
  if (!next.ok()) {
    End(next.status());
    return false;
  }
  if (!next->has_value()) return false;
  const v1::AttachResponse& message = (*next)->message;
  if (message.has_attached()) {
    auto input = TypeOf(message.attached().inputs(0).types());
    auto output = TypeOf(message.attached().outputs(0).types());
    if (!input.ok() || !output.ok()) {
      End(input.ok() ? output.status() : input.status());
      return false;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    is_attached_ = true;
    input_type_ = *std::move(input);
    output_type_ = *std::move(output);
    next_epoch_ = message.attached().inputs(0).epoch();
    next_number_ = message.attached().inputs(0).taken() + 1;
  } else if (message.has_records()) {
    TakeRecords(message.records(), (*next)->tensors);
  } else if (message.has_complete()) {
    TakeComplete(message.complete());
  } else if (message.has_record_failed()) {
    TakeFailed(message.record_failed());
  } else if (message.has_ended()) {
    const v1::Job& job = message.ended();
    End(absl::AbortedError(StrCat("the flow has ended", job.failure().message().empty() ? "" : ": ",
                                  job.failure().message())));
  }
  return true;
}

void RequestBatcher::TakeRecords(const v1::FlowRecords& records,
                                 const std::vector<Tensor>& tensors) {
  absl::StatusOr<RecordBatch> batch =
      BatchWithOrigins(records, tensors, output_type_, options_.output);
  if (!batch.ok()) return End(batch.status());
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (int64_t row = 0; row < batch->size(); ++row) {
      std::vector<Tensor> columns;
      for (const Tensor& column : batch->columns) columns.push_back(column.Row(row));
      AddAnswer(records.epoch(), batch->origin(row), std::move(columns));
    }
  }
  ToFlow ack;
  ack.message.mutable_ack()->set_output(options_.output);
  ack.message.mutable_ack()->set_number(records.number());
  const absl::Status taken = gateway_.Take(attachment_, std::move(ack));
  if (!taken.ok()) End(taken);
}

void RequestBatcher::TakeComplete(const v1::FlowComplete& complete) {
  std::lock_guard<std::mutex> lock(mutex_);
  while (!epochs_.empty() && (complete.finished() || epochs_.begin()->first < complete.epoch())) {
    auto over = epochs_.extract(epochs_.begin());
    for (OnAnswer& on_answer : over.mapped()) {
      if (on_answer == nullptr) continue;
      answers_.push_back({std::move(on_answer),
                          absl::NotFoundError("nothing came out of the flow for this record")});
    }
  }
}

void RequestBatcher::TakeFailed(const v1::FlowRecordFailure& failure) {
  std::lock_guard<std::mutex> lock(mutex_);
  AddAnswer(failure.epoch(), failure.origin(),
            absl::Status(static_cast<absl::StatusCode>(failure.failure().code()),
                         failure.failure().message()));
}

void RequestBatcher::AddAnswer(int64_t epoch, int64_t origin,
                               absl::StatusOr<std::vector<Tensor>> columns) {
  const auto found = epochs_.find(epoch);
  const bool is_one = found != epochs_.end() && origin >= 0 &&
                      origin < static_cast<int64_t>(found->second.size()) &&
                      found->second[origin] != nullptr;
  if (!is_one) return;  // a second record for one request
  answers_.push_back({std::exchange(found->second[origin], nullptr), std::move(columns)});
}

void RequestBatcher::End(const absl::Status& why) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!over_.ok()) return;
  over_ = why.ok() ? absl::AbortedError("the flow has ended") : why;
  for (auto& [epoch, requests] : epochs_) {
    for (OnAnswer& on_answer : requests) {
      if (on_answer != nullptr) answers_.push_back({std::move(on_answer), over_});
    }
  }
  epochs_.clear();
  for (Request& request : waiting_) answers_.push_back({std::move(request.on_answer), over_});
  waiting_.clear();
}

bool RequestBatcher::IsDue(absl::Time now) const {
  if (!over_.ok() || !is_attached_ || waiting_.empty()) return false;
  if (static_cast<int>(epochs_.size()) >= options_.max_epochs) return false;
  if (static_cast<int64_t>(waiting_.size()) >= options_.max_records) return true;
  if (options_.max_wait == absl::ZeroDuration()) return epochs_.empty();
  return now >= waiting_.front().came + options_.max_wait;
}

bool RequestBatcher::SendOne() {
  std::vector<Request> requests;
  int64_t epoch = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const absl::Time now = loop_->clock()->Now();
    if (!IsDue(now)) {
      // The end of an epoch comes by itself; only time does not.
      const bool waits = over_.ok() && is_attached_ && !waiting_.empty() &&
                         options_.max_wait > absl::ZeroDuration() &&
                         static_cast<int>(epochs_.size()) < options_.max_epochs;
      if (!waits || std::exchange(waits_for_time_, true)) return false;
      loop_->PostAfter(waiting_.front().came + options_.max_wait - now, [weak = weak_from_this()] {
        auto self = weak.lock();
        if (self == nullptr) return;
        {
          std::lock_guard<std::mutex> lock(self->mutex_);
          self->waits_for_time_ = false;
        }
        self->Pump();
      });
      return false;
    }
    epoch = next_epoch_++;
    Epoch& open = epochs_[epoch];
    while (!waiting_.empty() && static_cast<int64_t>(requests.size()) < options_.max_records) {
      // What came before the types were known is checked now.
      const absl::Status fits = CheckRecord(waiting_.front().record);
      if (fits.ok()) {
        requests.push_back(std::move(waiting_.front()));
        open.push_back(std::move(requests.back().on_answer));
      } else {
        answers_.push_back({std::move(waiting_.front().on_answer), fits});
      }
      waiting_.pop_front();
    }
  }
  absl::Status taken;
  if (!requests.empty()) taken = gateway_.Take(attachment_, RecordsOf(requests, epoch));
  ToFlow advance;
  advance.message.mutable_advance()->set_input(options_.input);
  advance.message.mutable_advance()->set_number(next_number_++);
  advance.message.mutable_advance()->set_epoch(epoch + 1);
  if (taken.ok()) taken = gateway_.Take(attachment_, std::move(advance));
  if (!taken.ok()) End(taken);
  return true;
}

ToFlow RequestBatcher::RecordsOf(const std::vector<Request>& requests, int64_t epoch) {
  ToFlow message;
  v1::FlowRecords* records = message.message.mutable_records();
  records->set_port(options_.input);
  records->set_number(next_number_++);
  records->set_epoch(epoch);
  records->set_is_last_piece(true);
  std::vector<Tensor> rows(requests.size());
  for (size_t c = 0; c < input_type_.size(); ++c) {
    for (size_t r = 0; r < requests.size(); ++r) rows[r] = requests[r].record[c];
    message.tensors.push_back(Stack(input_type_[c].dtype, input_type_[c].shape.extents(), rows));
  }
  return message;
}

void RequestBatcher::GiveAnswers() {
  std::vector<Answer> answers;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    answers.swap(answers_);
  }
  for (Answer& answer : answers) answer.on_answer(std::move(answer.columns));
}

}  // namespace weir
