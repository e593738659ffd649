// What only the messages of a gRPC stream can show: how much is under way, and peers that lie about
// it.
#include "common/net/grpc_link.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "common/base/status.h"
#include "common/net/link_test_forms.h"
#include "common/net/wire.h"
#include "weir/v1/link.grpc.pb.h"

namespace weir {
namespace {

constexpr uint64_t kUnderWay = uint64_t{192} << 10;
constexpr size_t kMuch = size_t{2} << 20;

// A server that accepts one link.
class GrpcLinkTest : public ::testing::Test {
 protected:
  GrpcLinkTest()
      : service_({.link = {.generation = 5}}, [this](std::shared_ptr<Link> link) {
          link->Start(events_->Callbacks(Recorder::Credits::kHold));
          std::lock_guard lock(mutex_);
          link_ = std::move(link);
        }) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(service_.service());
    server_ = builder.BuildAndStart();
    stub_ = v1::WorkerLink::NewStub(
        grpc::CreateChannel(StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
    stream_ = stub_->Connect(&context_);
    v1::LinkFrame hello;
    hello.set_header(EncodeHead({.kind = MessageKind::kHello, .generation = 5, .credit = 1 << 30}));
    EXPECT_TRUE(stream_->Write(hello));
  }
  ~GrpcLinkTest() override {
    context_.TryCancel();
    if (reader_.joinable()) reader_.join();
    service_.CloseLinks(absl::UnavailableError("the test ends"));
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  }

  std::shared_ptr<Link> link() {
    while (true) {
      {
        std::lock_guard lock(mutex_);
        if (link_ != nullptr) return link_;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // Reads what comes, without a word to the other end.
  void ReadOn() {
    reader_ = std::thread([this] {
      v1::LinkFrame frame;
      while (stream_->Read(&frame)) came_ += frame.header().size() + frame.payload().size();
    });
  }
  void Acknowledge(uint64_t bytes) {
    v1::LinkFrame frame;
    frame.set_received(bytes);
    EXPECT_TRUE(stream_->Write(frame));
  }
  // Waits for so many bytes. Returns: those that came, once no more have for a while.
  uint64_t CameInAll(uint64_t wanted) const {
    while (came_ < wanted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return came_;
  }

  std::shared_ptr<Recorder> events_ = std::make_shared<Recorder>();
  std::mutex mutex_;
  std::shared_ptr<Link> link_;
  GrpcLinkService service_;
  std::unique_ptr<grpc::Server> server_;
  grpc::ClientContext context_;
  std::unique_ptr<v1::WorkerLink::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::LinkFrame, v1::LinkFrame>> stream_;
  std::thread reader_;
  std::atomic<uint64_t> came_{0};
};

TEST_F(GrpcLinkTest, NoMoreIsUnderWayThanThePeerSaysThatItCanHold) {
  ReadOn();
  ASSERT_TRUE(link()->Send({"much", {SliceOf(std::string(kMuch, 'x'))}}).ok());
  EXPECT_EQ(CameInAll(kUnderWay), kUnderWay);
  Acknowledge(100'000);
  EXPECT_EQ(CameInAll(kUnderWay + 100'000), kUnderWay + 100'000);
  Acknowledge(kUnderWay + 100'000);
  EXPECT_EQ(CameInAll(2 * kUnderWay + 100'000), 2 * kUnderWay + 100'000);
}

TEST_F(GrpcLinkTest, APeerThatReceivedMoreThanWasSentIsCutOff) {
  Acknowledge(uint64_t{1} << 40);
  ReadOn();
  while (!events_->closed().has_value()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(events_->closed()->code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(events_->closed()->message()),
              ::testing::HasSubstr("the peer says that it received 1099511627776 bytes of "));
}

}  // namespace
}  // namespace weir
