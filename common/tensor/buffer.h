// Memory of tensors. A Buffer is shared by the tensors that view it and freed with the last of
// them; its bytes may be written only while one owner holds it. Reference counting is thread-safe,
// the bytes are not.
#ifndef WEIR_COMMON_TENSOR_BUFFER_H_
#define WEIR_COMMON_TENSOR_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "common/base/aligned_memory.h"

namespace weir {

class Buffer {
 public:
  static constexpr size_t kAlignment = kMemoryAlignment;

  // Returns: uninitialized memory of `bytes` bytes (0 is fine), aligned to kAlignment, padded so
  // that a whole vector can be read from every element. Throws std::bad_alloc when there is none,
  // as containers do; sizes that come from outside go through TryAllocate.
  static std::shared_ptr<Buffer> Allocate(size_t bytes);
  // Returns: the same, or RESOURCE_EXHAUSTED naming the bytes.
  static absl::StatusOr<std::shared_ptr<Buffer>> TryAllocate(size_t bytes);
  // Wraps memory of somebody else; `release` runs when the last reference is gone.
  static std::shared_ptr<Buffer> Wrap(void* data, size_t bytes, std::function<void()> release);

  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  Buffer() = default;
  // Returns: null when there is no memory.
  static std::shared_ptr<Buffer> AllocateOrNull(size_t bytes);

  std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::function<void()> release_;
};

}  // namespace weir

#endif  // WEIR_COMMON_TENSOR_BUFFER_H_
