#include "common/base/status.h"
#include "common/flow/flow_limits.h"
#include "common/flow/vertex_kind.h"
#include "common/ir/lexer.h"

namespace weir {
namespace {

absl::Status CheckPipelined(const FlowVertex& vertex) {
  const Attr* const pipelined = vertex.FindAttr("pipelined");
  if (pipelined == nullptr) {
    if (vertex.FindAttr("hold_bytes") == nullptr) return absl::OkStatus();
    return InvalidArgument("hold_bytes is of pipelined loops; pipelined is missing");
  }
  if (pipelined->AsString() != "loops" && pipelined->AsString() != "all") {
    return InvalidArgument("pipelined = ", Quote(pipelined->AsString()), "; it is loops or all");
  }
  return CheckRange(vertex, "hold_bytes", 1, kMaxInt64);
}

}  // namespace

// A record whose function fails (a `check`, say) stops the flow, or with on_failure = "drop" is
// left out, and who fed it is told why.
//
// With `pipelined` the coordinator makes vertices of the function's loops (server/flows/pipelined):
// the same records come out, bit for bit. With `hold_bytes`, too, records are as zip wants them:
// one of each origin at a time, with the weight 1.
VertexKind MapKind() {
  VertexKind kind = {.name = "map", .summary = "calls a function for each record"};
  kind.attrs = {{"function", Attr::Kind::kString, true, "from the columns of a record to new ones",
                 FlowAttr::Calls::kRecord},
                {"on_failure", Attr::Kind::kString, false,
                 "what becomes of a record that fails: stop the flow (if it is left out) or drop"},
                {"pipelined", Attr::Kind::kString, false,
                 "what of the function is brought out into vertices of the flow, so that each "
                 "record goes its own way: loops, or branches too (all); nothing if left out"},
                {"hold_bytes", Attr::Kind::kInt, false,
                 "of pipelined loops: what a loop does not change waits beside it by origin if it "
                 "has so many bytes; if left out, all goes round with its record"}};
  kind.infer =
      [](const KindContext& context) -> absl::StatusOr<std::optional<std::vector<RecordType>>> {
    const std::string on_failure = context.vertex.StringOr("on_failure", "stop");
    if (on_failure != "stop" && on_failure != "drop") {
      return InvalidArgument("on_failure = ", Quote(on_failure), "; it is stop or drop");
    }
    WEIR_RETURN_IF_ERROR(CheckPipelined(context.vertex));
    if (context.inputs[0] == nullptr) return NotKnownYet();
    WEIR_ASSIGN_OR_RETURN(RecordType type, context.Call("function", *context.inputs[0]));
    return OneOutput(std::move(type));
  };
  return kind;
}

}  // namespace weir
