// The messages that two ends of a link exchange, and their form in bytes. Stateless; usable from
// any thread.
//
// A message in bytes is a head of 48 bytes (integers little-endian), the sizes of the slices (8
// bytes each), the header bytes, and the slices end to end:
//
//   offset 0  magic "WEIR"       16  credit given back       40  CRC32C of the slices
//          4  version (2 bytes)  24  size of the header (4)  44  CRC32C of bytes 0..43, sizes and
//          header 6  kind, 7 code       28  number of slices (4) 8  generation         32  sum of
//          the slices
#ifndef WEIR_COMMON_NET_WIRE_H_
#define WEIR_COMMON_NET_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/net/frame.h"

namespace weir {

inline constexpr uint32_t kWireMagic = 0x52494557;  // "WEIR"
inline constexpr uint16_t kWireVersion = 1;
inline constexpr size_t kWireHeadBytes = 48;

enum class MessageKind : uint8_t {
  kHello = 1,    // first of each direction; header: greeting, credit: receive window
  kData = 2,     // a frame
  kCredit = 3,   // only gives credit back
  kStarved = 4,  // the sender waits for credit: give back what there is
  kClose = 5,    // last of its direction; code and header: the reason
};

struct Message {
  MessageKind kind = MessageKind::kData;
  uint8_t code = 0;  // an absl::StatusCode
  uint64_t generation = 0;
  uint64_t credit = 0;  // any kind may give credit back
  Frame frame;
  uint32_t payload_crc = 0;  // set by ChecksumPayload; forms that pass no bytes leave it alone
};

// The fixed part of a message, as read from bytes.
struct MessageHead {
  MessageKind kind;
  uint8_t code;
  uint64_t generation;
  uint64_t credit;
  uint32_t header_bytes;
  uint32_t slices;
  uint64_t payload_bytes;
  uint32_t payload_crc;
  uint32_t head_crc;
};

uint32_t ChecksumPayload(const Frame& frame);

// Returns: head, slice sizes and header. The slices follow on the wire as they are.
std::string EncodeHead(const Message& message);

// Reads the fixed part. Errors: DATA_LOSS for a wrong magic or kind, FAILED_PRECONDITION for a
// version that this program does not speak. Checksums are not looked at. REQUIRES: kWireHeadBytes
// bytes.
absl::Status DecodeHead(const char* bytes, MessageHead* head);

// Returns: whether `sizes_and_header` belong to the head in `head_bytes`.
bool HeadChecksumMatches(const char* head_bytes, std::string_view sizes_and_header);

// The reason of a close message, and the reverse. A code that is unknown here reads as UNKNOWN.
Message CloseMessage(const absl::Status& reason);
absl::Status ReasonOf(const Message& close);

}  // namespace weir

#endif  // WEIR_COMMON_NET_WIRE_H_
