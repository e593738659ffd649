// A flow that this client feeds and whose outputs it takes. The flow outlives it. If the connection
// breaks, it is made again, and goes on where it was: nothing is fed twice or missed.
//
// Thread-safe; one thread of its own waits for the coordinator.
//
//   v1::DeployRequest request;
//   request.set_flow(text);
//   const std::string id = session->Deploy(request)->job().id();
//   auto flow = *DeployedFlow::Attach(session, id, {}, deadline);
//   flow->Send("words", 0, {words}, deadline);
//   flow->Advance("words", 1);                          // epoch 0 is all there
//   RecordBatch counts = *flow->Collect("out", 0, deadline);
//   flow->CloseInput("words");
//   v1::Job job = *flow->AwaitEnd(deadline);
#ifndef WEIR_CLIENT_API_DEPLOYED_FLOW_H_
#define WEIR_CLIENT_API_DEPLOYED_FLOW_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/api/receive_buffer.h"
#include "client/api/send_buffer.h"
#include "client/api/session.h"

namespace weir {

struct AttachOptions {
  std::string client;  // a name for messages; empty: a fresh one
  // What to feed and to take; nothing: all.
  std::optional<std::vector<std::string>> inputs;
  std::optional<std::vector<std::string>> outputs;
  // How long to try to make a broken connection again.
  absl::Duration reattach_for = absl::Seconds(30);
};

class DeployedFlow {
 public:
  // Waits until the flow runs. Errors: NotFound, FailedPrecondition (another client is attached to
  // an input or output), DeadlineExceeded, those of the session.
  static absl::StatusOr<std::unique_ptr<DeployedFlow>> Attach(std::shared_ptr<Session> session,
                                                              std::string id, AttachOptions options,
                                                              absl::Time deadline);
  // Detaches; the flow goes on. Whether what was sent last has come there, AwaitTaken tells.
  ~DeployedFlow();

  const std::string& id() const { return id_; }
  std::vector<std::string> inputs() const;
  std::vector<std::string> outputs() const;
  // Errors: NotFound.
  absl::StatusOr<RecordType> TypeOf(const std::string& input_or_output) const;
  // The epoch that is open.
  absl::StatusOr<int64_t> EpochOf(const std::string& input) const;

  // --- Feeding. Errors, here and below: NotFound, no such input or output; InvalidArgument and
  // FailedPrecondition as SendBuffer; why the flow or the connection is over.
  // Each column has an axis of records in front. Waits while the flow has too much that it has not
  // consumed; DeadlineExceeded then.
  absl::Status Send(const std::string& input, int64_t epoch, std::vector<Tensor> columns,
                    absl::Time deadline);
  // As batch.weights says; its origins are of no interest.
  absl::Status Send(const std::string& input, int64_t epoch, RecordBatch batch,
                    absl::Time deadline);
  absl::Status Advance(const std::string& input, int64_t epoch);
  absl::Status CloseInput(const std::string& input);
  // Waits until the coordinator has taken all that was sent to an input.
  absl::Status AwaitTaken(const std::string& input, absl::Time deadline);

  // --- Taking.
  // Returns: the oldest records that were not taken; nothing if no more can come.
  absl::StatusOr<std::optional<FlowResult>> Next(const std::string& output, absl::Time deadline);
  // Waits until all records of the epoch, and of those before, have come out.
  absl::Status AwaitComplete(const std::string& output, int64_t epoch, absl::Time deadline);
  // Returns: all records of the epoch that were not taken, once they are complete.
  absl::StatusOr<RecordBatch> Collect(const std::string& output, int64_t epoch,
                                      absl::Time deadline);
  // Records that were left out since the last call, as a function failed for them (on_failure =
  // "drop"); beyond a thousand, the first of them. Those of an epoch are there when it is complete.
  std::vector<v1::FlowRecordFailure> TakeFailures();
  // Epochs before this one are complete.
  absl::StatusOr<int64_t> CompleteBefore(const std::string& output) const;

  // --- The flow.
  // Returns: the job once it has ended and all that came out was sent here.
  absl::StatusOr<v1::Job> AwaitEnd(absl::Time deadline);
  absl::StatusOr<std::string> Explain(const std::string& vertex) const;
  absl::StatusOr<v1::Job> Cancel() { return session_->Cancel(id_); }

 private:
  DeployedFlow(std::shared_ptr<Session> session, std::string id, AttachOptions options);

  // --- Only the thread that waits for the coordinator.
  void Listen();
  absl::Status Reconnect();
  absl::Status OnAttached(const v1::FlowAttached& attached);
  absl::Status OnMessage(FromFlow message);
  v1::FlowAttach Request() const;

  // Sends what is in the outbox, unless another thread does.
  void Flush();
  void Post(ToFlow message);
  void PostAck(ReceiveBuffer* output);
  // REQUIRES: the lock; `done` only looks. Waits until it is so; errors as above.
  absl::Status AwaitLocked(std::unique_lock<std::mutex>* lock, absl::Time deadline,
                           const std::function<std::string()>& what,
                           const std::function<bool()>& done);
  absl::Status WhyOver() const;
  absl::StatusOr<SendBuffer*> FindInput(const std::string& name);
  absl::StatusOr<ReceiveBuffer*> FindOutput(const std::string& name);

  const std::shared_ptr<Session> session_;
  const std::string id_;
  AttachOptions options_;

  std::mutex send_mutex_;     // whoever sends; taken before the other one
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::shared_ptr<FlowStream> stream_;
  std::deque<ToFlow> outbox_;
  std::map<std::string, SendBuffer> inputs_;
  std::map<std::string, ReceiveBuffer> outputs_;
  std::vector<v1::FlowRecordFailure> failures_;
  bool is_attached_ = false;
  bool is_closing_ = false;
  std::optional<v1::Job> ended_;
  absl::Status over_;  // why nothing comes any more
  std::thread listener_;
};

}  // namespace weir

#endif  // WEIR_CLIENT_API_DEPLOYED_FLOW_H_
