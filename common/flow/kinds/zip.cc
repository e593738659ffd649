#include <set>

#include "common/base/status.h"
#include "common/flow/vertex_kind.h"

namespace weir {
namespace {

absl::Status CheckHold(const FlowVertex& vertex) {
  const Attr* hold = vertex.FindAttr("hold");
  if (hold == nullptr) return absl::OkStatus();
  if (vertex.scope == LogicalGraph::kRoot) {
    return InvalidArgument("hold keeps records for the trips of a loop, and it is in none");
  }
  std::set<int64_t> inputs;
  for (const int64_t input : hold->AsInts()) {
    const bool is_one = input >= 0 && input < static_cast<int64_t>(vertex.inputs.size());
    if (!is_one || !inputs.insert(input).second) {
      return InvalidArgument("hold names input ", input, "; it has ", vertex.inputs.size(),
                             ", each to be named once");
    }
  }
  if (inputs.size() < vertex.inputs.size()) return absl::OkStatus();
  return InvalidArgument("hold names all inputs; one at least has records for one trip each");
}

}  // namespace

// The records of all inputs that come of the same source record, side by side: once each input has
// a record of one origin at one time, a record with the columns of all comes out, at that time and
// of that origin. So a graph of ops on the values of one example is a graph of zip and map, and
// runs for many examples at once (the dataflow of TensorFlow: switch, zip, concat as merge, enter,
// leave, feedback as next_iteration).
//
// A record of an input in `hold` serves its trip and all later ones of the loop. There is at most
// one record of an origin and time at an input (of an origin and outer time at one in `hold`), with
// the weight 1; anything else is an error. A record that gets no partner until its time is complete
// is dropped and counted.
VertexKind ZipKind() {
  VertexKind kind = {.name = "zip",
                     .summary = "records of all inputs that come of one source record, as one"};
  kind.max_inputs = 1 << 16;
  kind.attrs = {{"hold", Attr::Kind::kInts, false,
                 "inputs whose records serve all later trips of the loop too"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    RecordType type;
    for (const RecordType* input : context.inputs) {
      if (input == nullptr) return NotKnownYet();
      type.insert(type.end(), input->begin(), input->end());
    }
    WEIR_RETURN_IF_ERROR(CheckHold(context.vertex));
    WEIR_RETURN_IF_ERROR(CheckRecordType(type));
    return OneOutput(std::move(type));
  };
  kind.route = [](const FlowVertex&, int) { return Routing{Routing::To::kOrigin, 0}; };
  return kind;
}

}  // namespace weir
