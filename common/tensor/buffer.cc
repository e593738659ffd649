#include "common/tensor/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <utility>

#include "common/base/str_cat.h"

namespace weir {
namespace {

// From here on memory comes in pages of its own, huge ones where the system has them.
constexpr size_t kMapBytes = size_t{8} << 20;
constexpr size_t kMaxBytes = size_t{1} << 62;

}  // namespace

std::shared_ptr<Buffer> Buffer::AllocateOrNull(size_t bytes) {
  if (bytes > kMaxBytes) return nullptr;
  // A vector that starts at the last element ends less than kAlignment behind it.
  const size_t padded = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
  void* data = nullptr;
  std::function<void()> release;
  if (padded < kMapBytes) {
    data = std::aligned_alloc(kAlignment, padded);
    if (data == nullptr) return nullptr;
    release = [data] { std::free(data); };
  } else {
    data = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return nullptr;
    madvise(data, padded, MADV_HUGEPAGE);
    release = [data, padded] { munmap(data, padded); };
  }
  return Wrap(data, bytes, std::move(release));
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
