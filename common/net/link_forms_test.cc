#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>

#include "common/base/status.h"
#include "common/net/address.h"
#include "common/net/grpc_link.h"
#include "common/net/inproc_link.h"
#include "common/net/link_test_forms.h"
#include "common/net/sim_link.h"
#include "common/net/sim_loop.h"
#include "common/net/tcp_link.h"

namespace weir {
namespace {

// A form whose callbacks run on threads: waiting is sleeping.
class ThreadedForm : public LinkForm {
 public:
  bool WaitUntil(const std::function<bool()>& done) override {
    for (int i = 0; i < 300000; ++i) {
      if (done()) return true;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return false;
  }
  void Settle() override { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
};

class InprocForm : public ThreadedForm {
 public:
  explicit InprocForm(InprocNetwork::Payload payload)
      : network_(std::make_unique<InprocNetwork>(nullptr, payload)) {}
  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, LinkOptions options,
                                                   OnAccept on_accept) override {
    return network_->Listen(address, std::move(options), std::move(on_accept));
  }
  std::string free_address() const override { return "far"; }
  Dialer& dialer() override { return *network_; }
  void Destroy() override { network_.reset(); }

 private:
  std::unique_ptr<InprocNetwork> network_;
};

class TcpForm : public ThreadedForm {
 public:
  explicit TcpForm(TcpOptions::Loopback loopback) : options_{.loopback = loopback} {}
  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, LinkOptions options,
                                                   OnAccept on_accept) override {
    return far_->Listen(address, std::move(options), std::move(on_accept));
  }
  std::string free_address() const override { return "127.0.0.1:0"; }
  Dialer& dialer() override { return *near_; }
  void Destroy() override {
    near_.reset();
    far_.reset();
  }

 private:
  const TcpOptions options_;
  std::unique_ptr<TcpTransport> near_ = std::make_unique<TcpTransport>(options_);
  std::unique_ptr<TcpTransport> far_ = std::make_unique<TcpTransport>(options_);
};

// A listener that brings its own server.
class GrpcServerListener : public Listener {
 public:
  static absl::StatusOr<std::unique_ptr<Listener>> Make(const std::string& address,
                                                        LinkOptions options, OnAccept on_accept) {
    auto made = std::make_unique<GrpcServerListener>();
    made->service_ = std::make_unique<GrpcLinkService>(
        GrpcLinkServiceOptions{.link = std::move(options)}, std::move(on_accept));
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(made->service_->service());
    made->server_ = builder.BuildAndStart();
    if (made->server_ == nullptr || port == 0) {
      return absl::UnavailableError(StrCat("cannot listen on ", address));
    }
    made->address_ = StrCat("127.0.0.1:", port);
    return made;
  }
  ~GrpcServerListener() override {
    if (server_ == nullptr) return;
    service_->CloseLinks(absl::UnavailableError("the server shuts down"));
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
    server_->Wait();
  }
  const std::string& address() const override { return address_; }
  void SetGeneration(uint64_t generation) override { service_->SetGeneration(generation); }
  void Close() override { service_->Close(); }

 private:
  std::unique_ptr<GrpcLinkService> service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

class GrpcForm : public ThreadedForm {
 public:
  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, LinkOptions options,
                                                   OnAccept on_accept) override {
    return GrpcServerListener::Make(address, std::move(options), std::move(on_accept));
  }
  std::string free_address() const override { return "127.0.0.1:0"; }
  Dialer& dialer() override { return *dialer_; }
  void Destroy() override { dialer_.reset(); }

 private:
  std::unique_ptr<GrpcDialer> dialer_ = std::make_unique<GrpcDialer>();
};

class SimForm : public LinkForm {
 public:
  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, LinkOptions options,
                                                   OnAccept on_accept) override {
    return network_->Listen(address, std::move(options), std::move(on_accept));
  }
  std::string free_address() const override { return "far:test"; }
  Dialer& dialer() override { return *dialer_; }
  bool WaitUntil(const std::function<bool()>& done) override {
    return loop_.RunUntil(done, absl::Hours(1));
  }
  void Settle() override { loop_.RunFor(absl::Milliseconds(100)); }
  void Destroy() override {
    dialer_.reset();
    network_.reset();
  }
  bool threads() const override { return false; }

 private:
  SimLoop loop_;
  std::unique_ptr<SimNetwork> network_ =
      std::make_unique<SimNetwork>(&loop_, SimOptions{.seed = 3});
  std::unique_ptr<Dialer> dialer_ = network_->MakeDialer("near");
};

}  // namespace

