#include "worker/flow/memory/will_need.h"

#include <sys/mman.h>

#include "worker/flow/memory/flow_memory.h"

namespace weir {
namespace {

constexpr uintptr_t kPage = 4096;

bool MayBeOnDisk() {
  const FlowShare* share = FlowShare::Current();
  return share != nullptr && share->spilled_bytes() > 0;
}

void Advise(const Tensor& column, int64_t begin, int64_t end) {
  const int64_t stride = column.extent(0) == 0 ? 0 : column.num_bytes() / column.extent(0);
  if (stride == 0 || begin >= end) return;
  const auto first = reinterpret_cast<uintptr_t>(column.raw_data() + begin * stride);
  const uintptr_t last = first + static_cast<uintptr_t>((end - begin) * stride);
  const uintptr_t page = first / kPage * kPage;
  // What is not mapped from a file is in memory, and the advice means nothing.
  madvise(reinterpret_cast<void*>(page), last - page, MADV_WILLNEED);
}

}  // namespace

void WillNeedRows(const Tensor& column, int64_t begin, int64_t end) {
  if (MayBeOnDisk()) Advise(column, begin, end);
}

void WillNeedRows(const RecordBatch& batch, int64_t begin, int64_t end) {
  if (!MayBeOnDisk()) return;
  for (const Tensor& column : batch.columns) Advise(column, begin, end);
  Advise(batch.origins, begin, end);
  if (batch.weights) Advise(*batch.weights, begin, end);
}

}  // namespace weir
