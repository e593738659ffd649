// The bytes of a link: whatever comes is cut into messages or refused, whole and byte by byte
// alike.
#include "common/net/decoder.h"
#include "common/net/wire.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

std::string BytesOf(Message message) {
  message.payload_crc = ChecksumPayload(message.frame);
  std::string bytes = EncodeHead(message);
  for (const Slice& slice : message.frame.payload) bytes += slice.view();
  return bytes;
}

std::vector<std::string> Seeds() {
  Message frame{.generation = 3, .credit = 17};
  frame.frame.header = "header";
  frame.frame.payload = {SliceOf("payload"), SliceOf(""), SliceOf(std::string(300, 'x'))};
  Message hello{.kind = MessageKind::kHello, .credit = 1 << 20};
  hello.frame.header = "worker";
  const std::string close = BytesOf(CloseMessage(absl::AbortedError("the end")));
  return {BytesOf(frame), BytesOf(hello) + BytesOf(frame) + close,
          BytesOf({.kind = MessageKind::kCredit, .credit = 5}) + close};
}

std::vector<std::string> Words() { return {"WEIR", std::string(8, '\0'), std::string(8, '\xff')}; }

// Returns: how many messages there are in front of the end or the first fault.
int Count(std::string_view bytes, size_t step) {
  int messages = 0;
  Decoder decoder(
      {}, [](MessageKind, uint64_t, size_t) { return absl::OkStatus(); },
      [&messages](Message) { ++messages; });
  for (size_t at = 0; at < bytes.size(); at += step) {
    if (!decoder.Feed(bytes.substr(at, step)).ok()) break;
  }
  return messages;
}

}  // namespace

WEIR_FUZZ_TARGET(wire, {.seeds = &Seeds, .words = &Words}) {
  const std::string_view bytes = View(data, size);
  Require(Count(bytes, 7) == Count(bytes, bytes.size() + 1), "cuts change nothing");
  return 0;
}

}  // namespace weir
