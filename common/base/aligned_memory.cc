#include "common/base/aligned_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace weir {
namespace {

// From here on memory comes in pages of its own, and then in huge ones where the system has them.
constexpr size_t kMapBytes = size_t{256} << 10;
constexpr size_t kHugeBytes = size_t{8} << 20;
// Up to here, padding not counted, the pages are there at once: one call instead of a fault for
// each of them. More might not be needed at the same time.
constexpr size_t kPopulatedBytes = (size_t{4} << 20) + 2 * kMemoryAlignment;

size_t RoundedUp(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

// What is taken for so many bytes. Eight sizes to each power of two of what has pages of its own,
// so that a block that was freed serves the next one of nearly the same size.
size_t Padded(size_t bytes) {
  const size_t padded = RoundedUp(bytes + kMemoryAlignment, kMemoryAlignment);
  if (padded < kMapBytes) return padded;
  const size_t whole = RoundedUp(padded, std::bit_floor(padded) / 8);
  return whole <= kPopulatedBytes ? whole : padded;
}

// How much of what was freed a process keeps.
struct KeptLimits {
  size_t blocks;
  size_t bytes;
  size_t bytes_of_block;
};
// A session in the process of its user: results of the same size come with each call.
constexpr KeptLimits kOfSession = {16, size_t{64} << 20, size_t{32} << 20};
// Those of frames of records: such come and go all the time.
constexpr KeptLimits kOfService = {16, 4 * kPopulatedBytes, kPopulatedBytes};

// The blocks that were freed last, for who wants one of the same size next: their pages are there,
// where new ones would be cleared and counted one by one, which takes longer than to fill them.
class FreedBlocks {
 public:
  static FreedBlocks& Get() {
    static auto* const blocks = new FreedBlocks;
    return *blocks;
  }

  void SetLimits(const KeptLimits& limits) {
    std::lock_guard lock(mutex_);
    limits_ = limits;
  }

  // Returns: null if no block of the size is kept.
  void* Take(size_t bytes) {
    std::lock_guard lock(mutex_);
    auto block = std::find_if(blocks_.begin(), blocks_.end(),
                              [&](const Block& b) { return b.bytes == bytes; });
    if (block != blocks_.end()) {
      void* const memory = block->memory;
      Remove(block);
      return memory;
    }
    // Beside memory of this size new pages for the kept blocks cost little, and the peak counts.
    if (bytes > limits_.bytes_of_block) UnmapAll();
    return nullptr;
  }

  // Unmaps those that were kept longest.
  void Put(void* memory, size_t bytes) {
    std::lock_guard lock(mutex_);
    if (bytes > limits_.bytes_of_block) {
      munmap(memory, bytes);
      return;
    }
    while (blocks_.size() == limits_.blocks || kept_bytes_ + bytes > limits_.bytes) {
      munmap(blocks_.front().memory, blocks_.front().bytes);
      Remove(blocks_.begin());
    }
    blocks_.push_back({memory, bytes});
    kept_bytes_ += bytes;
  }

  void Clear() {
    std::lock_guard lock(mutex_);
    UnmapAll();
  }

 private:
  struct Block {
    void* memory;
    size_t bytes;
  };

  FreedBlocks() { blocks_.reserve(kOfSession.blocks); }

  void Remove(std::vector<Block>::iterator block) {
    kept_bytes_ -= block->bytes;
    blocks_.erase(block);
  }
  void UnmapAll() {
    for (const Block& block : blocks_) munmap(block.memory, block.bytes);
    blocks_.clear();
    kept_bytes_ = 0;
  }

  std::mutex mutex_;
  KeptLimits limits_ = kOfSession;
  std::vector<Block> blocks_;  // by age
  size_t kept_bytes_ = 0;
};

#ifdef __SANITIZE_ADDRESS__
constexpr bool kKeepsBlocks = false;  // so that use after the end is seen
#else
constexpr bool kKeepsBlocks = true;
#endif

// Small memory, from malloc. Not from aligned_alloc: that of glibc looks for a larger piece and
// gives the rest back, so it cannot use what was freed with the same size, and memory that comes
// and goes leaves ever more behind.
void* AllocateSmall(size_t padded) {
  void* const whole = std::malloc(padded + kMemoryAlignment);
  if (whole == nullptr) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(whole);
  // malloc aligns to 16 at least, so there is room for a pointer in front.
  const size_t skipped = kMemoryAlignment - begin % kMemoryAlignment;
  std::byte* const memory = static_cast<std::byte*>(whole) + skipped;
  std::memcpy(memory - sizeof(whole), &whole, sizeof(whole));
  return memory;
}

void FreeSmall(void* memory) {
  if (memory == nullptr) return;
  void* whole = nullptr;
  std::memcpy(&whole, static_cast<std::byte*>(memory) - sizeof(whole), sizeof(whole));
  std::free(whole);
}

}  // namespace

void* AllocateAligned(size_t bytes) {
  const size_t padded = Padded(bytes);
  if (padded < kMapBytes) return AllocateSmall(padded);
  if (kKeepsBlocks) {
    if (void* kept = FreedBlocks::Get().Take(padded)) return kept;
  }
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
    FreeSmall(memory);
  } else if (kKeepsBlocks) {
    FreedBlocks::Get().Put(memory, padded);
  } else {
    munmap(memory, padded);
  }
}

void LimitKeptMemory() {
  FreedBlocks::Get().SetLimits(kOfService);
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, kMapBytes);
  mallopt(M_TRIM_THRESHOLD, 2 * kMapBytes);
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
