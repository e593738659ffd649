// Bytes that are read from any place: a file, or memory in tests.
#ifndef WEIR_WORKER_FLOW_FILES_BYTE_SOURCE_H_
#define WEIR_WORKER_FLOW_FILES_BYTE_SOURCE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace weir {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills `to` from `offset` on. Returns: how many bytes there were, fewer only at the end.
  virtual absl::StatusOr<size_t> ReadAt(int64_t offset, absl::Span<char> to) const = 0;
};

// Refers to the bytes.
class MemoryBytes : public ByteSource {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<size_t> ReadAt(int64_t offset, absl::Span<char> to) const override {
    if (offset >= static_cast<int64_t>(bytes_.size())) return 0;
    const std::string_view part = bytes_.substr(static_cast<size_t>(offset), to.size());
    std::copy(part.begin(), part.end(), to.begin());
    return part.size();
  }

 private:
  const std::string_view bytes_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FILES_BYTE_SOURCE_H_
