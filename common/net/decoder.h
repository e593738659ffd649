// Decoder: bytes of one direction of a link into messages. Thread-compatible; owned by one
// connection.
//
// The reader asks Want() where the next bytes go, so that payload lands in its final memory without
// a copy, and says with Filled() how many came. Slices get their memory whole, which
// the default allocator takes from the system page by page as bytes come; headers get theirs in
// steps. So a length that lies costs at most 4 MiB and five times the bytes that were really sent.
#ifndef WEIR_COMMON_NET_DECODER_H_
#define WEIR_COMMON_NET_DECODER_H_

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/net/link.h"
#include "common/net/wire.h"

namespace weir {

class Decoder {
 public:
  // Whether a message may come in, asked once its head has been verified and before its payload is
  // read.
  using Admit = std::function<absl::Status(MessageKind kind, uint64_t generation, size_t cost)>;
  using Emit = std::function<void(Message message)>;

  // Takes the limits and the allocator from `options`.
  Decoder(const LinkOptions& options, Admit admit, Emit emit);

  // Returns: where the next bytes belong; empty only after an error. Valid until the next call of
  // Filled or Feed.
  absl::Span<std::byte> Want();

  // Says that `size` bytes were put at the front of Want(). After an error the decoder is of no
  // more use.
  absl::Status Filled(size_t size);

  // Takes bytes that lie elsewhere.
  absl::Status Feed(std::string_view bytes);

  // Returns: empty between two messages and after an error, else what was being read when the bytes
  // ended.
  std::string Position() const;

 private:
  enum class Stage { kHead, kMeta, kSlice, kFailed };

  absl::Status EndPart();
  absl::Status EndHead();
  absl::Status EndMeta();
  absl::Status GrowMeta();
  absl::Status BeginSlice();
  absl::Status EndSlice();
  absl::Status EndMessage();

  const LinkOptions options_;
  const Admit admit_;
  const Emit emit_;

  Stage stage_ = Stage::kHead;
  size_t filled_ = 0;             // bytes of the current part that are there
  size_t step_ = kWireHeadBytes;  // bytes of the current part that there is memory for

  std::array<char, kWireHeadBytes> head_bytes_;
  MessageHead head_;
  std::string meta_;  // slice sizes and header
  size_t meta_bytes_ = 0;
  Message message_;
  std::vector<size_t> slice_sizes_;
  PayloadBuffer buffer_;  // the current slice
};

}  // namespace weir

#endif  // WEIR_COMMON_NET_DECODER_H_
