// Hands out the scratch memory of one kernel call from front to back, in pieces aligned to 64
// bytes.
#ifndef WEIR_WORKER_DEVICE_CPU_SCRATCH_H_
#define WEIR_WORKER_DEVICE_CPU_SCRATCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace weir::cpu {

// Bytes that a piece takes.
inline size_t Padded(size_t bytes) { return (bytes + 63) / 64 * 64; }

class Scratch {
 public:
  explicit Scratch(absl::Span<std::byte> bytes) : next_(bytes.data()) {}

  // REQUIRES: the pieces taken so far and this one were booked.
  template <class T>
  T* Take(int64_t count) {
    T* taken = reinterpret_cast<T*>(next_);
    next_ += Padded(count * sizeof(T));
    return taken;
  }

 private:
  std::byte* next_;
};

}  // namespace weir::cpu

#endif  // WEIR_WORKER_DEVICE_CPU_SCRATCH_H_
