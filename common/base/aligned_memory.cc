#include "common/base/aligned_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdlib>

namespace weir {
namespace {

// From here on memory comes in pages of its own, and then in huge ones where the system has them.
constexpr size_t kMapBytes = size_t{256} << 10;
constexpr size_t kHugeBytes = size_t{8} << 20;
// Up to here the pages are there at once: one call instead of a fault for each of them. More might
// not be needed at the same time.
constexpr size_t kPopulatedBytes = size_t{4} << 20;

}  // namespace

void* AllocateAligned(size_t bytes) {
  if (bytes < kMapBytes) {
    const size_t padded = (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
    return std::aligned_alloc(kMemoryAlignment, padded);
  }
  const int populate = bytes <= kPopulatedBytes ? MAP_POPULATE : 0;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | populate, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (bytes >= kHugeBytes) madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void FreeAligned(void* memory, size_t bytes) {
  if (bytes < kMapBytes) {
    std::free(memory);
  } else {
    munmap(memory, bytes);
  }
}

void LimitKeptMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_TRIM_THRESHOLD, 128 << 10);
#endif
}

}  // namespace weir
