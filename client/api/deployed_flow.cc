#include "client/api/deployed_flow.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/base/random.h"
#include "common/base/status.h"

namespace weir {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(50);
constexpr absl::Duration kLongestPause = absl::Seconds(2);
// That are kept until somebody takes them.
constexpr size_t kMostFailures = 1000;

template <class Ports>
absl::Status NoPort(const Ports& ports, const std::string& name, std::string_view kind) {
  std::vector<std::string> names;
  for (const auto& [other, port] : ports) names.push_back(other);
  return absl::NotFoundError(StrCat("the client is attached to no ", kind, " '", name,
                                    "'; it is attached to ",
                                    names.empty() ? "none" : absl::StrJoin(names, ", ")));
}

std::vector<std::string> NamesOr(const std::optional<std::vector<std::string>>& names,
                                 std::vector<std::string> all) {
  return names.has_value() ? *names : std::move(all);
}

}  // namespace

DeployedFlow::DeployedFlow(std::shared_ptr<Session> session, std::string id, AttachOptions options)
    : session_(std::move(session)), id_(std::move(id)), options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<DeployedFlow>> DeployedFlow::Attach(std::shared_ptr<Session> session,
                                                                   std::string id,
                                                                   AttachOptions options,
                                                                   absl::Time deadline) {
  WEIR_ASSIGN_OR_RETURN(const v1::FlowStatus status, session->GetFlow(id));
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  for (const auto& input : status.inputs()) inputs.push_back(input.input().name());
  for (const auto& output : status.outputs()) outputs.push_back(output.name());
  options.inputs = NamesOr(options.inputs, std::move(inputs));
  options.outputs = NamesOr(options.outputs, std::move(outputs));
  if (options.client.empty()) options.client = UniqueName("client-");
  auto flow = std::unique_ptr<DeployedFlow>(
      new DeployedFlow(std::move(session), std::move(id), std::move(options)));
  // What is wrong at once is said at once; a flow may take a while until it runs.
  WEIR_ASSIGN_OR_RETURN(std::unique_ptr<FlowStream> stream,
                        flow->session_->Attach(flow->Request()));
  flow->stream_ = std::move(stream);
  flow->listener_ = std::thread([self = flow.get()] { self->Listen(); });
  std::unique_lock lock(flow->mutex_);
  const absl::Status attached = flow->AwaitLocked(
      &lock, deadline, [] { return std::string("the flow to run"); },
      [self = flow.get()] { return self->is_attached_; });
  lock.unlock();
  WEIR_RETURN_IF_ERROR(attached);
  return flow;
}

DeployedFlow::~DeployedFlow() {
  Flush();
  {
    std::lock_guard lock(mutex_);
    is_closing_ = true;
    if (stream_ != nullptr) stream_->Close();
    changed_.notify_all();
  }
  if (listener_.joinable()) listener_.join();
}

// ---- The connection ----

v1::FlowAttach DeployedFlow::Request() const {
  v1::FlowAttach request;
  request.set_id(id_);
  request.set_client(options_.client);
  const auto add = [](auto* resume, const std::string& name, uint64_t number) {
    resume->set_name(name);
    resume->set_number(number);
  };
  std::lock_guard lock(mutex_);
  for (const std::string& name : *options_.inputs) {
    const auto input = inputs_.find(name);
    add(request.add_inputs(), name, input == inputs_.end() ? 0 : input->second.taken());
  }
  for (const std::string& name : *options_.outputs) {
    const auto output = outputs_.find(name);
    add(request.add_outputs(), name, output == outputs_.end() ? 0 : output->second.received());
  }
  return request;
}

void DeployedFlow::Listen() {
  absl::Status status;
  while (status.ok()) {
    std::shared_ptr<FlowStream> stream;
    {
      std::lock_guard lock(mutex_);
      if (is_closing_ || ended_.has_value()) return;
      stream = stream_;
    }
    absl::StatusOr<FromFlow> next = stream->Next();
    if (next.ok()) {
      status = next->message.has_attached() ? OnAttached(next->message.attached())
                                            : OnMessage(*std::move(next));
      Flush();
    } else {
      status = absl::IsUnavailable(next.status()) ? Reconnect() : next.status();
    }
  }
  std::lock_guard lock(mutex_);
  over_ = status;
  changed_.notify_all();
}

