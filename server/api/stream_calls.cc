#include <atomic>
#include <utility>

#include "common/base/status.h"
#include "common/plan/tensor_chunks.h"
#include "server/api/calls.h"

namespace weir {
namespace {

class ResultCall : public WriteCall<v1::ResultResponse> {
 public:
  explicit ResultCall(const ServiceContext& context) : WriteCall(context, "Jobs.Result") {}

  void Begin(const std::string& id) {
    absl::StatusOr<JobOutcome> outcome = coordinator().Result(id);
    if (!outcome.ok()) return End(outcome.status());
    chunks_ = std::make_unique<ChunkCutter>(std::move(outcome->results),
                                            coordinator().limits().chunk_bytes);
    *message_.mutable_job() = std::move(outcome->job);
    Write();
  }

 private:
  void Continue() override {
    message_.Clear();
    if (!chunks_->Next(message_.mutable_output())) return End(absl::OkStatus());
    Write();
  }

  std::unique_ptr<ChunkCutter> chunks_;
};

class LogsCall : public WriteCall<v1::LogsResponse> {
 public:
  LogsCall(const ServiceContext& context, const v1::LogsRequest& request)
      : WriteCall(context, "Jobs.Logs"),
        id_(request.id()),
        follow_(request.follow()),
        offset_(request.offset()) {}

  // Sends what there is, or waits for more.
  void Continue() override {
    if (ended()) return;
    // The state is asked for first: what is logged after it was read is not missed.
    absl::StatusOr<v1::Job> job = coordinator().Get(id_);
    if (!job.ok()) return End(job.status());
    absl::StatusOr<std::vector<v1::LogEntry>> entries = coordinator().Logs(id_, offset_);
    if (!entries.ok()) return End(entries.status());
    if (!entries->empty()) return Send(*std::move(entries));
    if (!follow_ || HasEnded(job->state())) return End(absl::OkStatus());
    absl::StatusOr<uint64_t> waiter = coordinator().WhenChanged(
        id_, offset_, [self = SharedCall(this)](JobOutcome) { self->Continue(); });
    if (!waiter.ok()) return End(waiter.status());
    waiter_.store(*waiter);
  }

 private:
  void Send(std::vector<v1::LogEntry> entries) {
    message_.Clear();
    offset_ = entries.back().offset() + 1;
    for (v1::LogEntry& entry : entries) *message_.add_entries() = std::move(entry);
    Write();
  }

  void OnGone() override { coordinator().StopWaiting(waiter_.load()); }

  const std::string id_;
  const bool follow_;
  uint64_t offset_;
  std::atomic<uint64_t> waiter_{0};
};

class ExplainCall : public WriteCall<v1::ExplainResponse> {
 public:
  explicit ExplainCall(const ServiceContext& context) : WriteCall(context, "Compiler.Explain") {}

  void Begin(const v1::Program& program) {
    coordinator().Explain(program,
                          [self = SharedCall(this)](absl::StatusOr<Explanation> explanation) {
                            if (!explanation.ok()) return self->End(explanation.status());
                            self->explanation_ = *std::move(explanation);
                            self->Continue();
                          });
  }

 private:
  void Continue() override {
    if (ended()) return;
    message_.Clear();
    if (next_ < explanation_.stages.size()) {
      *message_.mutable_stage() = std::move(explanation_.stages[next_++]);
      return Write();
    }
    if (summed_up_) return End(absl::OkStatus());
    summed_up_ = true;
    for (const v1::Fallback& fallback : explanation_.fallbacks)
      *message_.add_fallbacks() = fallback;
    for (const std::string& note : explanation_.notes) message_.add_notes(note);
    message_.set_compilations(explanation_.compilations);
    Write();
  }

  Explanation explanation_;
  size_t next_ = 0;
  bool summed_up_ = false;
};

}  // namespace

grpc::ServerWriteReactor<v1::ResultResponse>* BeginResult(const ServiceContext& context,
                                                          grpc::CallbackServerContext* call,
                                                          const v1::JobRequest* request) {
  auto result = MakeCall<ResultCall>(context);
  result->Begin(request->id());
  return result.get();
}

grpc::ServerWriteReactor<v1::LogsResponse>* BeginLogs(const ServiceContext& context,
                                                      grpc::CallbackServerContext* call,
                                                      const v1::LogsRequest* request) {
  auto logs = MakeCall<LogsCall>(context, *request);
  logs->Continue();
  return logs.get();
}

grpc::ServerWriteReactor<v1::ExplainResponse>* BeginExplain(const ServiceContext& context,
                                                            grpc::CallbackServerContext* call,
                                                            const v1::ExplainRequest* request) {
  auto explain = MakeCall<ExplainCall>(context);
  explain->Begin(request->program());
  return explain.get();
}

}  // namespace weir
