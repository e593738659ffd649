#include "common/base/status.h"
#include "common/flow/pairing.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// The records of all inputs that come of the same source record, side by side: once each input has
// a record of one origin at one time, a record with the columns of all comes out, at that time and
// of that origin. So a graph of ops on the values of one example is a graph of zip and map, and
// runs for many examples at once (the dataflow of TensorFlow: README.md).
//
// A record of an input in `hold` serves its trip and all later ones of the loop. There is at most
// one record of an origin and time at an input (of an origin and outer time at one in `hold`), with
// the weight 1; anything else is an error, whatever the timing. A record that gets no partner until
// its time is complete is dropped and counted, or with unmatched = "stop" an error; one in `hold`
// needs none.
VertexKind ZipKind() {
  VertexKind kind = {.name = "zip",
                     .summary = "records of all inputs that come of one source record, as one"};
  kind.max_inputs = 1 << 16;
  kind.attrs = PairingAttrs();
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    RecordType type;
    for (const RecordType* input : context.inputs) {
      if (input == nullptr) return NotKnownYet();
      type.insert(type.end(), input->begin(), input->end());
    }
    WEIR_RETURN_IF_ERROR(CheckPairing(context.vertex));
    WEIR_RETURN_IF_ERROR(CheckRecordType(type));
    return OneOutput(std::move(type));
  };
  kind.route = [](const FlowVertex&, int) { return Routing{Routing::To::kOrigin, 0}; };
  return kind;
}

}  // namespace weir
