#include "common/net/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "common/base/random.h"
#include "common/base/status.h"
#include "common/net/link_test_forms.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

std::string ToBytes(Message message) {
  message.payload_crc = ChecksumPayload(message.frame);
  return EncodeHead(message) + JoinPayload(message.frame);
}

Message RandomMessage(SeededRandom& random) {
  Message message{.generation = random.Below(5), .credit = random.Below(1000)};
  message.frame.header = std::string(random.Below(200), 'h');
  const size_t slices = random.Below(4);
  for (size_t i = 0; i < slices; ++i) {
    std::string bytes(random.Below(3) * random.Below(5000), '\0');
    for (char& c : bytes) c = static_cast<char>(random.Next());
    message.frame.payload.push_back(SliceOf(std::move(bytes)));
  }
  return message;
}

absl::Status AdmitAll(MessageKind, uint64_t, size_t) { return absl::OkStatus(); }

absl::Status DecodeAll(const std::string& bytes, const LinkOptions& options,
                       std::vector<Message>* messages) {
  Decoder decoder(options, AdmitAll, [&](Message message) { messages->push_back(message); });
  WEIR_RETURN_IF_ERROR(decoder.Feed(bytes));
  const std::string position = decoder.Position();
  return position.empty() ? absl::OkStatus() : absl::OutOfRangeError(position);
}

TEST(DecoderTest, MessagesSurviveAnySplit) {
  SeededRandom random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<Message> sent;
    std::string bytes;
    for (int i = 0; i < 10; ++i) bytes += ToBytes(sent.emplace_back(RandomMessage(random)));
    std::vector<Message> received;
    Decoder decoder({}, AdmitAll, [&](Message message) { received.push_back(message); });
    for (size_t offset = 0; offset < bytes.size();) {
      const size_t size =
          std::min<size_t>(1 + random.Below(random.Chance(0.5) ? 10 : 5000), bytes.size() - offset);
      ASSERT_TRUE(decoder.Feed(std::string_view(bytes).substr(offset, size)).ok());
      offset += size;
    }
    EXPECT_EQ(decoder.Position(), "");
    ASSERT_EQ(received.size(), sent.size());
    for (size_t i = 0; i < sent.size(); ++i) {
      EXPECT_EQ(received[i].generation, sent[i].generation);
      EXPECT_EQ(received[i].credit, sent[i].credit);
      EXPECT_EQ(received[i].frame.header, sent[i].frame.header);
      ASSERT_EQ(received[i].frame.payload.size(), sent[i].frame.payload.size());
      for (size_t k = 0; k < sent[i].frame.payload.size(); ++k) {
        EXPECT_TRUE(received[i].frame.payload[k].view() == sent[i].frame.payload[k].view());
      }
    }
  }
}

TEST(DecoderTest, EveryFlippedBitIsNoticed) {
  Message message{.generation = 3, .credit = 9};
  message.frame = {"header", {SliceOf("some"), SliceOf(""), SliceOf("payload")}};
  const std::string intact = ToBytes(message);
  for (size_t bit = 0; bit < 8 * intact.size(); ++bit) {
    std::string damaged = intact;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    std::vector<Message> received;
    EXPECT_FALSE(DecodeAll(damaged, {}, &received).ok()) << "bit " << bit;
    EXPECT_TRUE(received.empty()) << "bit " << bit;
  }
}

TEST(DecoderTest, TruncatedStreamsSayWhere) {
  Message message;
  message.frame = {"header", {SliceOf("payload")}};
  const std::string intact = ToBytes(message);
  for (const auto& [size, where] : std::vector<std::pair<size_t, std::string>>{
           {20, "byte 20 of a frame head"},
           {kWireHeadBytes + 3, "byte 3 of 14 of a frame header"},
           {intact.size() - 1, "byte 6 of 7 of payload slice 0"}}) {
    std::vector<Message> received;
    EXPECT_EQ(DecodeAll(intact.substr(0, size), {}, &received).message(), where);
  }
}

// A head as a hostile peer may write it: lengths at will, with a checksum that fits.
std::string HostileHead(uint32_t header_bytes, std::vector<uint64_t> slices) {
  Message message;
  for (uint64_t size : slices) message.frame.payload.push_back({.size = size});
  message.frame.header = std::string(std::min<uint32_t>(header_bytes, 1000), 'h');
  std::string bytes = EncodeHead(message);
  std::memcpy(bytes.data() + 24, &header_bytes, sizeof(header_bytes));
  return bytes;
}

