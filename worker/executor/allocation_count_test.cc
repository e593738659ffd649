#include "worker/executor/allocation_count.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>

namespace {
thread_local int64_t allocations = 0;

void* Allocate(size_t bytes, size_t alignment) {
  ++allocations;
  void* memory =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes == 0 ? 1 : bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// Out of line, as GCC else takes what `new` below returned for another allocator's.
__attribute__((noinline)) void Release(void* memory) { std::free(memory); }
}  // namespace

void* operator new(size_t bytes) { return Allocate(bytes, 1); }
void* operator new[](size_t bytes) { return Allocate(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { Release(memory); }
void operator delete[](void* memory) noexcept { Release(memory); }
void operator delete(void* memory, size_t) noexcept { Release(memory); }
void operator delete[](void* memory, size_t) noexcept { Release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { Release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { Release(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { Release(memory); }

namespace weir {

int64_t AllocationsOnThisThread() { return allocations; }

TEST(AllocationCountTest, CountsNew) {
  const int64_t before = AllocationsOnThisThread();
  auto made = std::make_unique<int>(1);
  EXPECT_EQ(AllocationsOnThisThread(), before + 1);
}

}  // namespace weir
