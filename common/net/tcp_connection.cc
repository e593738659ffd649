#include "common/net/tcp_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/status.h"

namespace weir {
namespace {

using boost::system::error_code;

constexpr size_t kScratchBytes = size_t{64} << 10;
// The caller of Send writes at most this much itself; more is left to the io thread.
constexpr size_t kCallerBytes = size_t{64} << 10;
constexpr size_t kBatchBytes = size_t{1} << 20;
constexpr size_t kPartsPerWrite = 512;
constexpr int kReadsPerTurn = 16;  // then other connections get theirs

}  // namespace

TcpConnection::TcpConnection(Socket socket, std::shared_ptr<LinkCore> core,
                             const LinkOptions& options)
    : socket_(std::move(socket)),
      descriptor_(socket_.native_handle()),
      core_(std::move(core)),
      decoder_(
          options,
          [core = core_.get()](MessageKind kind, uint64_t generation, size_t cost) {
            return core->Admit(kind, generation, cost);
          },
          [core = core_.get()](Message message) { core->OnMessage(std::move(message)); }),
      scratch_(kScratchBytes) {}

void TcpConnection::Begin() {
  core_->Attach(shared_from_this());
  WaitReadable();
}

// ---- Reading ----

void TcpConnection::WaitReadable() {
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& error) {
    if (!error) self->OnReadable();
  });
}

void TcpConnection::OnReadable() {
  for (int i = 0; i < kReadsPerTurn && !torn_down_; ++i) {
    const bool more = ReadOnce();
    core_->Deliver();
    if (!more) break;
  }
  if (!torn_down_) WaitReadable();
}

// Returns: whether another read is likely to find bytes.
bool TcpConnection::ReadOnce() {
  iovec parts[2] = {{nullptr, 0}, {scratch_.data(), scratch_.size()}};
  if (core_->reading()) {
    const absl::Span<std::byte> want = decoder_.Want();
    parts[0] = {want.data(), want.size()};
  }
  const ssize_t got = readv(descriptor_, parts, 2);
  if (got == 0) {
    OnLost("the peer closed the connection");
    return false;
  }
  if (got < 0) {
    if (errno == EINTR) return true;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      OnLost(StrCat("the connection was lost: ", strerror(errno)));
    }
    return false;
  }
  if (!core_->reading()) return true;  // the end is under way: what comes is dropped
  if (absl::Status status = TakeBytes(got); !status.ok()) core_->OnDamaged(status);
  return static_cast<size_t>(got) == parts[0].iov_len + parts[1].iov_len;
}

absl::Status TcpConnection::TakeBytes(size_t size) {
  const size_t wanted = std::min(size, decoder_.Want().size());
  WEIR_RETURN_IF_ERROR(decoder_.Filled(wanted));
  return decoder_.Feed({scratch_.data(), size - wanted});
}

void TcpConnection::OnLost(const std::string& why) {
  // The peer may have read our close message while the thread that sends it has not said so yet.
  { std::lock_guard lock(close_mutex_); }
  const std::string position = decoder_.Position();
  core_->Cut(absl::UnavailableError(
      position.empty() ? why : StrCat(why, " inside a frame, at ", position)));
}

// ---- Writing ----

void TcpConnection::WantWrite() {
  if (turn_.Enter()) Pump(Place::kCaller);
}

void TcpConnection::PostPump() {
  boost::asio::post(socket_.get_executor(),
                    [self = shared_from_this()] { self->Pump(Place::kLoop); });
}

// REQUIRES: the write turn. Gives it up, or passes it to a handler on the io thread.
void TcpConnection::Pump(Place place) {
  int rounds = 0;
  while (true) {
    if (torn_down_) {
      boost::asio::post(socket_.get_executor(),
                        [self = shared_from_this()] { self->CloseSocket(); });
      return;
    }
    if (broken_ || (batch_.parts.empty() && !FillBatch())) {
      if (turn_.Leave()) return;
      continue;
    }
    if (place == Place::kCaller && (batch_.bytes > kCallerBytes || rounds++ > 0)) {
      PostPump();
      return;
    }
    switch (WriteBatch()) {
      case WriteResult::kDone:
        break;
      case WriteResult::kBlocked:
        boost::asio::post(socket_.get_executor(),
                          [self = shared_from_this()] { self->WaitWritable(); });
        return;
      case WriteResult::kFailed:
        // The reader finds out why: the peer may have said a reason before it went.
        broken_ = true;
        batch_ = {};
        break;
    }
  }
}

void TcpConnection::WaitWritable() {
  if (torn_down_) {
    CloseSocket();
    return;
  }
  socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const error_code& error) {
    self->Pump(Place::kLoop);
  });
}

bool TcpConnection::FillBatch() {
  Message message;
  while (batch_.bytes < kBatchBytes && batch_.parts.size() < kPartsPerWrite &&
         core_->Take(&message)) {
    AddToBatch(std::exchange(message, {}));
  }
  return !batch_.parts.empty();
}

void TcpConnection::AddToBatch(Message message) {
  std::string& head = batch_.heads.emplace_back(EncodeHead(message));
  batch_.parts.push_back({head.data(), head.size()});
  batch_.bytes += head.size();
  for (const Slice& slice : message.frame.payload) {
    if (slice.size == 0) continue;
    batch_.parts.push_back({const_cast<std::byte*>(slice.data), slice.size});
    batch_.bytes += slice.size;
  }
  batch_.closes = batch_.closes || message.kind == MessageKind::kClose;
  batch_.messages.push_back(std::move(message));
}

TcpConnection::WriteResult TcpConnection::WriteBatch() {
  std::unique_lock lock(close_mutex_, std::defer_lock);
  if (batch_.closes) lock.lock();
  while (batch_.next < batch_.parts.size()) {
    msghdr header{};
    header.msg_iov = batch_.parts.data() + batch_.next;
    header.msg_iovlen = std::min(kPartsPerWrite, batch_.parts.size() - batch_.next);
    const ssize_t sent = sendmsg(descriptor_, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return WriteResult::kBlocked;
      return WriteResult::kFailed;
    }
    size_t left = sent;
    while (batch_.next < batch_.parts.size() && left >= batch_.parts[batch_.next].iov_len) {
      left -= batch_.parts[batch_.next++].iov_len;
    }
    if (left > 0) {
      iovec& part = batch_.parts[batch_.next];
      part = {static_cast<char*>(part.iov_base) + left, part.iov_len - left};
    }
  }
  const bool closes = batch_.closes;
  batch_ = {};
  if (closes) {
    shutdown(descriptor_, SHUT_WR);
    core_->OnCloseWritten();
  }
  return WriteResult::kDone;
}

// ---- End ----

void TcpConnection::Disconnect() {
  boost::asio::post(socket_.get_executor(), [self = shared_from_this()] { self->TearDown(); });
}

void TcpConnection::TearDown() {
  if (torn_down_.exchange(true)) return;
  error_code ignored;
  socket_.cancel(ignored);
  if (turn_.Enter()) CloseSocket();  // else who has the turn sees torn_down_
}

void TcpConnection::CloseSocket() {
  error_code ignored;
  socket_.close(ignored);
  batch_ = {};
  core_->OnDisconnected(absl::UnavailableError("this end was cut off"));
}

}  // namespace weir
