#include "common/net/grpc_link.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "common/base/log.h"
#include "common/base/random.h"
#include "common/base/status.h"
#include "common/net/address.h"
#include "common/net/dial.h"
#include "common/net/grpc_stream.h"
#include "weir/v1/link.grpc.pb.h"

namespace weir {
namespace {

constexpr int kMaxReadBytes = 64 << 10;  // of one read from a socket

const std::string& ConnectMethod() {
  static const auto* const name =
      new std::string(StrCat("/", v1::WorkerLink::service_full_name(), "/Connect"));
  return *name;
}

// Counts the streams that live.
class StreamCount {
 public:
  void Add() {
    std::lock_guard lock(mutex_);
    ++count_;
  }
  void Remove() {
    std::lock_guard lock(mutex_);
    if (--count_ == 0) empty_.notify_all();
  }
  void WaitForNone() {
    std::unique_lock lock(mutex_);
    if (!empty_.wait_for(lock, std::chrono::seconds(5), [&] { return count_ == 0; })) {
      Log(LogLevel::kWarning, "gRPC streams are still open", {{"streams", count_}});
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable empty_;
  int count_ = 0;
};

// Owns `object` and destroys it on the loop. In gRPC 1.51 the last reference to a channel must not
// be dropped on a thread of the callback API: it joins these threads, itself included.
template <class T>
std::shared_ptr<T> DestroyedOn(const std::shared_ptr<EventLoop>& loop, std::unique_ptr<T> object) {
  return std::shared_ptr<T>(object.release(),
                            [loop](T* dying) { loop->Post([loop, dying] { delete dying; }); });
}

std::shared_ptr<EventLoop> LoopOr(std::shared_ptr<EventLoop> loop, const char* name) {
  return loop != nullptr ? std::move(loop) : std::shared_ptr<EventLoop>(MakeThreadEventLoop(name));
}

}  // namespace

// ---- Server ----

class GrpcLinkService::State {
 public:
  State(GrpcLinkServiceOptions options, OnAccept on_accept)
      : options_(std::move(options)),
        point_(std::make_shared<AcceptPoint>(options_.link, std::move(on_accept))),
        loop_(LoopOr(options_.loop, "weir-grpc")) {}

  const GrpcLinkServiceOptions& options() const { return options_; }
  AcceptPoint& point() { return *point_; }
  LinkSet& links() { return links_; }
  const std::shared_ptr<EventLoop>& loop() const { return loop_; }
  std::atomic<bool>& accepting() { return accepting_; }

  absl::Status Authorize(const grpc::CallbackServerContext& context) const {
    if (!options_.authorize) return absl::OkStatus();
    CallMetadata metadata;
    for (const auto& [key, value] : context.client_metadata()) {
      metadata.emplace(std::string(key.data(), key.size()),
                       std::string(value.data(), value.size()));
    }
    return options_.authorize(metadata);
  }

 private:
  const GrpcLinkServiceOptions options_;
  const std::shared_ptr<AcceptPoint> point_;
  const std::shared_ptr<EventLoop> loop_;
  LinkSet links_;
  std::atomic<bool> accepting_{true};
};

class GrpcLinkService::ServerStream
    : public GrpcStream,
      public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
      public std::enable_shared_from_this<ServerStream> {
 public:
  ServerStream(std::shared_ptr<LinkCore> core, const LinkOptions& options,
               grpc::CallbackServerContext* context)
      : GrpcStream(std::move(core), options), context_(context) {}

  void Begin() {
    self_ = shared_from_this();
    core()->Attach(self_);
    BeginRead();
  }

  void Disconnect() override {
    if (!StopWriting()) CancelCall();
  }

  void OnReadDone(bool ok) override { ReadDone(ok); }
  void OnWriteDone(bool ok) override { WriteDone(ok); }
  void OnCancel() override { StopWriting(); }
  void OnDone() override {
    {
      std::lock_guard lock(mutex_);
      context_ = nullptr;
    }
    const std::shared_ptr<ServerStream> self = std::move(self_);
    CallDone(absl::UnavailableError("the peer is gone"));
  }

 private:
  void BeginWrite() override { StartWrite(&outgoing_); }
  void BeginRead() override { StartRead(&incoming_); }
  void EndWrites() override {}
  void Finish() override {
    grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>::Finish(grpc::Status::OK);
  }
  void OnPeerEnded() override { Disconnect(); }

  void CancelCall() {
    std::lock_guard lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }

  std::recursive_mutex mutex_;            // cancelling may end the call on the same stack
  grpc::CallbackServerContext* context_;  // null once the call is done
  std::shared_ptr<ServerStream> self_;    // gRPC's reference, until the call is done
};

class GrpcLinkService::Handler
    : public v1::WorkerLink::WithRawCallbackMethod_Connect<v1::WorkerLink::Service> {
 public:
  explicit Handler(std::shared_ptr<State> state) : state_(std::move(state)) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Connect(
      grpc::CallbackServerContext* context) override {
    if (!state_->accepting()) return Refuse(absl::UnavailableError("the service shuts down"));
    if (absl::Status allowed = state_->Authorize(*context); !allowed.ok()) return Refuse(allowed);
    const LinkOptions options = state_->point().options();
    auto core = std::make_shared<LinkCore>(LinkSetup{.role = LinkRole::kListener,
                                                     .options = options,
                                                     .peer_address = context->peer(),
                                                     .loop = state_->loop(),
                                                     .opened = state_->point().Opened()});
    state_->links().Add(core);
    auto stream = std::make_shared<ServerStream>(std::move(core), options, context);
    stream->Begin();
    return stream.get();
  }

 private:
  class Refusal : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
   public:
    explicit Refusal(const absl::Status& reason) {
      Finish({static_cast<grpc::StatusCode>(reason.code()), std::string(reason.message())});
    }
    void OnDone() override { delete this; }
  };

