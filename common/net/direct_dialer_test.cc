#include "common/net/direct_dialer.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "common/net/address.h"
#include "common/net/tcp_link.h"

namespace weir {
namespace {

// What a listener accepted.
class Accepted {
 public:
  OnAccept Callback() {
    return [this](std::shared_ptr<Link> link) {
      link->Start({.on_frame =
                       [this](Frame frame, Credit) {
                         std::lock_guard lock(mutex_);
                         headers_.push_back(frame.header);
                         changed_.notify_all();
                       },
                   .on_writable = [] {},
                   .on_closed =
                       [this](const absl::Status& reason) {
                         std::lock_guard lock(mutex_);
                         ends_.push_back(reason);
                         changed_.notify_all();
                       }});
      std::lock_guard lock(mutex_);
      links_.push_back(std::move(link));
    };
  }
  std::string FirstHeader() {
    std::unique_lock lock(mutex_);
    const bool came =
        changed_.wait_for(lock, std::chrono::minutes(5), [this] { return !headers_.empty(); });
    return came ? headers_[0] : "nothing came";
  }
  absl::Status FirstEnd() {
    std::unique_lock lock(mutex_);
    const bool came =
        changed_.wait_for(lock, std::chrono::minutes(5), [this] { return !ends_.empty(); });
    return came ? ends_[0] : absl::DeadlineExceededError("nothing ended");
  }
  size_t links() {
    std::lock_guard lock(mutex_);
    return links_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Link>> links_;
  std::vector<std::string> headers_;
  std::vector<absl::Status> ends_;
};

class DirectDialerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Listener> Listen(const std::string& greeting, Accepted* accepted) {
    LinkOptions options;
    options.greeting = greeting;
    return *transport_.Listen("127.0.0.1:0", options, accepted->Callback());
  }
  static uint16_t PortOf(const Listener& listener) {
    return ParseHostPort(listener.address())->port;
  }
  std::shared_ptr<Link> Dial(const Listener& listener) {
    DialOptions options;
    options.link.greeting = "worker 3";
    std::shared_ptr<Link> link = *DialAndWait(dialer_, listener.address(), options);
    link->Start({.on_frame = [](Frame, Credit) {},
                 .on_writable = [] {},
                 .on_closed = [](const absl::Status&) {}});
    EXPECT_TRUE(link->Send({.header = "hello"}).ok());
    return link;
  }

  Accepted first_;
  Accepted direct_;
  TcpTransport transport_;
  TcpTransport tcp_;
  DirectDialer dialer_{&transport_, &tcp_};
};

TEST_F(DirectDialerTest, MovesToThePortThatIsGreetedWith) {
  const std::unique_ptr<Listener> other = Listen("", &direct_);
  const std::unique_ptr<Listener> known = Listen(DirectGreeting(PortOf(*other)), &first_);
  const std::shared_ptr<Link> link = Dial(*known);
  EXPECT_EQ(direct_.FirstHeader(), "hello");
  EXPECT_EQ(first_.FirstEnd(), absl::OkStatus()) << "the first link is not needed any more";
}

TEST_F(DirectDialerTest, StaysWhereThereIsNoOtherPort) {
  const std::unique_ptr<Listener> known = Listen("a coordinator", &first_);
  const std::shared_ptr<Link> link = Dial(*known);
  EXPECT_EQ(first_.FirstHeader(), "hello");
}

TEST_F(DirectDialerTest, StaysWhereTheOtherPortCannotBeReached) {
  std::unique_ptr<Listener> other = Listen("", &direct_);
  const uint16_t port = PortOf(*other);
  other.reset();
  const std::unique_ptr<Listener> known = Listen(DirectGreeting(port), &first_);
  const std::shared_ptr<Link> link = Dial(*known);
  EXPECT_EQ(first_.FirstHeader(), "hello");
  EXPECT_EQ(direct_.links(), 0u);
}

TEST(DirectGreetingTest, IsReadAsWritten) {
  EXPECT_EQ(DirectPortOf(DirectGreeting(7077)), 7077);
  for (const char* other : {"", "tcp:", "tcp:0", "tcp:70777", "tcp:-1", "tcp:7077x", "7077"}) {
    EXPECT_EQ(DirectPortOf(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace weir
