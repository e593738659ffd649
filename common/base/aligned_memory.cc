#include "common/base/aligned_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

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

// The populated blocks that were freed last, for who wants one of the same size next: a service
// that answers one request after the other would else clear the same pages each time.
class FreedBlocks {
 public:
  static FreedBlocks& Get() {
    static auto* const blocks = new FreedBlocks;
    return *blocks;
  }

  void* Take(size_t bytes) {
    std::lock_guard lock(mutex_);
    auto block = std::find_if(blocks_.begin(), blocks_.end(),
                              [&](const Block& b) { return b.bytes == bytes; });
    if (block == blocks_.end()) return nullptr;
    void* const memory = block->memory;
    blocks_.erase(block);
    return memory;
  }

  // Unmaps the one that was kept longest.
  void Put(void* memory, size_t bytes) {
    std::unique_lock lock(mutex_);
    blocks_.push_back({memory, bytes});
    if (blocks_.size() <= kMostBlocks) return;
    const Block oldest = blocks_.front();
    blocks_.erase(blocks_.begin());
    lock.unlock();
    munmap(oldest.memory, oldest.bytes);
  }

  void Clear() {
    std::lock_guard lock(mutex_);
    for (const Block& block : blocks_) munmap(block.memory, block.bytes);
    blocks_.clear();
  }

 private:
  static constexpr size_t kMostBlocks = 4;
  struct Block {
    void* memory;
    size_t bytes;
  };

  FreedBlocks() { blocks_.reserve(kMostBlocks + 1); }

  std::mutex mutex_;
  std::vector<Block> blocks_;  // by age
};

#ifdef __SANITIZE_ADDRESS__
constexpr bool kKeepsBlocks = false;  // so that use after the end is seen
#else
constexpr bool kKeepsBlocks = true;
#endif

bool IsPopulated(size_t padded) { return padded >= kMapBytes && padded <= kPopulatedBytes; }

}  // namespace

void* AllocateAligned(size_t bytes) {
  const size_t padded = Padded(bytes);
  if (padded < kMapBytes) return std::aligned_alloc(kMemoryAlignment, padded);
  if (kKeepsBlocks && IsPopulated(padded)) {
    if (void* kept = FreedBlocks::Get().Take(padded)) return kept;
  }
  // Beside memory of this size new pages for the kept blocks cost little, and the peak counts.
  if (padded > kPopulatedBytes) FreedBlocks::Get().Clear();
  const int populate = IsPopulated(padded) ? MAP_POPULATE : 0;
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
  } else if (kKeepsBlocks && IsPopulated(padded)) {
    FreedBlocks::Get().Put(memory, padded);
  } else {
    munmap(memory, padded);
  }
}

void LimitKeptMemory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_TRIM_THRESHOLD, 128 << 10);
  mallopt(M_ARENA_MAX, 2);
#endif
}

void ReleaseKeptMemory() {
  FreedBlocks::Get().Clear();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace weir
