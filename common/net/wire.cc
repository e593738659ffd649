#include "common/net/wire.h"

#include <bit>
#include <cstring>

#include "absl/strings/str_format.h"
#include "common/base/crc32c.h"
#include "common/base/status.h"

namespace weir {
namespace {

static_assert(std::endian::native == std::endian::little,
              "fields are copied as they lie in memory");

constexpr size_t kHeadCrcOffset = 44;
// A reason longer than this is cut: it must fit everywhere a header fits.
constexpr size_t kMaxReasonBytes = 4096;

template <class T>
void Put(char* head, size_t offset, T value) {
  std::memcpy(head + offset, &value, sizeof(T));
}

template <class T>
T Get(const char* head, size_t offset) {
  T value;
  std::memcpy(&value, head + offset, sizeof(T));
  return value;
}

}  // namespace

uint32_t ChecksumPayload(const Frame& frame) {
  uint32_t crc = 0;
  for (const Slice& slice : frame.payload) crc = ExtendCrc32c(crc, slice.data, slice.size);
  return crc;
}

std::string EncodeHead(const Message& message) {
  const Frame& frame = message.frame;
  std::string out(kWireHeadBytes + 8 * frame.payload.size() + frame.header.size(), '\0');
  char* head = out.data();
  Put<uint32_t>(head, 0, kWireMagic);
  Put<uint16_t>(head, 4, kWireVersion);
  Put<uint8_t>(head, 6, static_cast<uint8_t>(message.kind));
  Put<uint8_t>(head, 7, message.code);
  Put<uint64_t>(head, 8, message.generation);
  Put<uint64_t>(head, 16, message.credit);
  Put<uint32_t>(head, 24, static_cast<uint32_t>(frame.header.size()));
  Put<uint32_t>(head, 28, static_cast<uint32_t>(frame.payload.size()));
  Put<uint64_t>(head, 32, frame.payload_bytes());
  Put<uint32_t>(head, 40, message.payload_crc);
  size_t offset = kWireHeadBytes;
  for (const Slice& slice : frame.payload) {
    Put<uint64_t>(head, offset, slice.size);
    offset += 8;
  }
  if (!frame.header.empty()) {
    std::memcpy(head + offset, frame.header.data(), frame.header.size());
  }
  uint32_t crc = ExtendCrc32c(0, head, kHeadCrcOffset);
  crc = ExtendCrc32c(crc, head + kWireHeadBytes, out.size() - kWireHeadBytes);
  Put<uint32_t>(head, kHeadCrcOffset, crc);
  return out;
}

absl::Status DecodeHead(const char* bytes, MessageHead* head) {
  if (const auto magic = Get<uint32_t>(bytes, 0); magic != kWireMagic) {
    return absl::DataLossError(absl::StrFormat(
        "frame starts with 0x%08x instead of \"WEIR\": the peer speaks another protocol, or bytes "
        "were lost",
        magic));
  }
  if (const auto version = Get<uint16_t>(bytes, 4); version != kWireVersion) {
    return absl::FailedPreconditionError(StrCat("the peer speaks version ", version,
                                                " of the link protocol, this end version ",
                                                kWireVersion, ": run the same release on both"));
  }
  const auto kind = Get<uint8_t>(bytes, 6);
  if (kind < static_cast<uint8_t>(MessageKind::kHello) ||
      kind > static_cast<uint8_t>(MessageKind::kClose)) {
    return absl::DataLossError(StrCat("frame of unknown kind ", kind));
  }
  *head = {.kind = static_cast<MessageKind>(kind),
           .code = Get<uint8_t>(bytes, 7),
           .generation = Get<uint64_t>(bytes, 8),
           .credit = Get<uint64_t>(bytes, 16),
           .header_bytes = Get<uint32_t>(bytes, 24),
           .slices = Get<uint32_t>(bytes, 28),
           .payload_bytes = Get<uint64_t>(bytes, 32),
           .payload_crc = Get<uint32_t>(bytes, 40),
           .head_crc = Get<uint32_t>(bytes, kHeadCrcOffset)};
  return absl::OkStatus();
}

bool HeadChecksumMatches(const char* head_bytes, std::string_view sizes_and_header) {
  uint32_t crc = ExtendCrc32c(0, head_bytes, kHeadCrcOffset);
  crc = ExtendCrc32c(crc, sizes_and_header.data(), sizes_and_header.size());
  return crc == Get<uint32_t>(head_bytes, kHeadCrcOffset);
}

Message CloseMessage(const absl::Status& reason) {
  Message message{.kind = MessageKind::kClose, .code = static_cast<uint8_t>(reason.code())};
  message.frame.header = std::string(reason.message().substr(0, kMaxReasonBytes));
  return message;
}

absl::Status ReasonOf(const Message& close) {
  if (close.code > static_cast<uint8_t>(absl::StatusCode::kUnauthenticated)) {
    return absl::UnknownError(close.frame.header);
  }
  return absl::Status(static_cast<absl::StatusCode>(close.code), close.frame.header);
}

}  // namespace weir