// The first answer on the new stream is OnAttached.
absl::Status DeployedFlow::Reconnect() {
  const absl::Time deadline = absl::Now() + options_.reattach_for;
  absl::Duration pause = kFirstPause;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, absl::ToChronoMilliseconds(pause), [this] { return is_closing_; });
      if (is_closing_) return absl::CancelledError("the client detaches");
    }
    absl::StatusOr<std::unique_ptr<FlowStream>> stream = session_->Attach(Request());
    if (stream.ok()) {
      std::lock_guard lock(mutex_);
      stream_ = *std::move(stream);
      is_attached_ = false;
      return absl::OkStatus();
    }
    if (!absl::IsUnavailable(stream.status()) || absl::Now() >= deadline) return stream.status();
    pause = std::min(2 * pause, kLongestPause);
  }
}

absl::Status DeployedFlow::OnAttached(const v1::FlowAttached& attached) {
  std::lock_guard sending(send_mutex_);
  std::lock_guard lock(mutex_);
  outbox_.clear();
  for (const v1::FlowInput& input : attached.inputs()) {
    const auto known = inputs_.find(input.name());
    if (known == inputs_.end()) {
      WEIR_ASSIGN_OR_RETURN(SendBuffer buffer, SendBuffer::Make(input));
      inputs_.emplace(input.name(), std::move(buffer));
      continue;
    }
    for (ToFlow& message : known->second.OnAttached(input)) outbox_.push_back(std::move(message));
  }
  for (const v1::FlowPortType& output : attached.outputs()) {
    const auto known = outputs_.find(output.name());
    if (known == outputs_.end()) {
      WEIR_ASSIGN_OR_RETURN(ReceiveBuffer buffer, ReceiveBuffer::Make(output));
      outputs_.emplace(output.name(), std::move(buffer));
    } else {
      known->second.ForgetAcks();
      PostAck(&known->second);
    }
  }
  is_attached_ = true;
  changed_.notify_all();
  return absl::OkStatus();
}

absl::Status DeployedFlow::OnMessage(FromFlow message) {
  std::lock_guard lock(mutex_);
  changed_.notify_all();
  const v1::AttachResponse& body = message.message;
  switch (body.kind_case()) {
    case v1::AttachResponse::kInput: {
      WEIR_ASSIGN_OR_RETURN(SendBuffer * input, FindInput(body.input().name()));
      input->OnInput(body.input());
      return absl::OkStatus();
    }
    case v1::AttachResponse::kRecords: {
      WEIR_ASSIGN_OR_RETURN(ReceiveBuffer * output, FindOutput(body.records().port()));
      WEIR_RETURN_IF_ERROR(output->OnRecords(body.records(), std::move(message.tensors)));
      PostAck(output);
      return absl::OkStatus();
    }
    case v1::AttachResponse::kComplete: {
      WEIR_ASSIGN_OR_RETURN(ReceiveBuffer * output, FindOutput(body.complete().output()));
      output->OnComplete(body.complete());
      PostAck(output);
      return absl::OkStatus();
    }
    case v1::AttachResponse::kRecordFailed:
      if (failures_.size() < kMostFailures) failures_.push_back(body.record_failed());
      return absl::OkStatus();
    case v1::AttachResponse::kEnded:
      ended_ = body.ended();
      return absl::OkStatus();
    default:
      return absl::InternalError("the coordinator says what this client does not know");
  }
}

// REQUIRES: the lock, here and below.
void DeployedFlow::Post(ToFlow message) { outbox_.push_back(std::move(message)); }

void DeployedFlow::PostAck(ReceiveBuffer* output) {
  if (std::optional<ToFlow> ack = output->TakeAck()) Post(*std::move(ack));
}

// One thread at a time, so that what was numbered goes out in that order. What cannot be sent is
// sent again once the client has attached again.
void DeployedFlow::Flush() {
  std::lock_guard sending(send_mutex_);
  while (true) {
    ToFlow message;
    std::shared_ptr<FlowStream> stream;
    {
      std::lock_guard lock(mutex_);
      if (outbox_.empty() || !is_attached_ || ended_.has_value() || is_closing_) return;
      message = std::move(outbox_.front());
      outbox_.pop_front();
      stream = stream_;
    }
    if (!stream->Send(message).ok()) return;
  }
}

