// GrpcStream: what both ends of a gRPC link share: messages of the core into LinkFrames and back,
// one write at a time, and the order of the end; inside of grpc_link.
//
// Who has the write turn may start an operation on the stream. At the end the turn is taken for
// good and given up to Finish, so that no operation begins after it.
#ifndef WEIR_COMMON_NET_GRPC_STREAM_H_
#define WEIR_COMMON_NET_GRPC_STREAM_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "common/net/decoder.h"
#include "common/net/link_core.h"
#include "common/net/write_turn.h"

namespace weir {

absl::Status FromGrpc(const grpc::Status& status);

class GrpcStream : public LinkDriver {
 public:
  GrpcStream(std::shared_ptr<LinkCore> core, const LinkOptions& options);

  void WantWrite() override;

 protected:
  // Operations of the reactor. BeginWrite sends outgoing_, BeginRead fills incoming_.
  virtual void BeginWrite() = 0;
  virtual void BeginRead() = 0;
  // Says that no write follows, if that is a step of its own.
  virtual void EndWrites() = 0;
  // Lets the call end. Called once, the last operation from outside of a reaction.
  virtual void Finish() = 0;
  // No message of the peer follows.
  virtual void OnPeerEnded() = 0;

  // For the reactions of the same names.
  void ReadDone(bool ok);
  void WriteDone(bool ok);
  void CallDone(const absl::Status& reason);

  // Begins no further write, and calls Finish: now, or when the write under way is done. Returns:
  // false if there is one under way.
  bool StopWriting();

  const std::shared_ptr<LinkCore>& core() const { return core_; }

  grpc::ByteBuffer outgoing_;
  grpc::ByteBuffer incoming_;

 private:
  // Bytes on their way into the stream.
  struct Part {
    Slice bytes;
    bool of_payload;
    bool closes;  // the last bytes of a close message
  };

  void Pump();
  bool FillFrame();
  void Take(Message message);
  absl::Status TakeBytes();
  absl::Status Acknowledged(uint64_t bytes);

  const std::shared_ptr<LinkCore> core_;
  Decoder decoder_;
  WriteTurn turn_;
  std::deque<Part> parts_;     // used by who has the turn
  bool writes_close_ = false;  // as parts_: the write under way ends with the close message
  bool broken_ = false;        // as parts_: a write failed
  std::atomic<uint64_t> sent_{0};
  std::atomic<uint64_t> acknowledged_{0};  // of sent_, what the peer has
  std::atomic<uint64_t> received_{0};
  std::atomic<uint64_t> told_{0};  // of received_, what the peer was told
  std::atomic<bool> stopped_{false};
  // Touched where an operation begins and where it is done, which may be on two threads: the order
  // that gRPC gives is one that a thread sanitizer, blind to gRPC's own locks, does not see.
  std::atomic<uint64_t> read_order_{0};
  std::atomic<uint64_t> write_order_{0};
};

}  // namespace weir

#endif  // WEIR_COMMON_NET_GRPC_STREAM_H_
