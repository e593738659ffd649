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

size_t Padded(size_t bytes) {
  return (bytes + 2 * kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
}

}  // namespace

void* AllocateAligned(size_t bytes) {
  const size_t padded = Padded(bytes);
  if (padded < kMapBytes) return std::aligned_alloc(kMemoryAlignment, padded);
  const int populate = padded <= kPopulatedBytes ? MAP_POPULATE : 0;
  void* memory =
      mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | populate, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (padded >= kHugeBytes) madvise(memory, padded, MADV_HUGEPAGE);
  return memory;
}

void FreeAligned(void* memory, size_t bytes) {
  const size_t padded = Padded(bytes);
  if (padded < kMapBytes) {
    std::free(memory);
  } else {
    munmap(memory, padded);
  }
}

void LimitKeptMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_TRIM_THRESHOLD, 128 << 10);
#endif
}

}  // namespace weir