absl::Status DeployedFlow::WhyOver() const {
  if (!over_.ok()) return over_;
  if (!ended_.has_value()) return absl::OkStatus();
  if (ended_->state() == v1::Job::SUCCEEDED) {
    return absl::FailedPreconditionError(StrCat("flow ", id_, " has ended"));
  }
  return Annotate(absl::Status(static_cast<absl::StatusCode>(ended_->failure().code()),
                               ended_->failure().message()),
                  StrCat("flow ", id_));
}

absl::Status DeployedFlow::AwaitLocked(std::unique_lock<std::mutex>* lock, absl::Time deadline,
                                       const std::function<std::string()>& what,
                                       const std::function<bool()>& done) {
  const auto ready = [&] { return done() || !WhyOver().ok(); };
  if (deadline == absl::InfiniteFuture()) {
    changed_.wait(*lock, ready);
  } else if (!changed_.wait_until(*lock, absl::ToChronoTime(deadline), ready)) {
    return absl::DeadlineExceededError(StrCat("flow ", id_, ": time is up while waiting for ",
                                              what(), "; `weir explain-frontier ", id_,
                                              "` says what it waits for"));
  }
  return done() ? absl::OkStatus() : WhyOver();
}

// ---- Feeding ----

absl::StatusOr<SendBuffer*> DeployedFlow::FindInput(const std::string& name) {
  const auto input = inputs_.find(name);
  if (input == inputs_.end()) return NoPort(inputs_, name, "input");
  return &input->second;
}

absl::Status DeployedFlow::Send(const std::string& input, int64_t epoch,
                                std::vector<Tensor> columns, absl::Time deadline) {
  if (columns.empty() || columns[0].rank() == 0) {
    return InvalidArgument("records for input '", input,
                           "' need columns, each with an axis of records");
  }
  return Send(input, epoch, MakeBatch(std::move(columns)), deadline);
}

absl::Status DeployedFlow::Send(const std::string& input, int64_t epoch, RecordBatch batch,
                                absl::Time deadline) {
  {
    std::unique_lock lock(mutex_);
    WEIR_ASSIGN_OR_RETURN(SendBuffer * buffer, FindInput(input));
    WEIR_RETURN_IF_ERROR(WhyOver());
    WEIR_RETURN_IF_ERROR(buffer->Check(epoch, batch));
    const int64_t bytes = batch.bytes();
    WEIR_RETURN_IF_ERROR(AwaitLocked(
        &lock, deadline,
        [&] {
          return StrCat("workers to consume ", buffer->bytes_under_way(), " bytes of input '",
                        input, "'");
        },
        [&] { return buffer->HasCredit(bytes); }));
    WEIR_RETURN_IF_ERROR(WhyOver());
    // Another thread may have gone on meanwhile.
    WEIR_RETURN_IF_ERROR(buffer->Check(epoch, batch));
    Post(buffer->Send(epoch, batch));
  }
  Flush();
  return absl::OkStatus();
}

absl::Status DeployedFlow::Advance(const std::string& input, int64_t epoch) {
  {
    std::lock_guard lock(mutex_);
    WEIR_ASSIGN_OR_RETURN(SendBuffer * buffer, FindInput(input));
    WEIR_RETURN_IF_ERROR(WhyOver());
    WEIR_ASSIGN_OR_RETURN(ToFlow message, buffer->Advance(epoch));
    Post(std::move(message));
  }
  Flush();
  return absl::OkStatus();
}

absl::Status DeployedFlow::CloseInput(const std::string& input) {
  {
    std::lock_guard lock(mutex_);
    WEIR_ASSIGN_OR_RETURN(SendBuffer * buffer, FindInput(input));
    WEIR_RETURN_IF_ERROR(WhyOver());
    WEIR_ASSIGN_OR_RETURN(ToFlow message, buffer->Close());
    Post(std::move(message));
  }
  Flush();
  return absl::OkStatus();
}

absl::Status DeployedFlow::AwaitTaken(const std::string& input, absl::Time deadline) {
  std::unique_lock lock(mutex_);
  WEIR_ASSIGN_OR_RETURN(SendBuffer * buffer, FindInput(input));
  return AwaitLocked(
      &lock, deadline, [&] { return StrCat("input '", input, "' to be taken"); },
      [&] { return buffer->all_taken(); });
}

