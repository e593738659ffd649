#include "common/base/status.h"
#include "common/flow/pairing.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// Control edges: a record of input 0 goes on as it is once each of the other inputs has brought one
// that comes of the same source record, at the same time. What those hold is not looked at. So what
// follows happens after what brought them, example by example, and not at all for an example that
// did not come by there.
//
// It is a zip that keeps the columns of input 0: `hold`, `unmatched` and the errors are the same.
VertexKind AfterKind() {
  VertexKind kind = {.name = "after",
                     .summary =
                         "records of input 0, once all other inputs have theirs of the same "
                         "source record"};
  kind.min_inputs = 2;
  kind.max_inputs = 1 << 16;
  kind.attrs = PairingAttrs();
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    WEIR_RETURN_IF_ERROR(CheckPairing(context.vertex));
    return SameAsInput(context);
  };
  kind.route = [](const FlowVertex&, int) { return Routing{Routing::To::kOrigin, 0}; };
  return kind;
}

}  // namespace weir