TEST(DecoderTest, LengthsOverTheLimitAreRefusedAtOnce) {
  const LinkOptions options{.max_payload_bytes = 5000, .max_header_bytes = 2000, .max_slices = 3};
  for (const auto& [bytes, what] : std::vector<std::pair<std::string, std::string>>{
           {HostileHead(2001, {}), "header of 2001 bytes is over the limit of 2000"},
           {HostileHead(0, {0, 0, 0, 0}), "4 payload slices is over the limit of 3"},
           {HostileHead(0, {5001}), "payload of 5001 bytes is over the limit of 5000"},
           {HostileHead(0, {~uint64_t{0} - 10, 20}), "longer than their frame"}}) {
    std::vector<Message> received;
    const absl::Status status = DecodeAll(bytes, options, &received);
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
  }
}

size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * 4096;
}

TEST(DecoderTest, ALyingLengthTakesMemoryOnlyForWhatCame) {
#if defined(WEIR_THREAD_SANITIZER) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers have resident memory of their own";
#endif
  const size_t before = ResidentBytes();
  Decoder decoder({}, AdmitAll, [](Message) { FAIL() << "nothing is complete"; });
  ASSERT_TRUE(decoder.Feed(HostileHead(0, {uint64_t{3} << 30})).ok());
  EXPECT_LE(ResidentBytes(), before + (size_t{4} << 20));
  const std::string bytes(size_t{10} << 20, 'x');
  ASSERT_TRUE(decoder.Feed(bytes).ok());
  EXPECT_LE(ResidentBytes(), before + (size_t{4} << 20) + 2 * bytes.size());
}

TEST(DecoderTest, ALongSliceEndsInTheMemoryOfTheReceiver) {
  for (const size_t size :
       {(size_t{4} << 20) - 1, size_t{4} << 20, (size_t{4} << 20) + 1, size_t{33} << 20}) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; i += 997) bytes[i] = static_cast<char>(i);
    Message message;
    message.frame.payload.push_back(SliceOf(bytes));
    size_t asked = 0;
    LinkOptions options;
    options.allocate = [&](std::string_view, size_t, size_t wanted) {
      asked += wanted;
      return AllocateHeap("", 0, wanted);
    };
    std::vector<Message> received;
    ASSERT_TRUE(DecodeAll(ToBytes(message), options, &received).ok());
    EXPECT_EQ(asked, size);
    EXPECT_TRUE(received[0].frame.payload[0].view() == bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(received[0].frame.payload[0].data) % 64, 0u);
  }
}

TEST(DecoderTest, RefusalsAndAllocationErrorsEndTheStream) {
  Message message;
  message.frame = {"h", {SliceOf("payload")}};
  std::vector<Message> received;
  LinkOptions options;
  options.allocate = [](std::string_view header, size_t, size_t) {
    return absl::StatusOr<PayloadBuffer>(
        absl::ResourceExhaustedError(StrCat("no room for ", header)));
  };
  EXPECT_EQ(DecodeAll(ToBytes(message), options, &received).message(), "no room for h");
  Decoder refusing(
      {},
      [](MessageKind kind, uint64_t generation, size_t cost) {
        EXPECT_EQ(kind, MessageKind::kData);
        EXPECT_EQ(generation, 4u);
        EXPECT_EQ(cost, 64 + 1 + 7u);
        return absl::FailedPreconditionError("too old");
      },
      [](Message) { FAIL(); });
  message.generation = 4;
  EXPECT_EQ(refusing.Feed(ToBytes(message)).message(), "too old");
}

TEST(DecoderTest, NothingPassesAfterAnError) {
  Message message;
  message.frame = {"h", {SliceOf("payload")}};
  std::string damaged = ToBytes(message);
  damaged.back() ^= 1;
  int messages = 0;
  Decoder decoder({}, AdmitAll, [&](Message) { ++messages; });
  EXPECT_EQ(decoder.Feed(damaged).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(decoder.Position(), "");
  EXPECT_TRUE(decoder.Want().empty());
  EXPECT_FALSE(decoder.Feed(ToBytes(message)).ok());
  EXPECT_EQ(messages, 0);
}

TEST(DecoderTest, RandomBytesNeverPass) {
  SeededRandom random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = ToBytes(RandomMessage(random));
    const size_t hits = 1 + random.Below(8);
    const std::string intact = bytes;
    for (size_t i = 0; i < hits; ++i) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Next());
    }
    std::vector<Message> received;
    EXPECT_EQ(DecodeAll(bytes, {}, &received).ok(), bytes == intact);
  }
}

}  // namespace
}  // namespace weir
