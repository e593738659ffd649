// A vertex of the oracle: takes all records that ever come for one time at once. Made anew for each
// run; used by one thread.
#ifndef WEIR_COMMON_FLOW_REFERENCE_REFERENCE_VERTEX_H_
#define WEIR_COMMON_FLOW_REFERENCE_REFERENCE_VERTEX_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/flow/flow.h"
#include "common/flow/keyed_state.h"
#include "common/flow/record_function.h"
#include "common/flow/reference/record_bag.h"
#include "common/timely/timestamp.h"

namespace weir {

// One step: what has come, and what is sent.
struct ReferenceStep {
  Timestamp time;
  std::vector<RecordBag> inputs;

  struct Sent {
    int output = 0;
    Timestamp time;
    RecordBag records;
  };
  std::vector<Sent> sent = {};
  int64_t dropped = 0;

  void Send(int output, Timestamp at, RecordBag records) {
    sent.push_back({output, std::move(at), std::move(records)});
  }
};

class ReferenceVertex {
 public:
  virtual ~ReferenceVertex() = default;
  // Times come in the order of the vertex's frontier. Some input is not empty.
  virtual absl::Status Run(ReferenceStep* step) = 0;
};

// Of kinds that treat each record by itself; null: the kind is none of these.
std::unique_ptr<ReferenceVertex> MakeReferenceRecords(const Flow& flow, const FlowVertex& vertex);
// Of kinds that change times.
std::unique_ptr<ReferenceVertex> MakeReferenceTimes(const FlowVertex& vertex);
// Of kinds that act on complete times.
std::unique_ptr<ReferenceVertex> MakeReferenceGroups(const Flow& flow, const FlowVertex& vertex);
std::unique_ptr<ReferenceVertex> MakeReferenceReduce(const Flow& flow, const FlowVertex& vertex);
std::unique_ptr<ReferenceVertex> MakeReferenceJoin(const FlowVertex& vertex);
std::unique_ptr<ReferenceVertex> MakeReferenceVariable(const Flow& flow, const FlowVertex& vertex);
// Of kinds that tell records apart by their origins.
std::unique_ptr<ReferenceVertex> MakeReferenceOrigins(const FlowVertex& vertex);

// All records of a read_files vertex, by epoch. Files are read whole and as they are, from the
// working directory. Errors: InvalidArgument or NotFound, a file that is not as the vertex says.
absl::StatusOr<std::map<int64_t, RecordBag>> ReadReferenceFiles(const FlowVertex& vertex);
// What a write_files vertex writes for an epoch on so many workers: adds to {path: bytes}. Errors:
// InvalidArgument, a weight below zero.
absl::Status WriteReferenceFiles(const FlowVertex& vertex, int64_t epoch, const RecordBag& records,
                                 int workers, std::map<std::string, std::string>* files);

// The part of a time by which state is told apart.
Coordinates StateOf(StateLife life, const Timestamp& time);

// State of a vertex that lives as long as StateLife says, made when first asked for.
template <class State>
class ReferenceStates {
 public:
  explicit ReferenceStates(const FlowVertex& vertex) : life_(LifeOf(vertex)) {}
  State& At(const Timestamp& time) { return states_[StateOf(life_, time)]; }

 private:
  const StateLife life_;
  std::map<Coordinates, State> states_;
};

// Errors: a record with a weight below zero where nobody would be told what is gone (Emit).
absl::Status CheckWeights(const FlowVertex& vertex, const RecordBag& records);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_REFERENCE_REFERENCE_VERTEX_H_
