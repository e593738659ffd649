// The oracle of flows: runs one with all its input in one thread, one vertex and time after the
// other, record by record in maps of bytes. What runs flows for real must give the same records,
// bit for bit, on any number of workers and in any timing. Stateless; usable from any thread.
//
// Vertices and times are taken in the order of Topology::ComesBefore, in which every hop goes
// forward; so when one is taken, all records that ever come to it have come.
#ifndef WEIR_COMMON_FLOW_REFERENCE_FLOW_H_
#define WEIR_COMMON_FLOW_REFERENCE_FLOW_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/flow/flow.h"
#include "common/flow/record_batch.h"

namespace weir {

// What comes into an input vertex in one epoch, or a part of it. Records have the origins that the
// batch says.
struct EpochRecords {
  int64_t epoch = 0;
  RecordBatch batch;
};
// By the names of the input vertices; the order of the parts does not matter.
using FlowInputs = std::map<std::string, std::vector<EpochRecords>, std::less<>>;

// By the names of the output vertices, then by epoch: all records of the epoch, Consolidated.
// Epochs without records are not there.
using FlowOutputs = std::map<std::string, std::map<int64_t, RecordBatch>, std::less<>>;

struct ReferenceFlowOptions {
  // Vertices times their times with records; beyond it a flow is taken to go on without end.
  int64_t max_steps = 1'000'000;
  // Of which write_files vertices number their parts.
  int workers = 1;
};

struct ReferenceFlowResult {
  FlowOutputs outputs;
  // By the names of feedback vertices: records that their bounds kept from going on, each as one
  // whatever its weight, equal ones of one origin and time together.
  std::map<std::string, int64_t, std::less<>> dropped;
  // The bytes of all files that write_files vertices would write, by path; nothing is written.
  std::map<std::string, std::string> files;
};

// REQUIRES: the flow is checked. Files are read from the working directory, whole. Errors:
// InvalidArgument, input that is not of the flow's types or for no input vertex, a function, a
// record or a file at fault, with the vertex and the time; NotFound, no file; ResourceExhausted,
// more steps, with the loop.
absl::StatusOr<ReferenceFlowResult> RunReferenceFlow(const Flow& flow, const FlowInputs& inputs,
                                                     const ReferenceFlowOptions& options = {});

// One line for each record, in one order: `counts 3: i64[] {7} i64[] {2} of 0 x 1`. Equal if and
// only if the outputs are.
std::string ToString(const FlowOutputs& outputs);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_REFERENCE_FLOW_H_
