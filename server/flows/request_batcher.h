// Automatic batching: requests of one record each, from many clients, go into a flow together and
// are answered one by one. It is the client of one input and one output of the flow: what waits
// when an epoch may begin is that epoch, so requests that come together run as one vectorized
// execution.
//
// An epoch begins once `max_records` wait, or the oldest request has waited `max_wait`, while fewer
// than `max_epochs` are under way. Without `max_wait` it begins when its share waits of all
// requests that are here or likely to return, as others that were answered just now have: with
// three epochs nearly a third, so that one runs and one is there for the next thread while the
// answers of the last go out and its clients come back. If nobody comes for a moment, a fourth part
// is enough, and whatever waits once no epoch is under way. An epoch that takes several times as
// long as others did is not counted, so it holds up none of those that come later. Each record has
// its number in the epoch as its origin, which its answer brings back; so an answer depends on
// nothing but its request. A record whose function fails (map with on_failure = "drop") fails
// alone.
//
// An answer is given when it comes out. That none comes out for a request is known when its epoch
// is complete at the output, which other inputs that lead there hold up while they are open. Once
// nothing else goes on that could still bring an answer, it is refused after `held_for`, and the
// error names those inputs.
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
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/str_cat.h"
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
  int max_epochs = 3;
  size_t max_slow_epochs = 64;  // that are not counted; then all are
  size_t max_waiting = 10'000;  // requests; more are refused
  absl::Duration held_for = absl::Seconds(1);
};

class RequestBatcher : public std::enable_shared_from_this<RequestBatcher> {
 public:
  // The columns of the record that came out for the request.
  using OnAnswer = std::function<void(absl::StatusOr<std::vector<Tensor>> columns)>;

  // Attaches to the flow. Errors: as FlowGateway::CheckCalls and Attach. `loop` is for waiting.
  static absl::StatusOr<std::shared_ptr<RequestBatcher>> Make(FlowGateway gateway,
                                                              BatchingOptions options,
                                                              std::shared_ptr<EventLoop> loop);
  ~RequestBatcher();

  // Answers with InvalidArgument a record of other types, ResourceExhausted while too many wait,
  // Aborted when the flow has ended, and the error of the record itself.
  void Call(std::vector<Tensor> record, OnAnswer on_answer);

  // Returns: "3 calls wait for others, up to 64; the first one has waited for 2s, of 5s at most";
  // empty if none waits.
  std::string Explain() const;

  const BatchingOptions& options() const { return options_; }
  // The name that it attaches with.
  static std::string ClientOf(std::string_view input) { return StrCat("batches of '", input, "'"); }
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
  struct Epoch {
    absl::Time began;
    std::vector<OnAnswer> requests;  // by origin; those that are answered are empty
    int64_t open = 0;                // that are not answered
  };
  using Epochs = std::map<int64_t, Epoch>;

  RequestBatcher(FlowGateway gateway, BatchingOptions options, std::shared_ptr<EventLoop> loop);

  // Something is there to be taken from the flow.
  void OnNews();
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
  // Returns: when the next epoch begins if nothing happens until then.
  absl::Time DueAt(absl::Time now) const;
  // Returns: when fewer than `count` epochs will be under way, not counting those that are slow by
  // then.
  absl::Time FewerAt(size_t count, absl::Time now) const;
  void WakeAt(absl::Time time, absl::Time now);
  // Looks now and then at epochs that other inputs may hold up.
  void LookSoon();
  // Refuses what nothing can answer any more while they are open.
  void RefuseHeld();
  void Refuse(int64_t epoch, const std::vector<std::string>& held_by);
  // It is over: all its requests are answered, or nothing more comes out of it.
  void Finish(Epochs::iterator epoch);
  // When what waits is enough for an epoch without `max_wait`, if nothing happens until then.
  absl::Time GatheredAt(absl::Time room, absl::Time now) const;
  // For how long to wait for the next request.
  absl::Duration Gather() const;
  // Whether so much waits of all requests that are here, or return.
  bool IsWaiting(double part) const;
  absl::Status CheckRecord(const std::vector<Tensor>& record) const;
  ToFlow RecordsOf(const std::vector<Request>& requests, int64_t epoch);
  void AddAnswer(int64_t epoch, int64_t origin, absl::StatusOr<std::vector<Tensor>> columns);
  void GiveAnswers();

  const FlowGateway gateway_;
  const BatchingOptions options_;
  const std::shared_ptr<EventLoop> loop_;
  uint64_t attachment_ = 0;
  bool has_others_ = false;  // inputs that may hold up what comes out

  mutable std::mutex mutex_;  // guards all of the rest
  absl::Status over_;
  bool is_attached_ = false;
  RecordType input_type_;
  RecordType output_type_;
  std::deque<Request> waiting_;
  size_t returning_ = 0;  // requests that were answered, and no other came in their place
  absl::Time answered_ = absl::InfinitePast();  // the last of them
  Epochs epochs_;                               // under way
  absl::Duration usual_;                        // how long one takes, of late
  std::vector<Answer> answers_;                 // to give without the lock
  int64_t next_epoch_ = 0;
  uint64_t next_number_ = 1;  // of messages to the input
  bool pumps_ = false;        // some thread is at it
  bool pump_again_ = false;
  bool has_news_ = false;    // that nobody has begun to take
  bool looks_soon_ = false;  // a time for it is set
  bool look_now_ = false;
  absl::Time wakes_at_ = absl::InfiniteFuture();
};

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_REQUEST_BATCHER_H_
