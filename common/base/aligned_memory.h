// Memory for tensors and payloads. Thread-safe.
//
// What is large gets pages of its own: they are taken as they are written and go back to the system
// at once, so that a process holds what its tensors need and not what malloc keeps for later. Some
// blocks (of 32 MiB at most, 64 MiB together) are kept for the next who wants about as much.
#ifndef WEIR_COMMON_BASE_ALIGNED_MEMORY_H_
#define WEIR_COMMON_BASE_ALIGNED_MEMORY_H_

#include <cstddef>

namespace weir {

inline constexpr size_t kMemoryAlignment = 64;

// Returns: `bytes` of memory (0 is fine), aligned to kMemoryAlignment and padded so that a vector
// of kMemoryAlignment bytes that starts at the last byte is within it; null if there is none.
void* AllocateAligned(size_t bytes);
// Gives back what AllocateAligned(bytes) returned.
void FreeAligned(void* memory, size_t bytes);

// For programs that serve for long, at their start: less is kept (blocks of 4 MiB, 16 MiB
// together), malloc too gives large memory back at once, where it would else keep as much as the
// largest block that was ever freed, and small memory comes from few places.
void LimitKeptMemory();
// Gives what is kept for later back to the system, and what malloc holds free: after much passed
// through small pieces.
void ReleaseKeptMemory();

}  // namespace weir

#endif  // WEIR_COMMON_BASE_ALIGNED_MEMORY_H_
