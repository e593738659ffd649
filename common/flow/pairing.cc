#include "common/flow/pairing.h"

#include <set>

#include "common/base/status.h"
#include "common/ir/lexer.h"

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

std::vector<FlowAttr> PairingAttrs() {
  return {{"hold", Attr::Kind::kInts, false,
           "inputs whose records serve all later trips of the loop too"},
          {"unmatched", Attr::Kind::kString, false,
           "what becomes of a record without a partner: drop and count it (if it is left out) or "
           "stop the flow"}};
}

absl::Status CheckPairing(const FlowVertex& vertex) {
  const std::string unmatched = vertex.StringOr("unmatched", "drop");
  if (unmatched != "drop" && unmatched != "stop") {
    return InvalidArgument("unmatched = ", Quote(unmatched), "; it is drop or stop");
  }
  return CheckHold(vertex);
}

std::vector<bool> HeldInputs(const FlowVertex& vertex) {
  std::vector<bool> held(vertex.inputs.size(), false);
  if (const Attr* hold = vertex.FindAttr("hold")) {
    for (const int64_t input : hold->AsInts()) held[input] = true;
  }
  return held;
}

bool StopsUnmatched(const FlowVertex& vertex) {
  return vertex.StringOr("unmatched", "drop") == "stop";
}

absl::Status MoreThanOne(int64_t input, int64_t origin) {
  return InvalidArgument("input ", input, " has more than one record of origin ", origin,
                         ", or one whose weight is not 1");
}

absl::Status MoreThanOneToMerge(int64_t origin) {
  return InvalidArgument("its inputs have more than one record of origin ", origin,
                         ", or one whose weight is not 1; concat takes all there are");
}

absl::Status NoPartner(int64_t origin, int64_t input, int64_t missing) {
  return InvalidArgument("input ", input, " has a record of origin ", origin, ", and input ",
                         missing, " has none");
}

}  // namespace weir
