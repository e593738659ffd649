#include "common/net/link_frame.h"

#include <gtest/gtest.h>

#include <string>

#include "common/base/random.h"
#include "common/base/status.h"
#include "weir/v1/link.pb.h"

namespace weir {
namespace {

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

// In slices of `size` bytes.
grpc::ByteBuffer BufferOf(const std::string& bytes, size_t size) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += size) slices.emplace_back(bytes.substr(at, size));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

absl::StatusOr<std::string> Decoded(grpc::ByteBuffer buffer) {
  std::string bytes;
  WEIR_ASSIGN_OR_RETURN(const uint64_t received,
                        DecodeLinkFrame(&buffer, [&](std::string_view part) {
                          bytes.append(part);
                          return absl::OkStatus();
                        }));
  return received == 0 ? bytes : StrCat(bytes, " after ", received);
}

TEST(LinkFrameTest, IsWhatTheGeneratedMessageMakesOfTheSameFields) {
  SeededRandom random(5);
  for (int i = 0; i < 200; ++i) {
    v1::LinkFrame message;
    std::vector<Slice> payload;
    message.set_header(std::string(random.Below(300), static_cast<char>(random.Next())));
    for (uint64_t part = random.Below(3); part > 0; --part) {
      std::string bytes(random.Below(100'000), static_cast<char>(random.Next()));
      message.mutable_payload()->append(bytes);
      payload.push_back(SliceOf(std::move(bytes)));
    }
    if (i % 3 == 0) message.set_received(random.Next());
    const grpc::ByteBuffer encoded = EncodeLinkFrame(message.header(), payload, message.received());
    v1::LinkFrame parsed;
    ASSERT_TRUE(parsed.ParseFromString(BytesOf(encoded)));
    EXPECT_EQ(parsed.SerializeAsString(), message.SerializeAsString());
    const grpc::ByteBuffer cut =
        BufferOf(message.SerializeAsString(), 1 + random.Below(message.ByteSizeLong() + 1));
    for (const grpc::ByteBuffer& buffer : {encoded, cut}) {
      const absl::StatusOr<std::string> decoded = Decoded(buffer);
      ASSERT_TRUE(decoded.ok()) << decoded.status();
      const std::string bytes = message.header() + message.payload();
      EXPECT_EQ(*decoded,
                message.received() == 0 ? bytes : StrCat(bytes, " after ", message.received()));
    }
  }
}

TEST(LinkFrameTest, HoldsTheMemoryOfItsPayloadAndNoCopy) {
  auto owner = std::make_shared<std::string>(100'000, 'x');
  const auto* data = reinterpret_cast<const std::byte*>(owner->data());
  std::weak_ptr<std::string> alive = owner;
  grpc::ByteBuffer encoded = EncodeLinkFrame("head", {{owner, data, owner->size()}}, 0);
  owner.reset();
  EXPECT_FALSE(alive.expired());
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(encoded.Dump(&slices).ok());
  EXPECT_EQ(slices.back().begin(), reinterpret_cast<const uint8_t*>(data));
  slices.clear();
  encoded.Clear();
  EXPECT_TRUE(alive.expired());
}

TEST(LinkFrameTest, PassesOverFieldsThatItDoesNotKnow) {
  const std::string bytes(
      "\x28\x05\x0a\x02"
      "ab"
      "\x22\x01"
      "z"
      "\x12\x01"
      "c",
      12);
  const absl::StatusOr<std::string> decoded = Decoded(BufferOf(bytes, 3));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, "abc");
}

TEST(LinkFrameTest, RefusesWhatIsNoFrame) {
  for (const std::string& bytes : {std::string("\x0a\x05"
                                               "ab"),
                                   std::string("\x0a"), std::string("\xff\xff\xff\xff\xff\xff"),
                                   std::string("\x04"), std::string(1, '\0')}) {
    EXPECT_EQ(Decoded(BufferOf(bytes, 2)).status().code(), absl::StatusCode::kDataLoss)
        << testing::PrintToString(bytes);
  }
}

TEST(LinkFrameTest, StopsAtTheFirstErrorOfItsReader) {
  grpc::ByteBuffer encoded = EncodeLinkFrame("head", {SliceOf("payload")}, 7);
  int calls = 0;
  const absl::StatusOr<uint64_t> received = DecodeLinkFrame(&encoded, [&](std::string_view) {
    ++calls;
    return absl::AbortedError("enough");
  });
  EXPECT_EQ(received.status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace weir
