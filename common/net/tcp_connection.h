// TcpConnection: moves the messages of one link over one stream socket, TCP's or a local one;
// inside of tcp_link.
//
// The socket object belongs to the thread of its io_context. Other threads only send on its
// descriptor, and only while they have the write turn, which the io thread takes for good before it
// closes the descriptor.
#ifndef WEIR_COMMON_NET_TCP_CONNECTION_H_
#define WEIR_COMMON_NET_TCP_CONNECTION_H_

#include <sys/uio.h>

#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/net/decoder.h"
#include "common/net/link_core.h"
#include "common/net/write_turn.h"

namespace weir {

class TcpConnection : public LinkDriver, public std::enable_shared_from_this<TcpConnection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  TcpConnection(Socket socket, std::shared_ptr<LinkCore> core, const LinkOptions& options);

  // Begins to read, and lets the core begin. REQUIRES: on the io thread.
  void Begin();

  void WantWrite() override;
  void Disconnect() override;

 private:
  enum class WriteResult { kDone, kBlocked, kFailed };
  enum class Place { kCaller, kLoop };  // whose stack it is

  // Messages on their way into the socket, and where in them the socket is.
  struct Batch {
    std::vector<Message> messages;
    std::deque<std::string> heads;
    std::vector<iovec> parts;
    size_t next = 0;  // the first part that has not left
    size_t bytes = 0;
    bool closes = false;
  };

  void WaitReadable();
  void OnReadable();
  bool ReadOnce();
  absl::Status TakeBytes(size_t size);
  void OnLost(const std::string& why);

  void Pump(Place place);
  bool FillBatch();
  void AddToBatch(Message message);
  WriteResult WriteBatch();
  void WaitWritable();
  void PostPump();

  void TearDown();
  void CloseSocket();

  Socket socket_;
  const int descriptor_;
  const std::shared_ptr<LinkCore> core_;
  Decoder decoder_;
  std::vector<char> scratch_;  // what came behind the bytes that the decoder asked for
  WriteTurn turn_;
  Batch batch_;             // used by who has the turn
  bool broken_ = false;     // as batch_: writing failed
  std::mutex close_mutex_;  // held from sending the close message until the core knows
  std::atomic<bool> torn_down_{false};
};

}  // namespace weir

#endif  // WEIR_COMMON_NET_TCP_CONNECTION_H_
