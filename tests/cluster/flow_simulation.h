// A cluster that runs one flow, without threads, clocks or sockets: the workers' flow tables and
// the coordinator's progress tracking as they are, and between them messages that wait as long as a
// seed says. Links are FIFO and independent of each other; calls of vertices end in any order.
#ifndef WEIR_TESTS_CLUSTER_FLOW_SIMULATION_H_
#define WEIR_TESTS_CLUSTER_FLOW_SIMULATION_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/flow/flow.h"
#include "common/flow/reference_flow.h"
#include "server/progress/job_progress.h"
#include "worker/flow/flow_table.h"

namespace weir {

// What the client does next: records of an epoch, or (without a batch) the epoch begins.
struct FeedStep {
  VertexId input;
  int64_t epoch = 0;
  std::optional<RecordBatch> batch;
};

// A message between two workers that has not come yet.
struct PeerMail {
  v1::PeerMessage message;
  std::vector<Tensor> payloads;
};

class FlowSimulation {
 public:
  struct Options {
    int workers = 1;
    uint64_t seed = 1;
    int64_t channel_bytes = int64_t{4} << 20;
    // Frames of so many bytes fill a link between two workers; 0: none does.
    int64_t link_bytes = 0;
    uint64_t generation = 1;
    // By name, in place of those of the flow.
    std::map<std::string, std::shared_ptr<const RecordFunction>, std::less<>> functions = {};
    // Of each worker, what its flows may keep in memory; 0: as much as they like.
    int64_t memory_bytes = 0;
  };
  // Records of an output, by epoch.
  using Outputs = std::map<VertexId, std::map<int64_t, std::vector<RecordBatch>>>;

  FlowSimulation(std::shared_ptr<const Flow> flow, Options options);
  ~FlowSimulation();

  // Feeds the steps in order, then closes all inputs, as time goes by (Run).
  void Feed(std::vector<FeedStep> steps);
  // The same, but inputs stay open: more may be fed.
  void FeedOpen(std::vector<FeedStep> steps);
  // One thing of those that can happen. Returns: whether there was one.
  bool Step();
  void Run() {
    while (Step()) continue;
  }

  // The client wants to be done with the flow.
  void Cancel();

  const Outputs& outputs() const { return outputs_; }
  // As the oracle gives them.
  FlowOutputs NamedOutputs() const;
  const std::vector<v1::FlowRecordFailed>& failed_records() const { return failed_records_; }
  // The first failure that a worker told, or what the coordinator noticed.
  const absl::Status& failure() const { return failure_; }
  const JobProgress& progress() const { return *progress_; }
  FlowTable& table(int rank);
  // What is under way between two workers.
  std::deque<PeerMail>& mail(int from, int to);
  // Messages and calls of workers that had been told to stop.
  int64_t sent_after_stop() const;
  int64_t peer_frames() const { return peer_frames_; }
  int64_t most_queued_bytes() const { return most_queued_bytes_; }
  // On the way from one worker to another.
  int64_t most_link_bytes() const { return most_link_bytes_; }
  int64_t steps() const { return steps_; }

 private:
  class Worker;
  enum class Event { kToWorker, kToCoordinator, kToPeer, kRoom, kCall, kWork, kPropagate, kFeed };
  struct Choice {
    Event event;
    int a = 0;
    int b = 0;
  };

  std::vector<Choice> Choices();
  void Do(const Choice& choice);
  void TakeAtPeer(int from, int to);
  void TakeAtCoordinator(int rank);
  void TakeOutput(int rank, const v1::FlowOutput& output, std::vector<Tensor> payloads);
  void FeedNext();
  void Broadcast(const v1::CoordinatorMessage& message, const std::vector<Tensor>& payloads = {});
  bool MayFeed() const;

  const std::shared_ptr<const Flow> flow_;
  const Options options_;
  std::shared_ptr<const Topology> topology_;
  std::mt19937_64 random_;
  absl::Time now_ = absl::UnixEpoch();
  std::unique_ptr<JobProgress> progress_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::deque<FeedStep> steps_to_feed_;
  std::map<VertexId, int64_t> open_;  // inputs, and the epoch that has begun
  bool closes_ = false;
  std::map<VertexId, int64_t> feed_bytes_;  // under way, by input
  bool has_news_ = false;                   // batches since the last Propagate
  Outputs outputs_;
  std::vector<v1::FlowRecordFailed> failed_records_;
  absl::Status failure_;
  int64_t peer_frames_ = 0;
  int64_t most_queued_bytes_ = 0;
  int64_t most_link_bytes_ = 0;
  int64_t steps_ = 0;
};

// All records of an output and epoch as one multiset, in the order of Consolidated.
RecordBatch MultisetOf(const std::vector<RecordBatch>& batches, const RecordType& type);

// Returns: the flow of a text; fails the test if it is none.
std::shared_ptr<const Flow> FlowOf(std::string_view text);

}  // namespace weir

#endif  // WEIR_TESTS_CLUSTER_FLOW_SIMULATION_H_
