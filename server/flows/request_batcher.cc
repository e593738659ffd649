#include "server/flows/request_batcher.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/flow/attach_stream.h"

namespace weir {
namespace {

// An epoch is slow after so many times what they take of late, and at least so long.
constexpr int kSlowTimes = 4;
constexpr absl::Duration kLeastSlow = absl::Milliseconds(2);
// Of requests for an epoch, if all that are expected were shared among those under way: a straggler
// does not hold up the others of its epoch.
constexpr double kShare = 7.0 / 8;
// How long one waits for the next request: of what epochs take of late, and at most.
constexpr int kGatherPart = 4;
constexpr absl::Duration kMostGather = absl::Milliseconds(2);
// Before anything is known.
constexpr absl::Duration kFirstUsual = absl::Milliseconds(10);

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
    : gateway_(gateway),
      options_(std::move(options)),
      loop_(std::move(loop)),
      usual_(kFirstUsual) {}

RequestBatcher::~RequestBatcher() {
  if (attachment_ != 0) gateway_.Detach(attachment_);
}

absl::StatusOr<std::shared_ptr<RequestBatcher>> RequestBatcher::Make(
    FlowGateway gateway, BatchingOptions options, std::shared_ptr<EventLoop> loop) {
  WEIR_ASSIGN_OR_RETURN(const std::vector<std::string> others,
                        gateway.CheckCalls(options.flow, options.input, options.output));
  v1::FlowAttach attach;
  attach.set_id(options.flow);
  attach.set_client(ClientOf(options.input));
  attach.add_inputs()->set_name(options.input);
  attach.add_outputs()->set_name(options.output);
  auto batcher = std::shared_ptr<RequestBatcher>(
      new RequestBatcher(gateway, std::move(options), std::move(loop)));
  batcher->has_others_ = !others.empty();
  std::weak_ptr<RequestBatcher> weak = batcher;
  WEIR_ASSIGN_OR_RETURN(batcher->attachment_, gateway.Attach(attach, [weak] {
    if (auto self = weak.lock()) self->OnNews();
  }));
  batcher->OnNews();
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
      if (returning_ > 0) --returning_;
    }
  }
  if (!refused.ok()) return on_answer(refused);
  Pump();
}

std::string RequestBatcher::Explain() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (waiting_.empty()) return "";
  const absl::Duration waited = loop_->clock()->Now() - waiting_.front().came;
  std::string text = StrCat(waiting_.size(), waiting_.size() == 1 ? " call waits" : " calls wait");
  if (!is_attached_) {
    StrAppend(&text, " until the flow runs");
  } else if (const absl::Time now = loop_->clock()->Now();
             options_.max_wait > absl::ZeroDuration() &&
             FewerAt(static_cast<size_t>(options_.max_epochs), now) <= now) {
    StrAppend(&text, " for others, up to ", options_.max_records);
  } else {
    StrAppend(&text, " for epochs under way, ", epochs_.size());
  }
  StrAppend(&text, "; the first one has waited for ",
            absl::FormatDuration(absl::Trunc(waited, absl::Milliseconds(1))));
  if (options_.max_wait > absl::ZeroDuration()) {
    StrAppend(&text, ", of ", absl::FormatDuration(options_.max_wait), " at most");
  }
  return text;
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

void RequestBatcher::OnNews() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    has_news_ = true;
  }
  Pump();
}

void RequestBatcher::Pump() {
  bool take = false;
  bool look = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    pump_again_ = pumps_;
    if (std::exchange(pumps_, true)) return;
    take = std::exchange(has_news_, false);
    look = std::exchange(look_now_, false);
  }
  bool again = true;
  while (again) {
    while (take && TakeOne()) continue;
    if (look) RefuseHeld();
    while (SendOne()) continue;
    GiveAnswers();
    LookSoon();
    std::lock_guard<std::mutex> lock(mutex_);
    again = std::exchange(pump_again_, false);
    take = again && std::exchange(has_news_, false);
    look = again && std::exchange(look_now_, false);
    pumps_ = again;
  }
}

void RequestBatcher::LookSoon() {
  if (!has_others_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (epochs_.empty() || std::exchange(looks_soon_, true)) return;
  loop_->PostAfter(options_.held_for / 4, [weak = weak_from_this()] {
    auto self = weak.lock();
    if (self == nullptr) return;
    {
      std::lock_guard<std::mutex> lock(self->mutex_);
      self->looks_soon_ = false;
      self->look_now_ = true;
    }
    self->Pump();
  });
}

void RequestBatcher::RefuseHeld() {
  std::vector<int64_t> old;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const absl::Time now = loop_->clock()->Now();
    for (const auto& [number, epoch] : epochs_) {
      if (now - epoch.began >= options_.held_for) old.push_back(number);
    }
  }
  for (const int64_t epoch : old) {
    const absl::StatusOr<std::vector<std::string>> held_by =
        gateway_.CallsHeldBy(options_.flow, options_.input, options_.output, epoch);
    if (!held_by.ok() || held_by->empty()) continue;
    // What had come out until then was an answer.
    while (TakeOne()) continue;
    Refuse(epoch, *held_by);
  }
}

void RequestBatcher::Refuse(int64_t epoch, const std::vector<std::string>& held_by) {
  const absl::Status why = absl::FailedPreconditionError(
      StrCat("what comes out of output '", options_.output, "' at epoch ", epoch,
             " depends on input ", absl::StrJoin(held_by, " and on input "),
             "; close it, or move it beyond the epochs of calls"));
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = epochs_.find(epoch);
  if (found == epochs_.end()) return;
  for (OnAnswer& on_answer : found->second.requests) {
    if (on_answer != nullptr) answers_.push_back({std::exchange(on_answer, nullptr), why});
  }
  epochs_.erase(found);  // how long it took says nothing
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
    Finish(epochs_.begin());
  }
}

