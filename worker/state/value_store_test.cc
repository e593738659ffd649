#include "worker/state/value_store.h"

#include <gtest/gtest.h>

#include "common/base/status.h"

namespace weir {
namespace {

Tensor Rows(std::initializer_list<float> values) {
  return Tensor::Of<float>({static_cast<int64_t>(values.size())}, values);
}

TEST(ValueStoreTest, RowsInAnyOrderMakeAWholeValue) {
  ValueStore store;
  EXPECT_FALSE(*store.Expect(1, DType::kF32, {5}));
  EXPECT_FALSE(*store.AddRows(1, 3, Rows({4, 5})));
  EXPECT_FALSE(store.Get(1).has_value());
  EXPECT_FALSE(*store.AddRows(1, 0, Rows({})));
  EXPECT_FALSE(store.empty());
  EXPECT_TRUE(*store.AddRows(1, 0, Rows({1, 2, 3})));
  EXPECT_TRUE(store.Get(1)->BitEquals(Rows({1, 2, 3, 4, 5})));
  EXPECT_EQ(store.bytes(), 20);
  store.Drop(1);
  EXPECT_TRUE(store.empty());
  EXPECT_EQ(store.bytes(), 0);
}

TEST(ValueStoreTest, ScalarsAndEmptyValuesAreWholeAtOnce) {
  ValueStore store;
  EXPECT_FALSE(*store.Expect(1, DType::kF32, {}));
  EXPECT_TRUE(*store.AddRows(1, 0, Tensor::Scalar<float>(3)));
  EXPECT_FALSE(*store.Expect(2, DType::kF32, {0, 4}));
  EXPECT_TRUE(*store.AddRows(2, 0, Tensor(DType::kF32, {0, 4})));
  EXPECT_EQ(store.Get(1)->At<float>({}), 3);
  EXPECT_EQ(store.Get(2)->extents(), (Extents{0, 4}));
}

TEST(ValueStoreTest, RowsMayComeBeforeTheyAreExpectedAndNotAfterTheyAreDropped) {
  ValueStore store;
  EXPECT_FALSE(*store.AddRows(1, 0, Rows({1})));
  EXPECT_FALSE(*store.AddRows(2, 1, Rows({2})));
  EXPECT_FALSE(*store.AddRows(2, 0, Rows({1})));
  EXPECT_TRUE(*store.Expect(2, DType::kF32, {2}));
  EXPECT_TRUE(store.Get(2)->BitEquals(Rows({1, 2})));
  // 1 was expected and dropped before 2: its rows were late.
  EXPECT_FALSE(*store.Expect(3, DType::kF32, {2}));
  store.Drop(3);
  EXPECT_FALSE(*store.AddRows(3, 0, Rows({1, 2})));
  EXPECT_FALSE(store.Get(3).has_value());
  EXPECT_EQ(store.awaited(), 0u);
  store.Drop(2);
  EXPECT_TRUE(store.empty());
}

TEST(ValueStoreTest, RowsThatDoNotBelongThereAreErrors) {
  ValueStore store;
  struct Case {
    int64_t first_row;
    Tensor rows;
  };
  for (const Case& each : {Case{-1, Rows({1})}, Case{2, Rows({1, 2})}, Case{0, Rows({1, 2, 3, 4})},
                           Case{0, Tensor::Of<double>({1}, {1})}, Case{0, Tensor::Scalar<float>(1)},
                           Case{0, Tensor(DType::kF32, {1, 1})}}) {
    ASSERT_FALSE(*store.Expect(1, DType::kF32, {3}));
    EXPECT_TRUE(absl::IsInvalidArgument(store.AddRows(1, each.first_row, each.rows).status()))
        << each.rows.ToString();
    store.Drop(1);
  }
  ASSERT_FALSE(*store.Expect(1, DType::kF32, {3}));
  ASSERT_FALSE(*store.AddRows(1, 0, Rows({1, 2})));
  EXPECT_FALSE(store.AddRows(1, 1, Rows({2, 3})).ok());
  // More of them than a value has, before it is expected.
  ASSERT_FALSE(*store.AddRows(2, 0, Rows({1, 2})));
  ASSERT_FALSE(*store.AddRows(2, 0, Rows({1, 2})));
  EXPECT_FALSE(store.Expect(2, DType::kF32, {2}).ok());
}

TEST(ValueStoreTest, ASmallPartOfMuchMemoryDoesNotKeepIt) {
  ValueStore store;
  const Tensor much(DType::kF32, {1000});
  store.Put(1, much.Rows(10, 20));
  EXPECT_LT(store.Get(1)->buffer()->size(), 1000u);
  store.Put(2, much);
  EXPECT_EQ(store.Get(2)->buffer(), much.buffer());
  store.Clear();
  EXPECT_TRUE(store.empty());
}

}  // namespace
}  // namespace weir
