// What travels over a link: header bytes and a list of payload slices that share ownership of their
// memory.
//
// A slice points straight into the memory that holds it (a tensor, a file map), so sending copies
// nothing and the memory lives until the frame has left. Value types; compatible with threads. The
// bytes behind a slice must not change after Send, since the checksum is taken there.
#ifndef WEIR_COMMON_NET_FRAME_H_
#define WEIR_COMMON_NET_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace weir {

struct Slice {
  std::shared_ptr<const void>
      owner;  // keeps `data` alive; may be null for memory that outlives the link
  const std::byte* data = nullptr;
  size_t size = 0;

  std::string_view view() const { return {reinterpret_cast<const char*>(data), size}; }
};

// Returns: a slice that owns `bytes`.
Slice SliceOf(std::string bytes);

struct Frame {
  std::string header;          // small: an encoded message that says what the payload is
  std::vector<Slice> payload;  // slices of any size, zero included

  size_t payload_bytes() const;
};

// What a frame counts against the credit of a link: its bytes and a fixed share for its
// bookkeeping, so that empty frames are bounded too.
size_t FrameCost(const Frame& frame);

// Writable memory for one received slice. `data` may be null when `size` was 0.
struct PayloadBuffer {
  std::shared_ptr<void> owner;
  std::byte* data = nullptr;
};

// Gives memory for slice number `index` of the frame with this header (whose checksum has been
// verified). An error refuses the frame and closes the link with that error. Runs on the thread
// that reads (in process: the one that sends) and must not call the link.
using PayloadAllocator = std::function<absl::StatusOr<PayloadBuffer>(std::string_view header,
                                                                     size_t index, size_t size)>;

// Returns: heap memory aligned to 64 bytes; the default PayloadAllocator.
absl::StatusOr<PayloadBuffer> AllocateHeap(std::string_view header, size_t index, size_t size);

}  // namespace weir

#endif  // WEIR_COMMON_NET_FRAME_H_
