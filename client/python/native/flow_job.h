// A deployed flow as the Python package sees it. Calls that wait do so without the interpreter's
// lock, and look for Ctrl-C. Usable from any thread that holds the interpreter lock.
#ifndef WEIR_CLIENT_PYTHON_NATIVE_FLOW_JOB_H_
#define WEIR_CLIENT_PYTHON_NATIVE_FLOW_JOB_H_

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/api/deployed_flow.h"

namespace weir::python {

// Seconds; none: without end.
using Timeout = std::optional<double>;

class FlowJob {
 public:
  // Attaches to a flow that is deployed, and waits until it runs.
  // To these inputs and outputs; nothing: all.
  using Names = std::optional<std::vector<std::string>>;
  FlowJob(std::shared_ptr<Session> session, std::string id, const Names& inputs,
          const Names& outputs);
  ~FlowJob() { Detach(); }

  const std::string& id() const { return id_; }
  std::vector<std::string> inputs() const { return Use().flow().inputs(); }
  std::vector<std::string> outputs() const { return Use().flow().outputs(); }
  // The columns of an input or output: [(element type, shape)].
  pybind11::list Types(const std::string& name) const;

  void Send(const std::string& input, int64_t epoch, const pybind11::sequence& columns,
            const pybind11::object& weights, Timeout timeout);
  int64_t EpochOf(const std::string& input) const;
  void Advance(const std::string& input, int64_t epoch);
  void CloseInput(const std::string& input);

  // Returns: (epoch, columns, weights), the oldest that was not taken; None if no more can come.
  pybind11::object Next(const std::string& output, Timeout timeout);
  // The same with all records of the next complete epoch that has some, equal ones as one.
  pybind11::object NextEpoch(const std::string& output, Timeout timeout);
  void AwaitComplete(const std::string& output, int64_t epoch, Timeout timeout);
  // Raises if the flow failed or was cancelled.
  void AwaitEnd(Timeout timeout);

  // Records that were left out since the last call: [(epoch, number in the epoch, message)].
  pybind11::list TakeFailures();

  // Of an input, output or probe: epochs before this one are complete; None: all are.
  pybind11::object Frontier(const std::string& name) const;
  std::string Explain(const std::string& vertex) const;
  void Cancel();
  // Later calls raise; the flow goes on.
  void Detach();

 private:
  using Pending = std::map<int64_t, std::vector<RecordBatch>>;  // by epoch

  struct Attached {
    std::shared_ptr<Session> session;
    std::unique_ptr<DeployedFlow> flow;
  };
  // Keeps the flow for a call. Whoever lets go of it last does so without the interpreter's lock,
  // which threads of the flow may wait for.
  class Held {
   public:
    explicit Held(std::shared_ptr<Attached> attached) : attached_(std::move(attached)) {}
    Held(Held&&) = default;
    ~Held();
    Session& session() const { return *attached_->session; }
    DeployedFlow& flow() const { return *attached_->flow; }

   private:
    std::shared_ptr<Attached> attached_;
  };

  // Raises if it is detached.
  Held Use() const;
  absl::StatusOr<std::optional<FlowResult>> TakeEpoch(DeployedFlow& flow, const std::string& output,
                                                      absl::Time deadline);
  void Keep(const std::string& output, FlowResult result);
  // Takes the first epoch before `epoch` that is kept.
  std::optional<FlowResult> TakeBefore(const std::string& output, int64_t epoch,
                                       const RecordType& type);

  const std::string id_;
  std::shared_ptr<Attached> attached_;  // null once detached
  std::mutex mutex_;                    // guards pending_
  std::map<std::string, Pending> pending_;
};

// Adds FlowJob to the module.
void BindFlowJob(pybind11::module_& module);

}  // namespace weir::python

#endif  // WEIR_CLIENT_PYTHON_NATIVE_FLOW_JOB_H_
