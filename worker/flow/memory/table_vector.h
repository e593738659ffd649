// Memory of tables that live with the state of a vertex: large pieces are counted, and lie in a
// file when the flow keeps more than it may (flow_memory.h). A table moves there as it grows, since
// growing is a new piece. Outside of calls of flows, plain memory. A value; thread-compatible.
#ifndef WEIR_WORKER_FLOW_MEMORY_TABLE_VECTOR_H_
#define WEIR_WORKER_FLOW_MEMORY_TABLE_VECTOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "worker/flow/memory/flow_memory.h"

namespace weir {

// Smaller pieces are neither counted nor moved.
inline constexpr size_t kLeastTableBytes = size_t{64} << 10;

// REQUIRES: bytes is kLeastTableBytes or more; freed with the same share and bytes. Throws
// FlowMemoryError.
void* AllocateTable(FlowShare* share, size_t bytes);
void FreeTable(FlowShare* share, void* memory, size_t bytes);

template <class T>
class TableAllocator {
 public:
  using value_type = T;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  TableAllocator() {
    if (FlowShare::Current() != nullptr) share_ = FlowShare::Current()->shared_from_this();
  }
  template <class U>
  TableAllocator(const TableAllocator<U>& other) : share_(other.share()) {}  // NOLINT: as any

  T* allocate(size_t count) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    const size_t bytes = count * sizeof(T);
    if (!IsTable(bytes)) return static_cast<T*>(::operator new(bytes));
    return static_cast<T*>(AllocateTable(share_.get(), bytes));
  }
  void deallocate(T* memory, size_t count) {
    const size_t bytes = count * sizeof(T);
    if (!IsTable(bytes)) return ::operator delete(memory);
    FreeTable(share_.get(), memory, bytes);
  }

  const std::shared_ptr<FlowShare>& share() const { return share_; }
  template <class U>
  bool operator==(const TableAllocator<U>& other) const {
    return share_ == other.share();
  }

 private:
  bool IsTable(size_t bytes) const { return share_ != nullptr && bytes >= kLeastTableBytes; }

  std::shared_ptr<FlowShare> share_;
};

template <class T>
using TableVector = std::vector<T, TableAllocator<T>>;

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_MEMORY_TABLE_VECTOR_H_
