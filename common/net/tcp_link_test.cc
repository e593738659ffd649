// What only the bytes of a TCP connection can show: damaged, truncated, foreign and hostile
// streams.
#include "common/net/tcp_link.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <thread>

#include "common/base/status.h"
#include "common/net/address.h"
#include "common/net/link_test_forms.h"
#include "common/net/wire.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

bool WaitUntil(const std::function<bool()>& done) {
  for (int i = 0; i < 300000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return false;
}

std::string ToBytes(Message message) {
  message.payload_crc = ChecksumPayload(message.frame);
  return EncodeHead(message) + JoinPayload(message.frame);
}

// A peer that writes what it likes.
class RawPeer {
 public:
  explicit RawPeer(const std::string& address) {
    const HostPort target = *ParseHostPort(address);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(target.port);
    inet_pton(AF_INET, target.host.c_str(), &where.sin_addr);
    descriptor_ = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(descriptor_, reinterpret_cast<sockaddr*>(&where), sizeof(where)), 0);
  }
  ~RawPeer() { Shut(); }

  void Write(const std::string& bytes) {
    size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t n = send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;  // refused: what the link says about it is what counts
      sent += n;
    }
  }

  // Returns: everything up to the end of the stream.
  std::string ReadAll() {
    std::string bytes;
    char buffer[4096];
    ssize_t n;
    while ((n = recv(descriptor_, buffer, sizeof(buffer), 0)) > 0) bytes.append(buffer, n);
    return bytes;
  }

  void Shut() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_ = -1;
};

class TcpLinkTest : public ::testing::Test {
 protected:
  void Listen(LinkOptions options = {}) {
    options.generation = 5;
    auto listener =
        transport_.Listen("127.0.0.1:0", std::move(options), [this](std::shared_ptr<Link> link) {
          link->Start(events_->Callbacks(Recorder::Credits::kHold));
          std::lock_guard lock(mutex_);
          links_.push_back(std::move(link));
        });
    ASSERT_TRUE(listener.ok()) << listener.status();
    listener_ = *std::move(listener);
  }
  std::string Hello() {
    return ToBytes({.kind = MessageKind::kHello, .generation = 5, .credit = 1 << 20});
  }
  std::string Data(std::string header, std::string payload) {
    Message message{.generation = 5};
    message.frame = {std::move(header), {SliceOf(std::move(payload))}};
    return ToBytes(std::move(message));
  }
  // Expects that the link ends with this after the peer wrote `bytes` behind a hello.
  void ExpectEnd(const std::string& bytes, absl::StatusCode code, const std::string& text) {
    RawPeer peer(listener_->address());
    peer.Write(Hello() + bytes);
    ASSERT_TRUE(WaitUntil([&] { return events_->closed().has_value(); }));
    EXPECT_EQ(events_->closed()->code(), code) << *events_->closed();
    EXPECT_THAT(std::string(events_->closed()->message()), HasSubstr(text));
    // The peer is told the same, so that its log says it too.
    EXPECT_THAT(peer.ReadAll(), HasSubstr(text));
  }

  std::shared_ptr<Recorder> events_ = std::make_shared<Recorder>();
  std::mutex mutex_;
  std::vector<std::shared_ptr<Link>> links_;
  TcpTransport transport_;
  std::unique_ptr<Listener> listener_;
};

TEST_F(TcpLinkTest, DamagedPayloadClosesTheLink) {
  Listen();
  std::string damaged = Data("second", "payload");
  damaged.back() ^= 1;
  ExpectEnd(Data("first", "x") + damaged, absl::StatusCode::kDataLoss,
            "checksum of a frame payload does not match");
  EXPECT_EQ(events_->frames(), 1u);
  EXPECT_EQ(events_->frame(0).header, "first");
}

TEST_F(TcpLinkTest, DamagedHeaderClosesTheLink) {
  Listen();
  std::string damaged = Data("header", "payload");
  damaged[kWireHeadBytes + 8] ^= 1;
  ExpectEnd(damaged, absl::StatusCode::kDataLoss, "checksum of a frame header does not match");
}

TEST_F(TcpLinkTest, ForeignMagicClosesTheLink) {
  Listen();
  ExpectEnd("GET / HTTP/1.1\r\nHost: somewhere\r\nAccept: everything\r\n\r\n",
            absl::StatusCode::kDataLoss, "the peer speaks another protocol");
}

TEST_F(TcpLinkTest, ForeignVersionClosesTheLink) {
  Listen();
  std::string newer = Data("", "");
  newer[4] = 2;
  ExpectEnd(newer, absl::StatusCode::kFailedPrecondition, "version 2 of the link protocol");
}