const std::vector<NamedForm>& AllLinkForms() {
  static const auto* const forms = new std::vector<NamedForm>{
      {"InprocByReference",
       [] { return std::make_unique<InprocForm>(InprocNetwork::Payload::kByReference); }},
      {"InprocAsBytes",
       [] { return std::make_unique<InprocForm>(InprocNetwork::Payload::kAsBytes); }},
      {"Tcp", [] { return std::make_unique<TcpForm>(TcpOptions::Loopback::kTcp); }},
      {"LocalSocket", [] { return std::make_unique<TcpForm>(TcpOptions::Loopback::kLocalSocket); }},
      {"Grpc", [] { return std::make_unique<GrpcForm>(); }},
      {"Sim", [] { return std::make_unique<SimForm>(); }},
  };
  return *forms;
}

LinkCallbacks Recorder::Callbacks(Credits credits) {
  auto self = shared_from_this();
  return {.on_frame =
              [self, credits](Frame frame, Credit credit) {
                Received received{.header = std::move(frame.header)};
                for (const Slice& slice : frame.payload)
                  received.payload.emplace_back(slice.view());
                std::lock_guard lock(self->mutex_);
                self->frames_.push_back(std::move(received));
                if (credits == Credits::kHold) self->held_.push_back(std::move(credit));
              },
          .on_writable =
              [self] {
                std::lock_guard lock(self->mutex_);
                self->writable_calls_ += 1;
              },
          .on_closed =
              [self](const absl::Status& reason) {
                std::lock_guard lock(self->mutex_);
                EXPECT_FALSE(self->closed_.has_value()) << "on_closed twice: " << reason;
                self->closed_ = reason;
              }};
}

void Recorder::Release() {
  std::vector<Credit> released;
  std::lock_guard lock(mutex_);
  released.swap(held_);
}

size_t Recorder::frames() const {
  std::lock_guard lock(mutex_);
  return frames_.size();
}

Recorder::Received Recorder::frame(size_t i) const {
  std::lock_guard lock(mutex_);
  return frames_.at(i);
}

int Recorder::writable_calls() const {
  std::lock_guard lock(mutex_);
  return writable_calls_;
}

std::optional<absl::Status> Recorder::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

absl::StatusOr<std::shared_ptr<Link>> DialOn(LinkForm& form, const std::string& address,
                                             DialOptions options) {
  struct Outcome {
    std::mutex mutex;
    std::optional<absl::StatusOr<std::shared_ptr<Link>>> link;
  };
  auto outcome = std::make_shared<Outcome>();
  form.dialer().Dial(address, std::move(options),
                     [outcome](absl::StatusOr<std::shared_ptr<Link>> link) {
                       std::lock_guard lock(outcome->mutex);
                       outcome->link = std::move(link);
                     });
  const bool dialed = form.WaitUntil([&] {
    std::lock_guard lock(outcome->mutex);
    return outcome->link.has_value();
  });
  if (!dialed) return absl::DeadlineExceededError("the dialer never answered");
  std::lock_guard lock(outcome->mutex);
  return *std::move(outcome->link);
}

LinkPair MakePair(LinkForm& form, LinkOptions near, LinkOptions far) {
  struct Accepted {
    std::mutex mutex;
    std::shared_ptr<Link> link;
  };
  auto accepted = std::make_shared<Accepted>();
  LinkPair pair;
  auto listener = form.Listen(form.free_address(), far, [accepted](std::shared_ptr<Link> link) {
    std::lock_guard lock(accepted->mutex);
    accepted->link = std::move(link);
  });
  EXPECT_TRUE(listener.ok()) << listener.status();
  if (!listener.ok()) return pair;
  auto dialed = DialOn(form, (*listener)->address(), {.link = near});
  EXPECT_TRUE(dialed.ok()) << dialed.status();
  if (!dialed.ok()) return pair;
  EXPECT_TRUE(form.WaitUntil([&] {
    std::lock_guard lock(accepted->mutex);
    return accepted->link != nullptr;
  }));
  pair.listener = *std::move(listener);
  pair.near = *std::move(dialed);
  std::lock_guard lock(accepted->mutex);
  pair.far = std::move(accepted->link);
  return pair;
}

std::string JoinPayload(const Frame& frame) {
  std::string bytes;
  for (const Slice& slice : frame.payload) bytes.append(slice.view());
  return bytes;
}

}  // namespace weir
