// Automatic batching: requests of one record each, from many clients, go into a flow together and
// are answered one by one. It is the client of one input and one output of the flow: what waits
// when an epoch may begin is that epoch, so requests that come together run as one vectorized
// execution.
//
// An epoch begins once `max_records` wait, or the oldest request has waited `max_wait`, while fewer
// than `max_epochs` are under way; without `max_wait`, as soon as none is. Each record has its
// number in the epoch as its origin, which its answer brings back; so an answer depends on nothing
// but its request. A record whose function fails (map with on_failure = "drop") fails alone.
//
// Thread-safe. Callbacks run on a thread of the coordinator or on that of a caller, with no lock
// held.
#ifndef WEIR_SERVER_FLOWS_REQUEST_BATCHER_H_
#define WEIR_SERVER_FLOWS_REQUEST_BATCHER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/flow/record_batch.h"
#include "common/net/event_loop.h"
#include "server/flows/flow_gateway.h"

namespace weir {

struct BatchingOptions {
  std::string flow;  // id of its job
  std::string input;
  std::string output;
  int64_t max_records = 64;
  absl::Duration max_wait = absl::ZeroDuration();
  int max_epochs = 2;
  size_t max_waiting = 10'000;  // requests; more are refused
};

class RequestBatcher : public std::enable_shared_from_this<RequestBatcher> {
 public:
  // The columns of the record that came out for the request.
  using OnAnswer = std::function<void(absl::StatusOr<std::vector<Tensor>> columns)>;

  // Attaches to the flow. Errors: as FlowGateway::Attach. `loop` is for waiting.
  static absl::StatusOr<std::shared_ptr<RequestBatcher>> Make(FlowGateway gateway,
                                                              BatchingOptions options,
                                                              std::shared_ptr<EventLoop> loop);
  ~RequestBatcher();

  // Answers with InvalidArgument a record of other types, ResourceExhausted while too many wait,
  // Aborted when the flow has ended, and the error of the record itself.
  void Call(std::vector<Tensor> record, OnAnswer on_answer);

  // Why nothing is answered any more; OK while the flow runs.
  absl::Status over() const;
  int64_t epochs() const;

 private:
  struct Request {
    std::vector<Tensor> record;
    OnAnswer on_answer;
    absl::Time came;
  };
  struct Answer {
    OnAnswer on_answer;
    absl::StatusOr<std::vector<Tensor>> columns;
  };
  // Requests of an epoch by origin; those that are answered are empty.
  using Epoch = std::vector<OnAnswer>;

  RequestBatcher(FlowGateway gateway, BatchingOptions options, std::shared_ptr<EventLoop> loop);

  // Reads what came and sends what is due, on one thread at a time.
  void Pump();
  // Each returns whether there was something to do.
  bool TakeOne();
  bool SendOne();
  void TakeRecords(const v1::FlowRecords& records, const std::vector<Tensor>& tensors);
  void TakeComplete(const v1::FlowComplete& complete);
  void TakeFailed(const v1::FlowRecordFailure& failure);
  void End(const absl::Status& why);
  // REQUIRES: mutex_ is held.
  bool IsDue(absl::Time now) const;
  absl::Status CheckRecord(const std::vector<Tensor>& record) const;
  ToFlow RecordsOf(const std::vector<Request>& requests, int64_t epoch);
  void AddAnswer(int64_t epoch, int64_t origin, absl::StatusOr<std::vector<Tensor>> columns);
  void GiveAnswers();

  const FlowGateway gateway_;
  const BatchingOptions options_;
  const std::shared_ptr<EventLoop> loop_;
  uint64_t attachment_ = 0;

  mutable std::mutex mutex_;  // guards all of the rest
  absl::Status over_;
  bool is_attached_ = false;
  RecordType input_type_;
  RecordType output_type_;
  std::deque<Request> waiting_;
  std::map<int64_t, Epoch> epochs_;  // under way
  std::vector<Answer> answers_;      // to give without the lock
  int64_t next_epoch_ = 0;
  uint64_t next_number_ = 1;  // of messages to the input
  bool pumps_ = false;        // some thread is at it
  bool pump_again_ = false;
  bool waits_for_time_ = false;
};

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_REQUEST_BATCHER_H_
