// Records and times from and to the messages of flow.proto. What is read may be damaged or hostile:
// it is a value that fits or an error. Stateless; usable from any thread.
#ifndef WEIR_COMMON_FLOW_FLOW_WIRE_H_
#define WEIR_COMMON_FLOW_FLOW_WIRE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/flow/record_batch.h"
#include "common/timely/timestamp.h"
#include "weir/v1/flow.pb.h"

namespace weir {

v1::RecordBatch HeaderOf(const RecordBatch& batch);
// In the order in which frames carry them.
std::vector<Tensor> PayloadsOf(const RecordBatch& batch);
// REQUIRES: payloads came with the header (DecodeFrom...). Errors: InvalidArgument, as CheckBatch.
absl::StatusOr<RecordBatch> BatchFrom(const v1::RecordBatch& header, std::vector<Tensor> payloads,
                                      const RecordType& type, std::string_view what);

// Large constants of functions are left out of the text that workers get, since they have the
// functions as programs: a blob that is named by its type stands for one. Returns: the name.
std::string NameOfLeftOut(const Tensor& constant);
// Returns: a tensor of the type that the name says, all zeros, which takes no memory. Errors:
// InvalidArgument, a name that is no type of fixed size.
absl::StatusOr<Tensor> StandIn(std::string_view name);

v1::FlowTime ToWire(const Timestamp& time);
// Errors: InvalidArgument, another number of coordinates than depth + 1 or one below zero.
absl::StatusOr<Timestamp> TimeFrom(const v1::FlowTime& message, int depth);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_FLOW_WIRE_H_
