// The hashes of keys of many records, as RecordRows::Hash gives them one by one. Stateless; usable
// from any thread.
#ifndef WEIR_COMMON_FLOW_KEY_HASHES_H_
#define WEIR_COMMON_FLOW_KEY_HASHES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/flow/record_batch.h"

namespace weir {

// Those of out.size() rows from `begin` on; a key is the first `keys` columns.
void HashKeys(const RecordBatch& batch, int keys, int64_t begin, absl::Span<uint64_t> out);

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_KEY_HASHES_H_
