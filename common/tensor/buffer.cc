#include "common/tensor/buffer.h"

#include <new>
#include <utility>

#include "common/base/str_cat.h"

namespace weir {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 62;

}  // namespace

std::shared_ptr<Buffer> Buffer::AllocateOrNull(size_t bytes) {
  if (bytes > kMaxBytes) return nullptr;
  void* data = AllocateAligned(bytes);
  if (data == nullptr) return nullptr;
  return Wrap(data, bytes, [data, bytes] { FreeAligned(data, bytes); });
}

std::shared_ptr<Buffer> Buffer::Allocate(size_t bytes) {
  std::shared_ptr<Buffer> buffer = AllocateOrNull(bytes);
  if (buffer == nullptr) throw std::bad_alloc();
  return buffer;
}

absl::StatusOr<std::shared_ptr<Buffer>> Buffer::TryAllocate(size_t bytes) {
  std::shared_ptr<Buffer> buffer = AllocateOrNull(bytes);
  if (buffer == nullptr) {
    return absl::ResourceExhaustedError(StrCat("no memory for a tensor of ", bytes, " bytes"));
  }
  return buffer;
}

std::shared_ptr<Buffer> Buffer::Wrap(void* data, size_t bytes, std::function<void()> release) {
  struct Made : Buffer {};
  auto buffer = std::make_shared<Made>();
  buffer->data_ = static_cast<std::byte*>(data);
  buffer->size_ = bytes;
  buffer->release_ = std::move(release);
  return buffer;
}

Buffer::~Buffer() {
  if (release_) release_();
}

}  // namespace weir
