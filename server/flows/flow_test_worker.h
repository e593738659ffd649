// A worker that does a flow's part of progress tracking as a real one does; for tests. The flow
// copies what comes to its input to its output, through a map where records wait until a test lets
// them go.
#ifndef WEIR_SERVER_FLOWS_FLOW_TEST_WORKER_H_
#define WEIR_SERVER_FLOWS_FLOW_TEST_WORKER_H_

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "common/flow/flow_wire.h"
#include "gtest/gtest.h"
#include "server/jobs/core_test_harness.h"
#include "server/progress/progress_test_harness.h"

namespace weir {

inline constexpr char kCopy[] = R"(
  func @same(%x: i64[]) -> (i64[]) {
    return %x
  }
  flow @copy {
    %in = input() {types = ["i64[]"]}
    %mid = map(%in) {function = "same"}
    %out = output(%mid)
    %seen = probe(%mid)
  })";

// The copies of the vertices of kCopy on one worker.
class FlowTestWorker {
 public:
  FlowTestWorker(std::shared_ptr<const Topology> topology, const v1::DeployFlow& deploy)
      : deploy(deploy), topology_(topology), progress_(std::move(topology), deploy.grants()) {}

  // Notes what the coordinator sent for the flow.
  void Take(const SentToWorker& sent) {
    if (!IsMine(sent.message)) return;
    if (sent.message.has_frontiers()) progress_.Take(sent.message.frontiers());
    if (sent.message.has_feed_flow()) Feed(sent);
    if (sent.message.has_advance_flow()) Advance(sent.message.advance_flow());
    if (sent.message.has_flow_output_taken()) taken += sent.message.flow_output_taken().bytes();
    stopped = stopped || sent.message.has_stop_flow();
  }

  // The map runs for one batch that waits. Returns: what the worker says.
  std::vector<std::pair<v1::WorkerMessage, std::vector<Tensor>>> RunOne() {
    std::vector<std::pair<v1::WorkerMessage, std::vector<Tensor>>> said;
    auto [time, batch] = std::move(waiting.front());
    waiting.pop_front();
    v1::WorkerMessage output;
    v1::FlowOutput* out = Label(output.mutable_flow_output());
    out->set_vertex(2);
    out->set_epoch(time.epoch());
    *out->mutable_batch() = HeaderOf(batch);
    said.emplace_back(output, PayloadsOf(batch));
    v1::WorkerMessage consumed;
    Label(consumed.mutable_flow_consumed())->set_bytes(batch.bytes());
    said.emplace_back(consumed, std::vector<Tensor>());
    progress_.Report({{{topology_->input(VertexId(1), 0), time}, -1}});
    said.emplace_back(Flush(), std::vector<Tensor>());
    return said;
  }

  v1::WorkerMessage Flush() {
    v1::WorkerMessage message;
    *message.mutable_progress() = progress_.Flush();
    return message;
  }

  const v1::DeployFlow deploy;
  std::deque<std::pair<Timestamp, RecordBatch>> waiting;  // for the map
  int64_t taken = 0;
  bool stopped = false;

 private:
  template <class Message>
  Message* Label(Message* message) const {
    message->set_job(deploy.job());
    message->set_generation(deploy.generation());
    return message;
  }

  // Flows that came before are of no interest any more.
  bool IsMine(const v1::CoordinatorMessage& message) const {
    if (message.has_frontiers()) return message.frontiers().job() == deploy.job();
    if (message.has_feed_flow()) return message.feed_flow().job() == deploy.job();
    if (message.has_advance_flow()) return message.advance_flow().job() == deploy.job();
    if (message.has_stop_flow()) return message.stop_flow().job() == deploy.job();
    return true;
  }

  void Feed(const SentToWorker& sent) {
    const v1::FeedFlow& feed = sent.message.feed_flow();
    auto batch = BatchFrom(feed.batch(), sent.payloads, {*TensorType::Parse("i64[]")}, "fed");
    ASSERT_TRUE(batch.ok()) << batch.status();
    const Timestamp time = {feed.epoch()};
    progress_.Report({{{topology_->input(VertexId(1), 0), time}, 1}});
    waiting.emplace_back(time, *std::move(batch));
  }

  void Advance(const v1::AdvanceFlow& advance) {
    const LocationId source = topology_->output(VertexId(0), 0);
    std::vector<Change> changes = {{{source, {epoch_}}, -1}};
    if (!advance.closed()) changes.push_back({{source, {advance.epoch()}}, 1});
    epoch_ = advance.epoch();
    progress_.Report(std::move(changes));
  }

  const std::shared_ptr<const Topology> topology_;
  ProgressTestWorker progress_;
  int64_t epoch_ = 0;
};

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_FLOW_TEST_WORKER_H_
