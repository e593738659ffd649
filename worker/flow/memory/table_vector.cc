#include "worker/flow/memory/table_vector.h"

#include "common/base/aligned_memory.h"

namespace weir {
namespace {

// Stands in front of a table.
struct Header {
  SpillFile* file;  // that it lies in; null: in memory
};
constexpr size_t kHeaderBytes = kMemoryAlignment;
static_assert(sizeof(Header) <= kHeaderBytes);

}  // namespace

void* AllocateTable(FlowShare* share, size_t bytes) {
  const size_t all = bytes + kHeaderBytes;
  std::byte* memory = nullptr;
  SpillFile* file = nullptr;
  if (share->is_over()) {
    auto made = share->MakeTable(static_cast<int64_t>(all));
    if (!made.ok()) throw FlowMemoryError(made.status());
    file = made->release();
    memory = file->data();
  } else {
    memory = static_cast<std::byte*>(AllocateAligned(all));
    if (memory == nullptr) throw std::bad_alloc();
    share->Charge(static_cast<int64_t>(all));
  }
  new (memory) Header{file};
  return memory + kHeaderBytes;
}

void FreeTable(FlowShare* share, void* memory, size_t bytes) {
  std::byte* const begin = static_cast<std::byte*>(memory) - kHeaderBytes;
  SpillFile* const file = reinterpret_cast<Header*>(begin)->file;
  if (file != nullptr) return share->FreeTable(std::unique_ptr<SpillFile>(file));
  share->Charge(-static_cast<int64_t>(bytes + kHeaderBytes));
  FreeAligned(begin, bytes + kHeaderBytes);
}

}  // namespace weir
