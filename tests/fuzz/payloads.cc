#include "tests/fuzz/payloads.h"

#include <utility>

#include "common/plan/frames.h"

namespace weir {
namespace {

constexpr int64_t kMaxPayload = int64_t{64} << 10;

}  // namespace

std::vector<v1::TensorHeader> HeadersOf(const v1::RecordBatch& batch) {
  std::vector<v1::TensorHeader> headers(batch.columns().begin(), batch.columns().end());
  headers.push_back(batch.origins());
  if (batch.has_weights()) headers.push_back(batch.weights());
  return headers;
}

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
