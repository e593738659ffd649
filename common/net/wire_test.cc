#include "common/net/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

TEST(WireTest, HeadHasTheDocumentedLayout) {
  Message message{.kind = MessageKind::kClose, .code = 9, .generation = 0x0102, .credit = 0x0304};
  message.frame = {"hdr", {SliceOf("abcd"), SliceOf("e")}};
  message.payload_crc = ChecksumPayload(message.frame);
  const std::string bytes = EncodeHead(message);
  ASSERT_EQ(bytes.size(), kWireHeadBytes + 2 * 8 + 3);
  EXPECT_EQ(bytes.substr(0, 4), "WEIR");
  EXPECT_EQ(bytes.substr(4, 4), std::string("\x01\x00\x05\x09", 4));
  EXPECT_EQ(bytes.substr(8, 8), std::string("\x02\x01\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(16, 8), std::string("\x04\x03\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(24, 8), std::string("\x03\0\0\0\x02\0\0\0", 8));
  EXPECT_EQ(bytes.substr(32, 8), std::string("\x05\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(48, 8), std::string("\x04\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(64), "hdr");
  EXPECT_TRUE(HeadChecksumMatches(bytes.data(), std::string_view(bytes).substr(48)));
}

TEST(WireTest, ForeignBytesAndVersionsAreToldApart) {
  std::string bytes = EncodeHead({});
  MessageHead head;
  EXPECT_TRUE(DecodeHead(bytes.data(), &head).ok());
  bytes[4] = 2;
  const absl::Status version = DecodeHead(bytes.data(), &head);
  EXPECT_EQ(version.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(version.message()), HasSubstr("version 2 of the link protocol"));
  const absl::Status magic = DecodeHead(std::string(48, 'G').data(), &head);
  EXPECT_EQ(magic.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(magic.message()), HasSubstr("0x47474747"));
}

TEST(WireTest, ReasonsTravelInCloseMessages) {
  for (const absl::Status& reason : {absl::OkStatus(), absl::Status(absl::AbortedError("left")),
                                     absl::Status(absl::UnauthenticatedError("no token"))}) {
    EXPECT_EQ(ReasonOf(CloseMessage(reason)), reason);
  }
  EXPECT_LE(CloseMessage(absl::InternalError(std::string(1 << 20, 'x'))).frame.header.size(),
            4096u);
  Message unknown{.kind = MessageKind::kClose, .code = 200};
  EXPECT_EQ(ReasonOf(unknown).code(), absl::StatusCode::kUnknown);
}

}  // namespace
}  // namespace weir
