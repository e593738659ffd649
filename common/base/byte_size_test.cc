#include "common/base/byte_size.h"

#include <gtest/gtest.h>

#include <string>

#include "common/base/status.h"

namespace weir {
namespace {

TEST(ByteSizeTest, ReadsNumbersWithAndWithoutUnits) {
  EXPECT_EQ(*ParseByteSize("4096"), 4096);
  EXPECT_EQ(*ParseByteSize("7B"), 7);
  EXPECT_EQ(*ParseByteSize("1KiB"), 1024);
  EXPECT_EQ(*ParseByteSize("512MiB"), int64_t{512} << 20);
  EXPECT_EQ(*ParseByteSize("1.5 GiB"), int64_t{3} << 29);
  EXPECT_EQ(*ParseByteSize("2TiB"), int64_t{2} << 40);
  EXPECT_EQ(*ParseByteSize("3MB"), 3'000'000);
}

TEST(ByteSizeTest, QuotesWhatIsNoSize) {
  for (const char* text : {"", "MiB", "12Mib", "-1", "0", "nan", "inf", "1e30", "1 2", "0x10G"}) {
    const absl::Status status = ParseByteSize(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(status.message().find(text), std::string::npos) << status;
  }
}

}  // namespace
}  // namespace weir
