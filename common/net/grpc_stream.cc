#include "common/net/grpc_stream.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/net/link_frame.h"

namespace weir {
namespace {

// The receiver holds what is under way beside the memory that it is meant for.
constexpr size_t kFrameBytes = size_t{128} << 10;
constexpr uint64_t kUnderWayBytes = kFrameBytes + kFrameBytes / 2;
// So much of it comes before the sender hears of it, so that the next may leave meanwhile.
constexpr uint64_t kTellBytes = kUnderWayBytes / 4;
// Slices up to this size travel with the headers; longer ones in the field that is filled by
// itself.
constexpr size_t kShortSlice = size_t{4} << 10;

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

GrpcStream::GrpcStream(std::shared_ptr<LinkCore> core, const LinkOptions& options)
    : core_(std::move(core)),
      decoder_(
          options,
          [core = core_.get()](MessageKind kind, uint64_t generation, size_t cost) {
            return core->Admit(kind, generation, cost);
          },
          [core = core_.get()](Message message) { core->OnMessage(std::move(message)); }) {}

// ---- Writing ----

void GrpcStream::WantWrite() {
  if (turn_.Enter()) Pump();
}

// REQUIRES: the write turn. Gives it up, or passes it to the write that it starts.
void GrpcStream::Pump() {
  while (true) {
    if (stopped_) {
      Finish();  // keeps the turn
      return;
    }
    if (!broken_ && FillFrame()) {
      write_order_.fetch_add(1);
      BeginWrite();
      return;
    }
    if (turn_.Leave()) return;
  }
}

void GrpcStream::WriteDone(bool ok) {
  write_order_.fetch_add(1);
  outgoing_.Clear();
  if (!ok) {
    broken_ = true;
    parts_.clear();
  } else if (std::exchange(writes_close_, false)) {
    EndWrites();
    core_->OnCloseWritten();
  }
  Pump();
}

void GrpcStream::Take(Message message) {
  const bool closes = message.kind == MessageKind::kClose;
  parts_.push_back({SliceOf(EncodeHead(message)), false, closes});
  for (Slice& slice : message.frame.payload) {
    if (slice.size > 0) parts_.push_back({std::move(slice), true, false});
  }
}

// Returns: whether outgoing_ has something to send.
bool GrpcStream::FillFrame() {
  std::string header;
  std::vector<Slice> payload;
  const uint64_t under_way = sent_ - acknowledged_;
  const size_t whole = std::min<size_t>(kFrameBytes, kUnderWayBytes - under_way);
  size_t room = whole;
  Message message;
  while (room > 0) {
    if (parts_.empty()) {
      if (!core_->Take(&message)) break;
      Take(std::exchange(message, {}));
    }
    Part& part = parts_.front();
    // Bytes of the header field come before those of the payload field.
    const bool is_long = part.of_payload && part.bytes.size > kShortSlice;
    if (!is_long && !payload.empty()) break;
    const size_t size = std::min(room, part.bytes.size);
    if (is_long) {
      payload.push_back({part.bytes.owner, part.bytes.data, size});
    } else {
      header.append(reinterpret_cast<const char*>(part.bytes.data), size);
    }
    room -= size;
    if (size < part.bytes.size) {
      part.bytes.data += size;
      part.bytes.size -= size;
      break;
    }
    writes_close_ = writes_close_ || part.closes;
    parts_.pop_front();
  }
  const uint64_t received = received_;
  const bool tells = received - told_ >= kTellBytes;
  if (room == whole && !tells) return false;
  sent_ += whole - room;
  if (tells) told_ = received;
  outgoing_ = EncodeLinkFrame(header, std::move(payload), tells ? received : 0);
  return true;
}

// ---- Reading ----

absl::Status GrpcStream::TakeBytes() {
  uint64_t size = 0;
  WEIR_ASSIGN_OR_RETURN(const uint64_t acknowledged,
                        DecodeLinkFrame(&incoming_, [&](std::string_view bytes) {
                          size += bytes.size();
                          return decoder_.Feed(bytes);
                        }));
  received_ += size;
  if (received_ - told_ >= kTellBytes) WantWrite();
  return acknowledged == 0 ? absl::OkStatus() : Acknowledged(acknowledged);
}

absl::Status GrpcStream::Acknowledged(uint64_t bytes) {
  if (bytes < acknowledged_ || bytes > sent_) {
    return absl::DataLossError(StrCat("the peer says that it received ", bytes, " bytes of ",
                                      sent_.load(), ", after ", acknowledged_.load()));
  }
  acknowledged_ = bytes;
  WantWrite();
  return absl::OkStatus();
}

void GrpcStream::ReadDone(bool ok) {
  read_order_.fetch_add(1);
  if (!ok) {
    OnPeerEnded();
    return;
  }
  if (core_->reading()) {
    if (absl::Status status = TakeBytes(); !status.ok()) core_->OnDamaged(status);
  }
  incoming_.Clear();
  core_->Deliver();
  read_order_.fetch_add(1);
  BeginRead();
}

// ---- End ----

bool GrpcStream::StopWriting() {
  if (stopped_.exchange(true)) return true;
  if (!turn_.Enter()) return false;  // who has the turn sees stopped_
  Finish();
  return true;
}

void GrpcStream::CallDone(const absl::Status& reason) {
  read_order_.fetch_add(1);
  const std::string position = decoder_.Position();
  const absl::Status end =
      reason.ok() ? absl::UnavailableError("the peer ended the stream without a reason") : reason;
  core_->OnDisconnected(
      position.empty() ? end
                       : Annotate(end, StrCat("the stream ended inside a frame, at ", position)));
}

}  // namespace weir