// ---- Taking ----

absl::StatusOr<ReceiveBuffer*> DeployedFlow::FindOutput(const std::string& name) {
  const auto output = outputs_.find(name);
  if (output == outputs_.end()) return NoPort(outputs_, name, "output");
  return &output->second;
}

absl::StatusOr<std::optional<FlowResult>> DeployedFlow::Next(const std::string& output,
                                                             absl::Time deadline) {
  std::optional<FlowResult> result;
  {
    std::unique_lock lock(mutex_);
    WEIR_ASSIGN_OR_RETURN(ReceiveBuffer * buffer, FindOutput(output));
    WEIR_RETURN_IF_ERROR(AwaitLocked(
        &lock, deadline, [&] { return StrCat("records of output '", output, "'"); },
        [&] { return buffer->has_records() || buffer->is_finished(); }));
    result = buffer->Take();
    PostAck(buffer);
  }
  Flush();
  return result;
}

absl::Status DeployedFlow::AwaitComplete(const std::string& output, int64_t epoch,
                                         absl::Time deadline) {
  std::unique_lock lock(mutex_);
  WEIR_ASSIGN_OR_RETURN(ReceiveBuffer * buffer, FindOutput(output));
  if (buffer->IsComplete(epoch)) return absl::OkStatus();
  buffer->BeginWait();
  PostAck(buffer);
  lock.unlock();
  Flush();
  lock.lock();
  const absl::Status status = AwaitLocked(
      &lock, deadline, [&] { return StrCat("epoch ", epoch, " at output '", output, "'"); },
      [&] { return buffer->IsComplete(epoch); });
  buffer->EndWait();
  return status;
}

absl::StatusOr<RecordBatch> DeployedFlow::Collect(const std::string& output, int64_t epoch,
                                                  absl::Time deadline) {
  WEIR_RETURN_IF_ERROR(AwaitComplete(output, epoch, deadline));
  RecordBatch batch;
  {
    std::lock_guard lock(mutex_);
    ReceiveBuffer& buffer = outputs_.at(output);
    batch = buffer.TakeEpoch(epoch);
    PostAck(&buffer);
  }
  Flush();
  return batch;
}

std::vector<v1::FlowRecordFailure> DeployedFlow::TakeFailures() {
  std::lock_guard lock(mutex_);
  return std::exchange(failures_, {});
}

absl::StatusOr<int64_t> DeployedFlow::CompleteBefore(const std::string& output) const {
  std::lock_guard lock(mutex_);
  const auto buffer = outputs_.find(output);
  if (buffer == outputs_.end()) return NoPort(outputs_, output, "output");
  return buffer->second.epoch();
}

// ---- The flow ----

absl::StatusOr<v1::Job> DeployedFlow::AwaitEnd(absl::Time deadline) {
  std::unique_lock lock(mutex_);
  const absl::Status status = AwaitLocked(
      &lock, deadline, [] { return std::string("the end"); }, [&] { return ended_.has_value(); });
  WEIR_RETURN_IF_ERROR(status);
  return *ended_;
}

absl::StatusOr<std::string> DeployedFlow::Explain(const std::string& vertex) const {
  v1::ExplainFrontierRequest request;
  request.set_id(id_);
  request.set_vertex(vertex);
  WEIR_ASSIGN_OR_RETURN(const v1::ExplainFrontierResponse response,
                        session_->ExplainFrontier(request));
  return response.text();
}

std::vector<std::string> DeployedFlow::inputs() const { return *options_.inputs; }
std::vector<std::string> DeployedFlow::outputs() const { return *options_.outputs; }

absl::StatusOr<RecordType> DeployedFlow::TypeOf(const std::string& name) const {
  std::lock_guard lock(mutex_);
  if (const auto input = inputs_.find(name); input != inputs_.end()) return input->second.type();
  if (const auto output = outputs_.find(name); output != outputs_.end()) {
    return output->second.type();
  }
  return NoPort(outputs_, name, "input or output");
}

absl::StatusOr<int64_t> DeployedFlow::EpochOf(const std::string& input) const {
  std::lock_guard lock(mutex_);
  const auto buffer = inputs_.find(input);
  if (buffer == inputs_.end()) return NoPort(inputs_, input, "input");
  return buffer->second.epoch();
}

}  // namespace weir