  static Refusal* Refuse(const absl::Status& reason) {
    Log(LogLevel::kInfo, "connection refused", {{"reason", reason}});
    return new Refusal(reason);
  }

  const std::shared_ptr<State> state_;
};

GrpcLinkService::GrpcLinkService(GrpcLinkServiceOptions options, OnAccept on_accept)
    : state_(std::make_shared<State>(std::move(options), std::move(on_accept))),
      handler_(std::make_unique<Handler>(state_)) {}

GrpcLinkService::~GrpcLinkService() { Close(); }

grpc::Service* GrpcLinkService::service() { return handler_.get(); }

const std::string& GrpcLinkService::address() const { return state_->options().address; }

void GrpcLinkService::SetGeneration(uint64_t generation) {
  state_->point().SetGeneration(generation);
}

void GrpcLinkService::Close() {
  state_->accepting() = false;
  state_->point().Close();
}

void GrpcLinkService::CloseLinks(const absl::Status& reason) {
  Close();
  state_->links().CloseAll(reason);
}

// ---- Client ----

class GrpcDialer::State {
 public:
  explicit State(GrpcDialerOptions options)
      : options_(std::move(options)), loop_(LoopOr(options_.loop, "weir-grpc")) {}

  const GrpcDialerOptions& options() const { return options_; }
  const std::shared_ptr<EventLoop>& loop() const { return loop_; }
  LinkSet& links() { return links_; }
  StreamCount& streams() { return streams_; }

  struct Connection {
    std::shared_ptr<grpc::Channel> channel;
  };

  std::shared_ptr<Connection> Connect(const std::string& address) const {
    grpc::ChannelArguments arguments;
    // The pauses of the dialer decide when to try again, not those of the channel.
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    // gRPC takes the memory of the next read ahead, up to 4 MiB of it after large ones.
    arguments.SetInt(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kMaxReadBytes);
    auto connection = std::make_unique<Connection>();
    connection->channel = grpc::CreateCustomChannel(
        address,
        options_.credentials != nullptr ? options_.credentials : grpc::InsecureChannelCredentials(),
        arguments);
    return DestroyedOn(loop_, std::move(connection));
  }

 private:
  const GrpcDialerOptions options_;
  const std::shared_ptr<EventLoop> loop_;
  LinkSet links_;
  StreamCount streams_;
};

class GrpcDialer::ClientStream : public GrpcStream,
                                 public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                                 public std::enable_shared_from_this<ClientStream> {
 public:
  ClientStream(std::shared_ptr<State> state, const std::shared_ptr<grpc::Channel>& channel,
               std::shared_ptr<LinkCore> core, const LinkOptions& options)
      : GrpcStream(std::move(core), options), state_(std::move(state)), stub_(channel) {
    for (const auto& [key, value] : state_->options().metadata) context_.AddMetadata(key, value);
    state_->streams().Add();
  }
  ~ClientStream() override { state_->streams().Remove(); }

  void Begin() {
    self_ = shared_from_this();
    const std::shared_ptr<ClientStream> alive = self_;
    stub_.PrepareBidiStreamingCall(&context_, ConnectMethod(), {}, this);
    AddHold();  // so that writes may begin outside of reactions
    BeginRead();
    core()->Attach(alive);
    StartCall();  // last: a call that fails at once is over before this returns
  }

  void Disconnect() override {
    context_.TryCancel();
    StopWriting();
  }

  void OnReadDone(bool ok) override { ReadDone(ok); }
  void OnWriteDone(bool ok) override { WriteDone(ok); }
  void OnDone(const grpc::Status& status) override {
    const std::shared_ptr<ClientStream> self = std::move(self_);
    CallDone(FromGrpc(status));
  }

 private:
  void BeginWrite() override { StartWrite(&outgoing_); }
  void BeginRead() override { StartRead(&incoming_); }
  void EndWrites() override { StartWritesDone(); }
  void Finish() override { RemoveHold(); }
  void OnPeerEnded() override { StopWriting(); }

  const std::shared_ptr<State> state_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  std::shared_ptr<ClientStream> self_;  // gRPC's reference, until the call is done
};

GrpcDialer::GrpcDialer(GrpcDialerOptions options)
    : state_(std::make_shared<State>(std::move(options))) {}

GrpcDialer::~GrpcDialer() {
  state_->links().Linger();
  state_->links().CutAll(absl::UnavailableError("the gRPC dialer was shut down"));
  state_->streams().WaitForNone();
}

void GrpcDialer::Dial(const std::string& address, DialOptions options, OnDialed done) {
  if (absl::Status valid = ParseHostPort(address).status(); !valid.ok()) {
    state_->loop()->Post([done = std::move(done), valid] { done(valid); });
    return;
  }
  auto attempt = [state = state_, address, connection = state_->Connect(address),
                  link = options.link](absl::Duration timeout, OnDialed attempt_done) {
    auto core = std::make_shared<LinkCore>(LinkSetup{.role = LinkRole::kDialer,
                                                     .options = link,
                                                     .peer_address = address,
                                                     .handshake_timeout = timeout,
                                                     .loop = state->loop(),
                                                     .opened = std::move(attempt_done)});
    if (!state->links().Add(core)) return;
    auto stream = std::make_unique<ClientStream>(state, connection->channel, std::move(core), link);
    DestroyedOn(state->loop(), std::move(stream))->Begin();
  };
  DialWithRetries(state_->loop(), address, options, SystemSeed(), std::move(attempt),
                  std::move(done));
}

}  // namespace weir
