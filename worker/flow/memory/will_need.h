// Records that may lie on disk and are about to be read through memory. Stateless; usable from any
// thread.
//
// What is mapped from a file of records is fetched page by page as it is touched, each time waiting
// for the disk: what the kernel would read around a page may be megabytes (that is a setting of the
// disk), most of which is gone again before it is needed where memory is short. So who reads many
// records asks for exactly those before.
#ifndef WEIR_WORKER_FLOW_MEMORY_WILL_NEED_H_
#define WEIR_WORKER_FLOW_MEMORY_WILL_NEED_H_

#include <cstdint>

#include "common/flow/record_batch.h"

namespace weir {

// Has the kernel begin to bring rows [begin, end) into memory, of one column or all. Nothing
// happens outside of calls of flows, or if nothing of the flow is on disk.
void WillNeedRows(const Tensor& column, int64_t begin, int64_t end);
void WillNeedRows(const RecordBatch& batch, int64_t begin, int64_t end);
inline void WillNeed(const RecordBatch& batch) { WillNeedRows(batch, 0, batch.size()); }

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_MEMORY_WILL_NEED_H_
