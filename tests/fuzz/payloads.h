// Frames around encoded messages: each tensor header gets a payload of the size that it announces,
// as long as that is small, so that inputs get past the check of sizes. Stateless.
#ifndef WEIR_TESTS_FUZZ_PAYLOADS_H_
#define WEIR_TESTS_FUZZ_PAYLOADS_H_

#include <string>
#include <vector>

#include "common/net/frame.h"
#include "weir/v1/flow.pb.h"
#include "weir/v1/tensor.pb.h"

namespace weir {

// Of records, in the order in which frames carry them.
std::vector<v1::TensorHeader> HeadersOf(const v1::RecordBatch& batch);

Frame FrameWithPayloads(std::string message, const std::vector<v1::TensorHeader>& headers);

}  // namespace weir

#endif  // WEIR_TESTS_FUZZ_PAYLOADS_H_
