// What kinds that tell records apart by their origins share (merge, zip, after): how many records
// there may be, which inputs are held, and what becomes of a record that gets no partner.
// Stateless; usable from any thread.
#ifndef WEIR_COMMON_FLOW_PAIRING_H_
#define WEIR_COMMON_FLOW_PAIRING_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/flow/flow.h"
#include "common/flow/vertex_kind.h"

namespace weir {

// `hold` and `unmatched`.
std::vector<FlowAttr> PairingAttrs();
// Errors: hold outside of loops, of an input that is not there, or of all; another word for
// `unmatched`.
absl::Status CheckPairing(const FlowVertex& vertex);

// For each input, whether its records serve their trip and all later ones. REQUIRES: checked.
std::vector<bool> HeldInputs(const FlowVertex& vertex);
// Whether a record without a partner is an error. REQUIRES: checked.
bool StopsUnmatched(const FlowVertex& vertex);

// The errors of records that come; of merge, any input will do.
absl::Status MoreThanOne(int64_t input, int64_t origin);
absl::Status MoreThanOneToMerge(int64_t origin);
absl::Status NoPartner(int64_t origin, int64_t input, int64_t missing);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_PAIRING_H_
