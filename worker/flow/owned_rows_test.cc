#include "worker/flow/owned_rows.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace weir {
namespace {

// Of `size` rows; `most` says how often owner 1 has a row, of 8.
std::vector<uint16_t> OwnersOf(size_t size, uint32_t most, std::mt19937* random) {
  std::vector<uint16_t> owners(size);
  for (uint16_t& owner : owners) {
    owner = static_cast<uint16_t>((*random)() % 8 < most ? 1 : (*random)() % 3);
  }
  return owners;
}

// Sizes on both sides of what is taken at once, and shares from none to all.
TEST(OwnedRows, AreThoseOfAPlainLoop) {
  std::mt19937 random(7);
  for (const size_t size : {0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 1000, 4099}) {
    std::vector<uint64_t> words(size);
    for (uint64_t& word : words) word = random() * uint64_t{0x9e3779b97f4a7c15};
    for (const uint32_t most : {0, 1, 4, 7, 8}) {
      const std::vector<uint16_t> owners = OwnersOf(size, most, &random);
      for (const uint16_t owner : {0, 1, 2, 3}) {
        std::vector<uint32_t> rows;
        std::vector<uint64_t> of_rows;
        for (size_t row = 0; row < size; ++row) {
          if (owners[row] != owner) continue;
          rows.push_back(static_cast<uint32_t>(row));
          of_rows.push_back(words[row]);
        }
        ASSERT_EQ(CountOwned(owners, owner), rows.size());
        std::vector<uint32_t> listed(rows.size());
        ListOwned(owners, owner, absl::MakeSpan(listed));
        EXPECT_EQ(listed, rows) << size << " rows, owner " << owner;
        std::vector<uint64_t> taken(rows.size());
        TakeOwned(owners, owner, reinterpret_cast<const std::byte*>(words.data()),
                  absl::MakeSpan(taken));
        EXPECT_EQ(taken, of_rows) << size << " rows, owner " << owner;
      }
    }
  }
}

}  // namespace
}  // namespace weir
