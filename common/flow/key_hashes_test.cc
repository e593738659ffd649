#include "common/flow/key_hashes.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/flow/record_rows.h"

namespace weir {
namespace {

template <class T>
Tensor Column(int64_t records, Extents extents) {
  extents.insert(extents.begin(), records);
  Tensor column(kDTypeOf<T>, extents);
  for (int64_t i = 0; i < column.num_elements(); ++i) {
    column.mutable_data<T>()[i] = static_cast<T>(i * i * 7919 - 41 * i);
  }
  return column;
}

// Keys of one word, which have a loop of their own, and others; from any row on, in any number.
TEST(HashKeys, AreTheHashesOfRowsOneByOne) {
  constexpr int64_t kRecords = 77;
  const std::vector<RecordBatch> batches = {
      MakeBatch({Column<int64_t>(kRecords, {}), Column<int32_t>(kRecords, {})}),
      MakeBatch({Column<double>(kRecords, {}), Column<double>(kRecords, {2})}),
      MakeBatch({Column<int32_t>(kRecords, {}), Column<int64_t>(kRecords, {})}),
      MakeBatch({Column<int64_t>(kRecords, {3}), Column<uint8_t>(kRecords, {})})};
  for (const RecordBatch& batch : batches) {
    for (const int keys : {0, 1, 2}) {
      const RecordRows rows(batch, keys);
      for (const int64_t begin : {0, 1, 5, 76, 77}) {
        std::vector<uint64_t> hashes(static_cast<size_t>(kRecords - begin));
        HashKeys(batch, keys, begin, absl::MakeSpan(hashes));
        for (int64_t row = begin; row < kRecords; ++row) {
          ASSERT_EQ(hashes[static_cast<size_t>(row - begin)], rows.Hash(row)) << "row " << row;
        }
      }
    }
  }
}

}  // namespace
}  // namespace weir