TEST_F(TcpLinkTest, FrameOfAnOldGenerationClosesTheLink) {
  Listen();
  Message old{.generation = 4};
  old.frame.header = "late";
  ExpectEnd(ToBytes(old), absl::StatusCode::kFailedPrecondition,
            "a frame of generation 4 came to an end of generation 5");
  EXPECT_EQ(events_->frames(), 0u);
}

TEST_F(TcpLinkTest, FrameBeyondTheCreditClosesTheLink) {
  Listen({.receive_window = 10000});
  const std::string frame = Data("", std::string(6000, 'x'));
  ExpectEnd(frame + frame, absl::StatusCode::kResourceExhausted, "beyond the credit of the sender");
  EXPECT_EQ(events_->frames(), 1u);
}

TEST_F(TcpLinkTest, SecondHelloClosesTheLink) {
  Listen();
  ExpectEnd(Hello(), absl::StatusCode::kDataLoss, "a hello in mid stream");
}

TEST_F(TcpLinkTest, HostileLengthsCloseTheLink) {
  Listen({.max_payload_bytes = 1 << 20});
  Message message{.generation = 5};
  message.frame.payload.push_back({.size = size_t{1} << 40});
  ExpectEnd(EncodeHead(message), absl::StatusCode::kResourceExhausted,
            "payload of 1099511627776 bytes is over the limit of 1048576");
}

TEST_F(TcpLinkTest, TruncatedStreamSaysWhereItEnded) {
  Listen();
  RawPeer peer(listener_->address());
  const std::string frame = Data("header", "payload");
  peer.Write(Hello() + Data("whole", "") + frame.substr(0, frame.size() - 2));
  ASSERT_TRUE(WaitUntil([&] { return events_->frames() == 1; }));
  peer.Shut();
  ASSERT_TRUE(WaitUntil([&] { return events_->closed().has_value(); }));
  EXPECT_EQ(events_->closed()->code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(events_->closed()->message()), HasSubstr("payload slice 0"));
}

TEST_F(TcpLinkTest, DataBeforeTheHelloIsRefused) {
  Listen();
  RawPeer peer(listener_->address());
  peer.Write(Data("too early", ""));
  EXPECT_THAT(peer.ReadAll(), HasSubstr("the first frame is no hello"));
  std::lock_guard lock(mutex_);
  EXPECT_TRUE(links_.empty());
}

TEST_F(TcpLinkTest, GarbageConnectionsLeaveTheListenerAlone) {
  Listen();
  for (int i = 0; i < 50; ++i) {
    RawPeer peer(listener_->address());
    peer.Write(std::string(i * 7, static_cast<char>(i)));
  }
  auto link = DialAndWait(transport_, listener_->address(), {.link = {.generation = 5}});
  ASSERT_TRUE(link.ok()) << link.status();
  (*link)->Start({});
  ASSERT_TRUE((*link)->Send({"fine", {}}).ok());
  EXPECT_TRUE(WaitUntil([&] { return events_->frames() == 1; }));
}

TEST_F(TcpLinkTest, PortInUseIsAnErrorThatNamesIt) {
  Listen();
  const auto second = transport_.Listen(listener_->address(), {}, [](std::shared_ptr<Link>) {});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(
      std::string(second.status().message()),
      HasSubstr(StrCat("cannot listen on ", listener_->address(), ": Address already in use")));
}

TEST_F(TcpLinkTest, BadAddressesFailAtOnce) {
  const auto link = DialAndWait(transport_, "http://host:1", {});
  EXPECT_EQ(link.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(transport_.Listen("nowhere", {}, [](std::shared_ptr<Link>) {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(TcpLinkTest, RunsOnAContextOfTheCaller) {
  Listen();
  boost::asio::io_context context;
  auto own = std::make_unique<TcpTransport>(TcpOptions{.context = &context});
  std::shared_ptr<Link> link;
  std::thread::id callback_thread;
  own->Dial(listener_->address(), {}, [&](absl::StatusOr<std::shared_ptr<Link>> dialed) {
    ASSERT_TRUE(dialed.ok()) << dialed.status();
    link = *dialed;
    callback_thread = std::this_thread::get_id();
  });
  while (link == nullptr) context.run_one();
  EXPECT_EQ(callback_thread, std::this_thread::get_id());
  bool closed = false;
  link->Start({.on_closed = [&](const absl::Status& reason) {
    EXPECT_TRUE(reason.ok()) << reason;
    closed = true;
  }});
  ASSERT_TRUE(link->Send({"hello", {}}).ok());
  link->Close(absl::OkStatus());
  while (!closed) context.run_one();
  EXPECT_TRUE(WaitUntil([&] { return events_->frames() == 1; }));
  own.reset();
  context.poll();  // closes the socket
}

}  // namespace
}  // namespace weir
