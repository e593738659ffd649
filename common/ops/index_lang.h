// Searching, segments and permutations over Builder in the manner of lang.h: compositions of
// searchsorted, gather and scatter. Stateless; thread-compatible like the builder.
//
//   ValueId sums = SegmentReduce(b, SegmentKind::kSum, rows, segment_of_row, num_segments);
#ifndef WEIR_COMMON_OPS_INDEX_LANG_H_
#define WEIR_COMMON_OPS_INDEX_LANG_H_

#include "common/ops/lang.h"

namespace weir {

// numpy.take_along_axis: the shapes agree but for the axis; indices are clamped.
ValueId TakeAlong(Builder& b, ValueId x, ValueId indices, int axis);

// For each element of x, of any shape, the i64 number of the bucket between the ascending
// boundaries [m] that it lies in: boundaries at or below it count with kBelow, only those below it
// with kStrictlyBelow (numpy.digitize with right = false and true).
enum class BoundaryCounts { kBelow, kStrictlyBelow };
ValueId Bucketize(Builder& b, ValueId x, ValueId boundaries, BoundaryCounts counts);

// Reduces the rows of axis 0 by the segment that ids, i64[rows] or of another integer type, names
// for each: [num_segments, ...]. Rows whose id is no segment (negative ones, say) are dropped. An
// empty segment is 0 (kSum, kMean), 1 (kProd) or what max and min begin with.
enum class SegmentKind { kSum, kProd, kMin, kMax, kMean };
enum class SegmentOrder { kAny, kSorted };
ValueId SegmentReduce(Builder& b, SegmentKind kind, ValueId x, ValueId ids, Dim num_segments,
                      SegmentOrder order = SegmentOrder::kAny);

// numpy.roll along one axis by an integer scalar known only at run time.
ValueId Roll(Builder& b, ValueId x, ValueId shift, int axis);
// For each index along batch_axis, the first lengths[index] elements along axis in reverse order.
ValueId ReverseSequence(Builder& b, ValueId x, ValueId lengths, int axis, int batch_axis);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_INDEX_LANG_H_
