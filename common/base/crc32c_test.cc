#include "common/base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

#include "common/base/random.h"

namespace weir {
namespace {

// The vectors of RFC 3720, appendix B.4.
TEST(Crc32cTest, PublishedVectors) {
  std::string rising(32, '\0'), falling(32, '\0');
  for (int i = 0; i < 32; ++i)
    rising[i] = static_cast<char>(i), falling[i] = static_cast<char>(31 - i);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(rising), 0x46dd794eu);
  EXPECT_EQ(Crc32c(falling), 0x113fdb5cu);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(Crc32cTest, EveryPathAgreesAtEveryLengthAndOffset) {
  SeededRandom random(1);
  std::string bytes(10000, '\0');
  for (char& c : bytes) c = static_cast<char>(random.Next());
  for (int i = 0; i < 2000; ++i) {
    const size_t offset = random.Below(64);
    const size_t size = random.Below(bytes.size() - offset);
    const size_t split = random.Below(size + 1);
    const char* p = bytes.data() + offset;
    const uint32_t expected = ExtendCrc32cPortable(0, p, size);
    ASSERT_EQ(ExtendCrc32c(0, p, size), expected) << offset << " " << size;
    ASSERT_EQ(ExtendCrc32c(ExtendCrc32c(0, p, split), p + split, size - split), expected);
  }
}

}  // namespace
}  // namespace weir
