#include "tests/fuzz/payloads.h"

#include <utility>

#include "common/plan/frames.h"

namespace weir {
namespace {

constexpr int64_t kMaxPayload = int64_t{64} << 10;

}  // namespace

Frame FrameWithPayloads(std::string message, const std::vector<v1::TensorHeader>& headers) {
  Frame frame;
  frame.header = std::move(message);
  for (const v1::TensorHeader& header : headers) {
    const absl::StatusOr<int64_t> bytes = BytesOf(header);
    const bool fits = bytes.ok() && *bytes <= kMaxPayload;
    frame.payload.push_back(SliceOf(std::string(fits ? static_cast<size_t>(*bytes) : 3, '\1')));
  }
  return frame;
}

}  // namespace weir
