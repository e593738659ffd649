#include "common/net/frame.h"

#include "common/base/aligned_memory.h"
#include "common/base/status.h"

namespace weir {
namespace {

constexpr size_t kFrameOverhead = 64;

}  // namespace

Slice SliceOf(std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const auto* data = reinterpret_cast<const std::byte*>(owner->data());
  const size_t size = owner->size();
  return {.owner = std::move(owner), .data = data, .size = size};
}

size_t Frame::payload_bytes() const {
  size_t total = 0;
  for (const Slice& slice : payload) total += slice.size;
  return total;
}

size_t FrameCost(const Frame& frame) {
  return kFrameOverhead + frame.header.size() + frame.payload_bytes();
}

absl::StatusOr<PayloadBuffer> AllocateHeap(std::string_view header, size_t index, size_t size) {
  if (size == 0) return PayloadBuffer{};
  void* memory = AllocateAligned(size);
  if (memory == nullptr) {
    return absl::ResourceExhaustedError(
        StrCat("no memory for ", size, " bytes of payload slice ", index));
  }
  std::shared_ptr<void> owner(memory, [size](void* p) { FreeAligned(p, size); });
  return PayloadBuffer{.owner = std::move(owner), .data = static_cast<std::byte*>(memory)};
}

}  // namespace weir
