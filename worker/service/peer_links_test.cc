#include "worker/service/peer_links.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
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
  PeerLinks links(
      &dialer, [this](uint64_t, const absl::Status&) { ++lost_; }, [](uint64_t) {});
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
  PeerLinks links(
      &network_, [this](uint64_t, const absl::Status&) { ++lost_; }, [](uint64_t) {});
  links.Flush();
}

// The peer takes frames, and gives their credit back when it is told to.
class PeerLinksRoom : public ::testing::Test {
 protected:
  static constexpr size_t kWindow = 4096;

  PeerLinksRoom()
      : links_(
            &dialer_, [](uint64_t, const absl::Status&) {},
            [this](uint64_t id) {
              EXPECT_EQ(id, 1u);
              Note([&] { ++rooms_; });
            }) {
    listener_ =
        *network_.Listen("peer", {.receive_window = kWindow}, [this](std::shared_ptr<Link> link) {
          link->Start({.on_frame =
                           [this](Frame, Credit credit) {
                             Note([&] { held_.push_back(std::move(credit)); });
                           },
                       .on_writable = [] {},
                       .on_closed = [](const absl::Status&) {}});
          accepted_ = std::move(link);
        });
    peer_.set_worker_id(1);
    peer_.set_data_address("peer");
  }

  template <class Change>
  void Note(Change change) {
    std::lock_guard<std::mutex> lock(mutex_);
    change();
    changed_.notify_all();
  }
  template <class Condition>
  void Await(Condition condition) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, condition);
  }
  static Frame FrameOf(size_t bytes) { return {"rows", {SliceOf(std::string(bytes, 'x'))}}; }

  InprocNetwork network_;
  SlowDialer dialer_{&network_};
  std::mutex mutex_;
  std::condition_variable changed_;
  int rooms_ = 0;
  std::vector<Credit> held_;
  std::shared_ptr<Link> accepted_;
  std::unique_ptr<Listener> listener_;
  v1::Peer peer_;
  PeerLinks links_;
};

TEST_F(PeerLinksRoom, IsWhatThePeerHasTaken) {
  EXPECT_TRUE(links_.HasRoom(peer_));
  links_.Send(peer_, FrameOf(1));
  EXPECT_TRUE(links_.HasRoom(peer_));
  dialer_.Answer();
  Await([&] { return rooms_ == 1 && held_.size() == 1; });
  EXPECT_TRUE(links_.HasRoom(peer_));
  links_.Send(peer_, FrameOf(kWindow));
  EXPECT_FALSE(links_.HasRoom(peer_));
  Note([&] { held_.clear(); });
  Await([&] { return held_.size() == 1; });
  EXPECT_FALSE(links_.HasRoom(peer_)) << "it has come, and nobody has taken it";
  Note([&] { held_.clear(); });
  Await([&] { return rooms_ == 2; });
  EXPECT_TRUE(links_.HasRoom(peer_));
}

TEST_F(PeerLinksRoom, EndsWhileThePeerDoesNotAnswer) {
  links_.Send(peer_, FrameOf(size_t{1} << 20));
  EXPECT_FALSE(links_.HasRoom(peer_));
  dialer_.Answer();
  Await([&] { return rooms_ >= 1 && held_.size() == 1; });
  Note([&] { held_.clear(); });
  Await([&] { return rooms_ >= 2; });
  EXPECT_TRUE(links_.HasRoom(peer_));
}

}  // namespace
}  // namespace weir
