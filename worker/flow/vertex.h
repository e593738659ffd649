// A vertex at work: the copy of a flow's vertex on one worker, and its state. Owned by a FlowJob,
// which makes one call at a time for each vertex unless the vertex is stateless (then any number),
// on any thread; so no vertex has locks.
//
// A call is an activation: for a frame that has come, for a time that is complete, or, of a source,
// for what it reads from the world. It may run long, and whatever it asks of its VertexActivation
// happens afterwards, as one: the frame counts as outstanding until then. An activation that fails
// fails the job, and nothing of it is sent.
//
//   absl::Status OnFrame(int input, RecordBatch batch, VertexActivation* activation) override {
//     Keep(activation->time(), std::move(batch));
//     activation->NotifyAt(input, activation->time());   // when nothing more can come for it
//   }
//   absl::Status OnNotify(VertexActivation* activation) override {
//     activation->Send(0, activation->time(), Take(activation->time()));
//   }
#ifndef WEIR_WORKER_FLOW_VERTEX_H_
#define WEIR_WORKER_FLOW_VERTEX_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/flow/flow.h"
#include "common/flow/record_batch.h"
#include "common/flow/record_function.h"
#include "common/timely/timestamp.h"
#include "worker/flow/files/data_directories.h"

namespace weir {

// What one activation asks for. Filled by the vertex, read by the job.
class VertexActivation {
 public:
  struct Sent {
    int output = 0;
    Timestamp time;
    RecordBatch batch;
  };
  struct Request {
    int input = 0;
    Timestamp time;
  };
  struct FailedRecord {
    int64_t origin = 0;
    absl::Status why;
  };
  // What a copy found in the world, which all copies must find alike.
  struct Agreement {
    std::string digest;
    std::string what;  // for people, if the digests differ
  };

  // `time` is that of the frame, in the scope of the inputs, or the one that is complete, or, of a
  // source, the one from which on it may send.
  explicit VertexActivation(Timestamp time) : time_(std::move(time)) {}

  const Timestamp& time() const { return time_; }

  // Sends records at a time in the scope of the output, not before what the vertex's summary makes
  // of time(). Without records nothing is sent.
  void Send(int output, Timestamp time, RecordBatch batch) {
    sent_.push_back({output, std::move(time), std::move(batch)});
  }
  // Asks for OnNotify when no frame at this time or before can come to any input any more. `time`
  // is not before time(). Once for each time, however often it is asked for. `input`: the one that
  // the frame came from; in OnNotify, any.
  void NotifyAt(int input, Timestamp time) { requests_.push_back({input, std::move(time)}); }
  // In OnNotify: there is more to do at this time. What was sent goes out, others have their turn,
  // and OnNotify is called again for the same time, before any later one.
  void Continue() { continues_ = true; }
  // In OnTurn: nothing before this epoch comes out of the source any more; it is called again. An
  // epoch before time() changes nothing.
  void Advance(int64_t epoch) { next_epoch_ = epoch; }
  // In OnTurn: nothing comes out any more; it is not called again.
  void Close() { closes_ = true; }
  // The flow fails if a copy on another worker says another digest. Once, in OnTurn: no epoch is
  // complete before all have said theirs.
  void Agree(std::string digest, std::string what) {
    agreement_ = Agreement{std::move(digest), std::move(what)};
  }
  // Records that a bound of a loop kept from going on.
  void CountDropped(int64_t records) { dropped_ += records; }
  // The record of this origin failed and is left out.
  void FailRecord(int64_t origin, absl::Status why) { failed_.push_back({origin, std::move(why)}); }
  // A line for the job's log.
  void Log(std::string line) { lines_.push_back(std::move(line)); }

  std::vector<Sent>& sent() { return sent_; }
  const std::vector<Sent>& sent() const { return sent_; }
  std::vector<Request>& requests() { return requests_; }
  std::vector<std::string>& lines() { return lines_; }
  const std::vector<FailedRecord>& failed() const { return failed_; }
  const std::optional<Agreement>& agreement() const { return agreement_; }
  bool continues() const { return continues_; }
  int64_t next_epoch() const { return next_epoch_; }
  bool closes() const { return closes_; }
  int64_t dropped() const { return dropped_; }

 private:
  const Timestamp time_;
  std::vector<Sent> sent_;
  std::vector<Request> requests_;
  std::vector<std::string> lines_;
  std::vector<FailedRecord> failed_;
  std::optional<Agreement> agreement_;
  int64_t dropped_ = 0;
  int64_t next_epoch_ = 0;
  bool continues_ = false;
  bool closes_ = false;
};

// When OnNotify is called for times that are complete.
enum class NotifyOrder {
  // No frame at this time or before can come any more; among several that are, the least first.
  kCausal,
  // And none that is less in the total order (epoch first, then trips): state that outlives a time
  // sees times in one order, whatever the timing.
  kSequential,
};

class Vertex {
 public:
  virtual ~Vertex() = default;

  virtual absl::Status OnFrame(int input, RecordBatch batch, VertexActivation* activation) = 0;
  // REQUIRES: the vertex has asked for notifications.
  virtual absl::Status OnNotify(VertexActivation* activation) { return absl::OkStatus(); }
  // Of a vertex without inputs, instead of both: does some of its work, and says how far it is
  // (Advance, Close). Called again and again until it closes, as long as there is room for what it
  // sends.
  virtual absl::Status OnTurn(VertexActivation* activation) { return absl::OkStatus(); }
  // No frame at `time` or before comes any more, nor a notification: state of it may go. Only told
  // to vertices that keeps_state(). Returns: how many records waited there in vain.
  virtual int64_t OnOver(const Timestamp& time) { return 0; }
  // The same of a time of the scope around, for vertices that keeps_outer_state().
  virtual void OnOuterComplete(const Timestamp& time) {}

  // Nothing is kept between activations, so several may run at the same time.
  virtual bool is_stateless() const { return false; }
  // Calls may wait for a disk, so they never run on the event loop.
  virtual bool may_wait() const { return false; }
  virtual NotifyOrder notify_order() const { return NotifyOrder::kCausal; }
  // There is state of times of which no notification was asked for.
  virtual bool keeps_state() const { return false; }
  // There is state that lives as long as the outer time: as the loop around goes on.
  virtual bool keeps_outer_state() const { return false; }
  // What is kept between activations.
  virtual int64_t state_bytes() const { return 0; }
  // Of records that are kept on disk.
  virtual int64_t spilled_bytes() const { return 0; }
};

// What a vertex is made from.
struct VertexSetup {
  const Flow* flow = nullptr;  // outlives the vertex
  VertexId id;
  int rank = 0;
  int workers = 1;
  // Of each function that an attribute names, by attribute.
  std::map<std::string, std::shared_ptr<const RecordFunction>, std::less<>> functions;
  DataDirectories data;  // what it may read and write

  const FlowVertex& vertex() const { return flow->vertex(id); }
};

// Whether vertices of this kind run records here.
bool HasVertex(std::string_view kind);
// Returns: the copy of the vertex for this worker. Errors: Unimplemented, a kind that does not run
// records here (inputs and outputs are the job's). Who makes it says which vertex it is.
absl::StatusOr<std::unique_ptr<Vertex>> MakeVertex(const VertexSetup& setup);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_VERTEX_H_
