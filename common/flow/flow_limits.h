// How much a flow may ask for of one vertex, so that what a text says cannot make a worker do
// without end. Constants.
#ifndef WEIR_COMMON_FLOW_FLOW_LIMITS_H_
#define WEIR_COMMON_FLOW_FLOW_LIMITS_H_

#include <cstdint>
#include <limits>

namespace weir {

// Bytes of one record.
inline constexpr int64_t kMaxRecordBytes = int64_t{1} << 30;
// Calls in one epoch, and how long one waits for others.
inline constexpr int64_t kMaxBatch = 1 << 20;
inline constexpr int64_t kMaxWaitUs = 60'000'000;
// Windows that one record comes into.
inline constexpr int64_t kMaxWindowsPerRecord = 1024;
// Records that flat_map makes of one.
inline constexpr int64_t kMaxChildren = 1 << 16;
// How many times a record stands that a function combines or collects or a file holds, which is
// its weight.
inline constexpr int64_t kMaxRepeats = 1 << 16;
// Rows of one call of a function for all records of a time, each as often as its weight says.
inline constexpr int64_t kMaxCollectedRows = int64_t{1} << 24;
// Lines that inspect writes for a batch.
inline constexpr int64_t kMaxInspectLines = 1000;
// Of attributes without another bound: epochs, trips, places.
inline constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_FLOW_LIMITS_H_
