#include "worker/service/peer_links.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "common/base/status.h"
#include "common/net/inproc_link.h"

namespace weir {
namespace {

// Dials on `network`, and answers only when it is told to.
class SlowDialer : public Dialer {
 public:
  explicit SlowDialer(InprocNetwork* network) : network_(network) {}

  void Dial(const std::string& address, DialOptions options, OnDialed done) override {
    network_->Dial(address, std::move(options),
                   [this, done](absl::StatusOr<std::shared_ptr<Link>> link) {
                     done_ = done;
                     dialed_.set_value(std::move(link));
                   });
  }

  // Waits for the one call of Dial.
  void Answer() {
    absl::StatusOr<std::shared_ptr<Link>> link = dialed_.get_future().get();
    done_(std::move(link));
  }

 private:
  InprocNetwork* const network_;
  std::promise<absl::StatusOr<std::shared_ptr<Link>>> dialed_;
  OnDialed done_;
};

class PeerLinksTest : public ::testing::Test {
 protected:
  PeerLinksTest() {
    auto listener = network_.Listen("peer", {}, [this](std::shared_ptr<Link> link) {
      link->Start({.on_frame = [this](Frame, Credit) { ++received_; },
                   .on_writable = [] {},
                   .on_closed = [this](const absl::Status&) { closed_.set_value(); }});
      accepted_.push_back(std::move(link));
    });
    EXPECT_TRUE(listener.ok()) << listener.status();
    if (listener.ok()) listener_ = *std::move(listener);
  }

  static v1::Peer PeerAt(const std::string& address) {
    v1::Peer peer;
    peer.set_worker_id(1);
    peer.set_data_address(address);
    return peer;
  }

  std::atomic<int> received_ = 0;
  std::atomic<int> lost_ = 0;
  std::promise<void> closed_;
  std::vector<std::shared_ptr<Link>> accepted_;
  InprocNetwork network_;
  std::unique_ptr<Listener> listener_;
};

TEST_F(PeerLinksTest, WhatWaitsForItsConnectionWhenTheWorkerLeavesStillArrives) {
  SlowDialer dialer(&network_);
  PeerLinks links(&dialer, [this](uint64_t, const absl::Status&) { ++lost_; });
  links.Send(PeerAt("peer"), {"rows", {}});
  std::thread answer([&] { dialer.Answer(); });
  links.Flush();
  answer.join();
  links.CloseAll();
  closed_.get_future().wait();
  EXPECT_EQ(received_, 1);
  EXPECT_EQ(lost_, 0);
}

TEST_F(PeerLinksTest, FlushWithNothingToSendReturns) {
  PeerLinks links(&network_, [this](uint64_t, const absl::Status&) { ++lost_; });
  links.Flush();
}

}  // namespace
}  // namespace weir
