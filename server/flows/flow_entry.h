// One flow as the coordinator knows it, and one client that is attached to it. Plain values, owned
// by a FlowCore; thread-compatible.
#ifndef WEIR_SERVER_FLOWS_FLOW_ENTRY_H_
#define WEIR_SERVER_FLOWS_FLOW_ENTRY_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/flows/input_ledger.h"
#include "server/flows/output_log.h"
#include "server/flows/prepared_flow.h"
#include "server/progress/job_progress.h"
#include "weir/v1/flow.pb.h"

namespace weir {

struct FlowEntry {
  enum class Stage {
    kWaiting,    // for the compiler or for workers
    kLoading,    // workers get its programs
    kDeploying,  // workers make their copies of its vertices
    kRunning,
    kEnding,  // workers stop
    kEnded,
  };

  uint64_t id = 0;  // sequence of its job; the number that messages have
  Stage stage = Stage::kWaiting;
  PreparedFlow prepared;
  std::map<std::string, uint64_t> programs;  // by function
  std::vector<uint64_t> workers;             // by rank
  std::map<uint64_t, std::string> names;     // of the workers
  std::set<uint64_t> deployed;               // workers that have their copies
  std::unique_ptr<JobProgress> progress;     // from kDeploying until it has ended

  std::map<VertexId, InputLedger> inputs;
  std::map<VertexId, OutputLog> outputs;
  std::map<VertexId, OutputLog> probes;   // of which only what is complete is of interest
  std::map<VertexId, size_t> next_ranks;  // of inputs: whose turn it is
  // Of inputs: bytes that each worker was given and has not consumed.
  std::map<VertexId, std::map<uint64_t, int64_t>> unconsumed;
  // Who feeds an input or takes an output: attachments, by vertex.
  std::map<VertexId, uint64_t> clients;

  // What workers found in the world, by vertex: the first to say it, and what.
  struct Found {
    uint64_t worker = 0;
    std::string digest;
    std::string what;
  };
  std::map<VertexId, Found> found;

  // What each worker last said, and when.
  struct Report {
    v1::FlowReport message;
    absl::Time came;
  };
  std::map<uint64_t, Report> reports;
  // Of each feedback: outer times whose trips may still go round, and since when.
  std::map<VertexId, std::map<Timestamp, absl::Time>> going_round;

  // Why it ends, and how it will be listed.
  v1::Job::State ends_as = v1::Job::STATE_UNSPECIFIED;
  v1::Failure failure;
  // A failure that is likely the consequence of another, and how long its cause may take to show.
  v1::Failure consequence;
  absl::Time cause_until = absl::InfiniteFuture();
  // What it waited for when it began to end.
  std::string last_words;
  ProgressCounters counters;  // of progress that is over

  // Of a job that begins again there would be more than one.
  static constexpr uint64_t kGeneration = 1;

  const Flow& flow() const { return *prepared.flow; }
  // Marks a message as of this job.
  template <class Message>
  Message* Label(Message* message) const {
    message->set_job(id);
    message->set_generation(kGeneration);
    return message;
  }
  // Whether what workers say still counts.
  bool takes_part() const { return stage == Stage::kDeploying || stage == Stage::kRunning; }
  bool ended() const { return stage == Stage::kEnded; }
};

struct FlowAttachment {
  uint64_t id = 0;
  uint64_t flow = 0;
  std::string client;
  std::vector<VertexId> inputs;
  std::vector<VertexId> outputs;
  bool is_told = false;                      // `attached` was sent
  bool is_told_end = false;                  // so was `ended`
  std::deque<v1::FlowRecordFailure> failed;  // records, to be told of
  std::set<VertexId> changed;                // inputs with news
  size_t next_output = 0;                    // whose turn it is
  absl::Status over;                         // why nothing comes any more
  // Called once when there is something after Next had nothing.
  std::function<void()> on_news;
  bool waits = false;
};

}  // namespace weir

#endif  // WEIR_SERVER_FLOWS_FLOW_ENTRY_H_