void RequestBatcher::Finish(Epochs::iterator epoch) {
  for (OnAnswer& on_answer : epoch->second.requests) {
    if (on_answer == nullptr) continue;
    answers_.push_back({std::move(on_answer),
                        absl::NotFoundError("nothing came out of the flow for this record")});
  }
  usual_ = (usual_ * 3 + (loop_->clock()->Now() - epoch->second.began)) / 4;
  epochs_.erase(epoch);
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
  if (found == epochs_.end()) return;
  std::vector<OnAnswer>& requests = found->second.requests;
  const bool is_one =
      origin >= 0 && origin < static_cast<int64_t>(requests.size()) && requests[origin] != nullptr;
  if (!is_one) return;  // a second record for one request
  answers_.push_back({std::exchange(requests[origin], nullptr), std::move(columns)});
  if (--found->second.open == 0) Finish(found);
}

void RequestBatcher::End(const absl::Status& why) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!over_.ok()) return;
  over_ = why.ok() ? absl::AbortedError("the flow has ended") : why;
  for (auto& [number, epoch] : epochs_) {
    for (OnAnswer& on_answer : epoch.requests) {
      if (on_answer != nullptr) answers_.push_back({std::move(on_answer), over_});
    }
  }
  epochs_.clear();
  for (Request& request : waiting_) answers_.push_back({std::move(request.on_answer), over_});
  waiting_.clear();
}

bool RequestBatcher::IsWaiting(double part) const {
  size_t all = waiting_.size() + returning_;
  for (const auto& [number, epoch] : epochs_) all += static_cast<size_t>(epoch.open);
  return static_cast<double>(waiting_.size()) >= part * static_cast<double>(all);
}

absl::Duration RequestBatcher::Gather() const {
  return std::min(usual_ / kGatherPart, kMostGather);
}

// If an epoch began with what is here when the one before ends, it would be the first of many that
// come back, and epochs would become smaller and smaller.
absl::Time RequestBatcher::GatheredAt(absl::Time room, absl::Time now) const {
  if (IsWaiting(kShare / options_.max_epochs)) return room;
  const absl::Time quiet = std::max(waiting_.back().came, answered_) + Gather();
  const absl::Time alone = FewerAt(1, now);
  const absl::Time none_comes = returning_ == 0 ? alone : std::max(alone, quiet);
  if (!IsWaiting(1.0 / (options_.max_epochs + 1))) return none_comes;
  return std::min(none_comes, std::max(room, quiet));
}

absl::Time RequestBatcher::FewerAt(size_t count, absl::Time now) const {
  const absl::Duration slow_after = std::max(usual_ * kSlowTimes, kLeastSlow);
  std::vector<absl::Time> ends;  // of being counted
  for (const auto& [number, epoch] : epochs_) {
    if (epoch.began + slow_after > now) ends.push_back(epoch.began + slow_after);
  }
  if (ends.size() < count) return now;
  std::sort(ends.begin(), ends.end());
  return ends[ends.size() - count];
}

absl::Time RequestBatcher::DueAt(absl::Time now) const {
  if (!over_.ok() || !is_attached_ || waiting_.empty()) return absl::InfiniteFuture();
  if (epochs_.size() >= options_.max_slow_epochs) return absl::InfiniteFuture();
  const absl::Time room = FewerAt(static_cast<size_t>(options_.max_epochs), now);
  if (static_cast<int64_t>(waiting_.size()) >= options_.max_records) return room;
  if (options_.max_wait == absl::ZeroDuration()) return GatheredAt(room, now);
  return std::max(room, waiting_.front().came + options_.max_wait);
}

// The end of an epoch comes by itself; only time does not.
void RequestBatcher::WakeAt(absl::Time time, absl::Time now) {
  if (time >= wakes_at_) return;
  wakes_at_ = time;
  loop_->PostAfter(time - now, [weak = weak_from_this(), time] {
    auto self = weak.lock();
    if (self == nullptr) return;
    {
      std::lock_guard<std::mutex> lock(self->mutex_);
      if (self->wakes_at_ == time) self->wakes_at_ = absl::InfiniteFuture();
    }
    self->Pump();
  });
}

bool RequestBatcher::SendOne() {
  std::vector<Request> requests;
  int64_t epoch = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const absl::Time now = loop_->clock()->Now();
    if (const absl::Time due = DueAt(now); due > now) {
      WakeAt(due, now);
      return false;
    }
    if (now >= answered_ + Gather()) returning_ = 0;  // who has not come by now stays away
    epoch = next_epoch_++;
    Epoch& open = epochs_[epoch];
    open.began = now;
    while (!waiting_.empty() && static_cast<int64_t>(requests.size()) < options_.max_records) {
      // What came before the types were known is checked now.
      const absl::Status fits = CheckRecord(waiting_.front().record);
      if (fits.ok()) {
        requests.push_back(std::move(waiting_.front()));
        open.requests.push_back(std::move(requests.back().on_answer));
      } else {
        answers_.push_back({std::move(waiting_.front().on_answer), fits});
      }
      waiting_.pop_front();
    }
    open.open = static_cast<int64_t>(open.requests.size());
    if (requests.empty()) epochs_.erase(epoch);
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
    if (!answers.empty()) answered_ = loop_->clock()->Now();
    returning_ += answers.size();
  }
  for (Answer& answer : answers) answer.on_answer(std::move(answer.columns));
}

}  // namespace weir
