// The rows of a batch that go to one worker, found among all: in their order, by the owner that is
// noted for each row. A pass over all rows for each owner, so for few of them. Stateless; usable
// from any thread.
#ifndef WEIR_WORKER_FLOW_OWNED_ROWS_H_
#define WEIR_WORKER_FLOW_OWNED_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace weir {

// How many rows are this owner's.
size_t CountOwned(absl::Span<const uint16_t> owners, uint16_t owner);

// REQUIRES: here and below, `out` has CountOwned elements.
void ListOwned(absl::Span<const uint16_t> owners, uint16_t owner, absl::Span<uint32_t> out);

// The words of those rows. REQUIRES: `words` has one of 8 bytes for each row; it does not overlap
// with `out`.
void TakeOwned(absl::Span<const uint16_t> owners, uint16_t owner, const std::byte* words,
               absl::Span<uint64_t> out);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_OWNED_ROWS_H_
