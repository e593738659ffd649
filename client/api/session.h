// A session with a cluster: what the command line, the Python package and programs use. Two forms:
// RemoteSession speaks gRPC with a coordinator elsewhere, the all-in-one launcher has one in the
// same process. Thread-safe.
//
//   std::unique_ptr<Session> session = *ConnectRemote({.address = "localhost:7077"});
//   v1::JobSpec spec = ...;                      // program, map, input names
//   v1::Job job = *session->Submit(spec, {image});
//   job = *session->Wait(job.id(), absl::Minutes(1));
//   std::vector<NamedTensor> results = *session->Result(job.id());
#ifndef WEIR_CLIENT_API_SESSION_H_
#define WEIR_CLIENT_API_SESSION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/api/flow_caller.h"
#include "client/api/flow_stream.h"
#include "common/tensor/tensor.h"
#include "weir/v1/service.pb.h"
#include "weir/v1/variables.pb.h"

namespace weir {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

struct ExplainResult {
  std::vector<v1::ExplainStage> stages;
  std::vector<v1::Fallback> fallbacks;
  std::vector<std::string> notes;
  int64_t compilations = 0;
};

class Session {
 public:
  virtual ~Session() = default;

  // `inputs` are in the order of spec.input_names(). A submitted job outlives the session. Errors:
  // INVALID_ARGUMENT for a program or inputs that do not fit, ALREADY_EXISTS for a submission id
  // used with another spec, UNAVAILABLE.
  virtual absl::StatusOr<v1::SubmitResponse> Submit(const v1::JobSpec& spec,
                                                    const std::vector<Tensor>& inputs) = 0;
  // Runs a program that is known here, by spec.program_id(), at once and on the caller's thread,
  // without a job that could be asked for or cancelled. Returns: the results in the order of the
  // program's, with the bits that a job gives; nothing where a job is needed, is faster or will
  // fail, and then nothing has happened.
  virtual std::optional<std::vector<Tensor>> RunHere(const v1::JobSpec& spec,
                                                     const std::vector<Tensor>& inputs) {
    return std::nullopt;
  }
  virtual absl::StatusOr<v1::Job> Get(const std::string& id) = 0;
  virtual absl::StatusOr<std::vector<v1::Job>> List() = 0;
  // Returns: the job once it has ended, or as it is after `limit`.
  virtual absl::StatusOr<v1::Job> Wait(const std::string& id, absl::Duration limit) = 0;
  // FAILED_PRECONDITION for a job that has not succeeded.
  virtual absl::StatusOr<std::vector<NamedTensor>> Result(const std::string& id) = 0;
  // Says that nobody asks for the results of this job again: their memory is free. A coordinator
  // elsewhere keeps results within its own limits.
  virtual void Release(const std::string& id) {}
  virtual absl::StatusOr<v1::Job> Cancel(const std::string& id) = 0;
  // Calls `on_entry` for each line from `offset` on; with `follow` until the job has ended.
  enum class LogMode { kSoFar, kFollow };
  virtual absl::Status Logs(const std::string& id, uint64_t offset, LogMode mode,
                            const std::function<void(const v1::LogEntry&)>& on_entry) = 0;
  // --- Variables: values that stay on workers between runs; spec.variable_inputs() and
  // spec.variable_outputs() name them by their ids. They outlive the session of a cluster
  // elsewhere. Errors: UNAVAILABLE without a worker, RESOURCE_EXHAUSTED, ALREADY_EXISTS for a
  // submission id used with another value.
  virtual absl::StatusOr<v1::Variable> CreateVariable(const v1::NewVariable& request,
                                                      const Tensor& value) = 0;
  // Returns: the value that the last run which has succeeded left; nobody else has its memory.
  // Errors: NOT_FOUND, ABORTED for one that is lost.
  virtual absl::StatusOr<Tensor> ReadVariable(const std::string& id) = 0;
  // FAILED_PRECONDITION while a job that has not ended uses it.
  virtual absl::Status DeleteVariable(const std::string& id) = 0;
  virtual absl::StatusOr<std::vector<v1::Variable>> ListVariables() = 0;

  // --- Flows: jobs that stay deployed; deployed_flow.h feeds them and takes what comes out.
  // A deployed flow outlives the session. Errors: INVALID_ARGUMENT with the place in the text,
  // ALREADY_EXISTS as Submit.
  virtual absl::StatusOr<v1::DeployResponse> Deploy(const v1::DeployRequest& request) = 0;
  virtual absl::StatusOr<std::unique_ptr<FlowStream>> Attach(const v1::FlowAttach& request) = 0;
  // One record into a flow, without attaching to it: its columns, and those of the record that
  // comes out for it. Calls of many threads and clients run together (automatic batching).
  // `request` has no record. Errors: INVALID_ARGUMENT for a record of other types, that of the
  // record's function, ABORTED once the flow has ended.
  virtual absl::StatusOr<std::vector<Tensor>> CallFlow(const v1::CallFlowRequest& request,
                                                       const std::vector<Tensor>& record) = 0;
  // The same for a client that calls often: a call costs a fraction. `request` has no record; what
  // is wrong with it is the answer of each call.
  virtual std::unique_ptr<FlowCaller> OpenCaller(const v1::CallFlowRequest& request) = 0;
  virtual absl::StatusOr<v1::FlowStatus> GetFlow(const std::string& id) = 0;
  virtual absl::StatusOr<std::vector<v1::FlowStatus>> ListFlows() = 0;
  virtual absl::StatusOr<v1::ExplainFrontierResponse> ExplainFrontier(
      const v1::ExplainFrontierRequest& request) = 0;

  virtual absl::StatusOr<ExplainResult> Explain(const v1::Program& program) = 0;
  virtual absl::StatusOr<std::vector<v1::Worker>> Workers() = 0;
  virtual absl::StatusOr<v1::Info> GetInfo() = 0;
};

// True for states that never change again.
bool IsTerminal(v1::Job::State state);

}  // namespace weir

#endif  // WEIR_CLIENT_API_SESSION_H_
