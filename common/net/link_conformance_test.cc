// What every form of a link must do alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "common/base/status.h"
#include "common/net/link.h"
#include "common/net/link_test_forms.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string RandomBytes(uint64_t seed, size_t size) {
  SeededRandom random(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random.Next());
  return bytes;
}

// On a slow machine the last attempt may run into the deadline before it is refused.
bool IsUnreachable(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded;
}

class LinkConformanceTest : public ::testing::TestWithParam<NamedForm> {
 protected:
  LinkPair Connect(LinkOptions near = {}, LinkOptions far = {}) {
    return MakePair(*form_, std::move(near), std::move(far));
  }
  bool WaitUntil(const std::function<bool()>& done) { return form_->WaitUntil(done); }
  bool WaitForFrames(const Recorder& events, size_t count) {
    return WaitUntil([&] { return events.frames() >= count; });
  }
  bool WaitForEnd(const LinkPair& pair) {
    return WaitUntil([&] { return pair.near_events->closed() && pair.far_events->closed(); });
  }

  std::unique_ptr<LinkForm> form_ = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(Forms, LinkConformanceTest, ::testing::ValuesIn(AllLinkForms()),
                         [](const auto& info) { return info.param.name; });

TEST_P(LinkConformanceTest, FirstInFirstOutInBothDirections) {
  LinkPair pair = Connect();
  pair.Start();
  SeededRandom random(1);
  constexpr size_t kFrames = 500;
  for (size_t i = 0; i < kFrames; ++i) {
    const std::string bytes = RandomBytes(i, random.Below(3000));
    ASSERT_TRUE(pair.near->Send({StrCat("near ", i), {SliceOf(bytes)}}).ok());
    ASSERT_TRUE(pair.far->Send({StrCat("far ", i), {SliceOf(bytes)}}).ok());
  }
  ASSERT_TRUE(WaitForFrames(*pair.near_events, kFrames));
  ASSERT_TRUE(WaitForFrames(*pair.far_events, kFrames));
  SeededRandom again(1);
  for (size_t i = 0; i < kFrames; ++i) {
    const std::string bytes = RandomBytes(i, again.Below(3000));
    ASSERT_EQ(pair.near_events->frame(i).header, StrCat("far ", i));
    ASSERT_EQ(pair.far_events->frame(i).header, StrCat("near ", i));
    ASSERT_THAT(pair.far_events->frame(i).payload, ElementsAre(bytes));
    ASSERT_THAT(pair.near_events->frame(i).payload, ElementsAre(bytes));
  }
}

TEST_P(LinkConformanceTest, LargeFramesArriveWhole) {
  LinkPair pair = Connect();
  pair.Start();
  const std::string large = RandomBytes(1, size_t{32} << 20);
  const std::string odd = RandomBytes(2, (size_t{5} << 20) + 13);
  ASSERT_TRUE(pair.near->Send({"large", {SliceOf(large), SliceOf(""), SliceOf(odd)}}).ok());
  ASSERT_TRUE(pair.near->Send({"next", {}}).ok());
  ASSERT_TRUE(WaitForFrames(*pair.far_events, 2));
  const Recorder::Received received = pair.far_events->frame(0);
  ASSERT_EQ(received.payload.size(), 3u);
  EXPECT_TRUE(received.payload[0] == large);
  EXPECT_EQ(received.payload[1], "");
  EXPECT_TRUE(received.payload[2] == odd);
  EXPECT_EQ(pair.far_events->frame(1).header, "next");
}

TEST_P(LinkConformanceTest, EmptyFramesAndEmptySlicesAreFrames) {
  LinkPair pair = Connect();
  pair.Start();
  ASSERT_TRUE(pair.near->Send({}).ok());
  ASSERT_TRUE(pair.near->Send({"", {Slice{}, Slice{}}}).ok());
  ASSERT_TRUE(WaitForFrames(*pair.far_events, 2));
  EXPECT_EQ(pair.far_events->frame(0).header, "");
  EXPECT_THAT(pair.far_events->frame(0).payload, ElementsAre());
  EXPECT_THAT(pair.far_events->frame(1).payload, ElementsAre("", ""));
}

TEST_P(LinkConformanceTest, LongHeadersAndManySlicesArrive) {
  LinkPair pair = Connect();
  pair.Start();
  const std::string header = RandomBytes(1, size_t{3} << 20);
  Frame frame{header, {}};
  for (size_t i = 0; i < 3000; ++i) frame.payload.push_back(SliceOf(RandomBytes(i, i % 7 * 1000)));
  const std::string bytes = JoinPayload(frame);
  ASSERT_TRUE(pair.near->Send(std::move(frame)).ok());
  ASSERT_TRUE(WaitForFrames(*pair.far_events, 1));
  const Recorder::Received received = pair.far_events->frame(0);
  EXPECT_TRUE(received.header == header);
  std::string joined;
  for (const std::string& slice : received.payload) joined += slice;
  EXPECT_EQ(received.payload.size(), 3000u);
  EXPECT_TRUE(joined == bytes);
}

TEST_P(LinkConformanceTest, ManySmallFramesPassThroughASmallWindow) {
  LinkPair pair = Connect({}, {.receive_window = 4096});
  pair.Start();
  constexpr size_t kFrames = 10000;
  for (size_t i = 0; i < kFrames; ++i) ASSERT_TRUE(pair.near->Send({StrCat(i), {}}).ok());
  ASSERT_TRUE(WaitForFrames(*pair.far_events, kFrames));
  for (size_t i = 0; i < kFrames; ++i) ASSERT_EQ(pair.far_events->frame(i).header, StrCat(i));
}

TEST_P(LinkConformanceTest, FrameLargerThanTheWindowPassesAlone) {
  LinkPair pair = Connect({}, {.receive_window = 1000});
  pair.Start(Recorder::Credits::kHold);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(pair.near->Send({StrCat(i), {SliceOf(std::string(100000, 'x'))}}).ok());
  }
  for (size_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(WaitForFrames(*pair.far_events, i));
    form_->Settle();
    EXPECT_EQ(pair.far_events->frames(), i) << "a second frame came while the first had all credit";
    pair.far_events->Release();
  }
}

TEST_P(LinkConformanceTest, ReceiverThatDoesNotConsumeStopsTheSender) {
  constexpr size_t kWindow = 1 << 20;
  LinkPair pair = Connect({}, {.receive_window = kWindow});
  pair.Start(Recorder::Credits::kHold);
  const std::string bytes = RandomBytes(1, 60000);
  size_t sent = 0;
  while (pair.near->writable()) {
    ASSERT_LT(sent, 100u) << "the sender was never stopped";
    ASSERT_TRUE(pair.near->Send({StrCat(sent++), {SliceOf(bytes)}}).ok());
  }
  form_->Settle();
  EXPECT_FALSE(pair.near->writable());
  EXPECT_LE(pair.far->stats().held_bytes, kWindow);
  EXPECT_LE(pair.near->stats().unacknowledged_bytes, kWindow + bytes.size() + 1000);
  EXPECT_EQ(pair.near_events->writable_calls(), 0);

  ASSERT_TRUE(WaitForFrames(*pair.far_events, kWindow / (bytes.size() + 1000)));
  ASSERT_TRUE(WaitUntil([&] {
    pair.far_events->Release();
    return pair.near_events->writable_calls() == 1 && pair.far_events->frames() == sent;
  }));
  EXPECT_TRUE(pair.near->writable());
  ASSERT_TRUE(WaitUntil([&] {
    pair.far_events->Release();
    return pair.far->stats().held_bytes == 0;
  }));
}

TEST_P(LinkConformanceTest, GracefulCloseDeliversWhatIsQueued) {
  LinkPair pair = Connect({}, {.receive_window = 4096});
  pair.Start();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(pair.near->Send({StrCat(i), {SliceOf(std::string(1000, 'x'))}}).ok());
  }
  pair.near->Close(absl::OkStatus());
  ASSERT_TRUE(WaitForEnd(pair));
  EXPECT_EQ(pair.far_events->frames(), 100u);
  EXPECT_TRUE(pair.near_events->closed()->ok()) << *pair.near_events->closed();
  EXPECT_TRUE(pair.far_events->closed()->ok()) << *pair.far_events->closed();
}

TEST_P(LinkConformanceTest, WhatWasQueuedBeforeTheCloseOutlivesTheLink) {
  LinkPair pair = Connect({}, {.receive_window = 4096});
  pair.Start();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(pair.near->Send({StrCat(i), {SliceOf(std::string(1000, 'x'))}}).ok());
  }
  pair.near->Close(absl::OkStatus());
  pair.near->Close(absl::AbortedError("later calls do nothing"));
  pair.near.reset();
  ASSERT_TRUE(WaitForEnd(pair));
  EXPECT_EQ(pair.far_events->frames(), 100u);
  EXPECT_TRUE(pair.far_events->closed()->ok()) << *pair.far_events->closed();
}

TEST_P(LinkConformanceTest, BothSidesSeeTheReasonOfTheEnd) {
  for (const bool near_closes : {true, false}) {
    LinkPair pair = Connect();
    pair.Start();
    const auto& closer = near_closes ? pair.near : pair.far;
    closer->Close(absl::AbortedError("worker w-7 left"));
    closer->Close(absl::InternalError("a second close does nothing"));
    ASSERT_TRUE(WaitForEnd(pair));
    for (const auto& events : {pair.near_events, pair.far_events}) {
      EXPECT_EQ(events->closed()->code(), absl::StatusCode::kAborted);
      EXPECT_THAT(std::string(events->closed()->message()), HasSubstr("worker w-7 left"));
    }
  }
}

TEST_P(LinkConformanceTest, SendAfterTheEndIsAnError) {
  LinkPair pair = Connect();
  pair.Start();
  pair.near->Close(absl::AbortedError("enough"));
  EXPECT_EQ(pair.near->Send({"late", {}}).code(), absl::StatusCode::kAborted);
  EXPECT_FALSE(pair.near->writable());
  ASSERT_TRUE(WaitForEnd(pair));
  const absl::Status far_send = pair.far->Send({"late", {}});
  EXPECT_EQ(far_send.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(far_send.message()), HasSubstr("is closed: "));
  EXPECT_FALSE(pair.far->writable());
  EXPECT_EQ(pair.far_events->frames(), 0u);
}

TEST_P(LinkConformanceTest, GracefulCloseGivesUpOnAReceiverThatDoesNotConsume) {
  LinkPair pair = Connect({.linger = absl::Milliseconds(50)}, {.receive_window = 1000});
  pair.Start(Recorder::Credits::kHold);
  ASSERT_TRUE(pair.near->Send({"fits", {}}).ok());
  ASSERT_TRUE(pair.near->Send({"waits", {SliceOf(std::string(5000, 'x'))}}).ok());
  ASSERT_TRUE(WaitForFrames(*pair.far_events, 1));
  pair.near->Close(absl::OkStatus());
  ASSERT_TRUE(WaitForEnd(pair));
  EXPECT_EQ(pair.near_events->closed()->code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(pair.far_events->closed()->code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(pair.far_events->frames(), 1u);
}

TEST_P(LinkConformanceTest, ConcurrentSendersKeepTheirOwnOrder) {
  LinkPair pair = Connect({}, {.receive_window = 100000});
  pair.Start();
  constexpr size_t kSenders = 4, kFrames = 500;
  const std::string bytes(300, 'x');
  const auto send = [&](size_t sender) {
    for (size_t i = 0; i < kFrames; ++i) {
      ASSERT_TRUE(pair.near->Send({StrCat(sender, " ", i), {SliceOf(bytes)}}).ok());
    }
  };
  std::vector<std::thread> threads;
  for (size_t sender = 0; sender < kSenders; ++sender) {
    if (form_->threads()) {
      threads.emplace_back(send, sender);
    } else {
      send(sender);
    }
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(WaitForFrames(*pair.far_events, kSenders * kFrames));
  std::vector<size_t> next(kSenders, 0);
  for (size_t i = 0; i < kSenders * kFrames; ++i) {
    const std::string header = pair.far_events->frame(i).header;
    const size_t sender = header[0] - '0';
    ASSERT_EQ(header, StrCat(sender, " ", next[sender]++));
  }
}

TEST_P(LinkConformanceTest, AnswersFromCallbacks) {
  LinkPair pair = Connect();
  constexpr int kRounds = 200;
  std::atomic<int> rounds{0};
  pair.far->Start({.on_frame = [far = std::weak_ptr(pair.far)](Frame frame, Credit) {
    EXPECT_TRUE(far.lock()->Send(std::move(frame)).ok());
  }});
  pair.near->Start({.on_frame = [&, near = std::weak_ptr(pair.near)](Frame frame, Credit) {
    EXPECT_EQ(frame.header, StrCat(rounds.load()));
    const int next = rounds + 1;
    if (next < kRounds) {
      EXPECT_TRUE(near.lock()->Send({StrCat(next), std::move(frame.payload)}).ok());
    }
    rounds = next;
  }});
  ASSERT_TRUE(pair.near->Send({"0", {SliceOf("ball")}}).ok());
  EXPECT_TRUE(WaitUntil([&] { return rounds == kRounds; }));
}

TEST_P(LinkConformanceTest, CallbackMayCloseTheLink) {
  LinkPair pair = Connect();
  pair.near->Start(pair.near_events->Callbacks());
  std::atomic<int> frames{0};
  LinkCallbacks callbacks = pair.far_events->Callbacks();
  callbacks.on_frame = [&, far = std::weak_ptr(pair.far)](Frame, Credit) {
    frames += 1;
    far.lock()->Close(absl::AbortedError("one was enough"));
  };
  pair.far->Start(std::move(callbacks));
  for (int i = 0; i < 10; ++i) pair.near->Send({"x", {}}).IgnoreError();
  ASSERT_TRUE(WaitForEnd(pair));
  EXPECT_EQ(frames, 1);
  EXPECT_EQ(pair.near_events->closed()->code(), absl::StatusCode::kAborted);
}

TEST_P(LinkConformanceTest, FramesWaitForStart) {
  LinkPair pair = Connect();
  pair.near->Start(pair.near_events->Callbacks());
  ASSERT_TRUE(pair.near->Send({"early", {}}).ok());
  pair.near->Close(absl::OkStatus());
  form_->Settle();
  EXPECT_EQ(pair.far_events->frames(), 0u);
  pair.far->Start(pair.far_events->Callbacks());
  ASSERT_TRUE(WaitForEnd(pair));
  EXPECT_EQ(pair.far_events->frames(), 1u);
}

TEST_P(LinkConformanceTest, GenerationsFenceOffEachOther) {
  auto listener = form_->Listen(form_->free_address(), {.generation = 7},
                                [](std::shared_ptr<Link>) { FAIL() << "accepted"; });
  ASSERT_TRUE(listener.ok()) << listener.status();
  const auto old = DialOn(*form_, (*listener)->address(), {.link = {.generation = 6}});
  EXPECT_EQ(old.status().code(), absl::StatusCode::kFailedPrecondition) << old.status();
  EXPECT_THAT(std::string(old.status().message()),
              HasSubstr("generation 6 came to an end of generation 7"));
}

TEST_P(LinkConformanceTest, ZeroTakesOverTheGenerationOfTheListener) {
  std::atomic<uint64_t> accepted{0};
  std::mutex mutex;
  std::vector<std::shared_ptr<Link>> links;
  auto listener = form_->Listen(form_->free_address(), {.generation = 7}, [&](auto link) {
    std::lock_guard lock(mutex);
    accepted = link->generation();
    links.push_back(std::move(link));
  });
  ASSERT_TRUE(listener.ok()) << listener.status();
  (*listener)->SetGeneration(9);
  const auto link = DialOn(*form_, (*listener)->address(), {});
  ASSERT_TRUE(link.ok()) << link.status();
  EXPECT_EQ((*link)->generation(), 9u);
  EXPECT_TRUE(WaitUntil([&] { return accepted == 9; }));
  const auto same = DialOn(*form_, (*listener)->address(), {.link = {.generation = 9}});
  EXPECT_TRUE(same.ok()) << same.status();
  std::lock_guard lock(mutex);
}

TEST_P(LinkConformanceTest, GreetingsAreExchanged) {
  LinkPair pair = Connect({.greeting = "worker 3"}, {.greeting = "coordinator"});
  EXPECT_EQ(pair.near->peer_greeting(), "coordinator");
  EXPECT_EQ(pair.far->peer_greeting(), "worker 3");
  EXPECT_NE(pair.far->peer_address(), "");
}

TEST_P(LinkConformanceTest, ReceiverGivesTheMemory) {
  auto memory = std::make_shared<std::string>(1000, '\0');
  std::vector<std::string> asked;
  LinkOptions far{.allocate = [&](std::string_view header, size_t index, size_t size) {
    asked.push_back(StrCat(header, " ", index, " ", size));
    return PayloadBuffer{memory, reinterpret_cast<std::byte*>(memory->data())};
  }};
  LinkPair pair = Connect({}, std::move(far));
  pair.Start();
  ASSERT_TRUE(pair.near->Send({"tensor", {SliceOf(std::string(1000, 'y'))}}).ok());
  ASSERT_TRUE(WaitForFrames(*pair.far_events, 1));
  if (GetParam().name == "InprocByReference") {
    EXPECT_THAT(asked, ElementsAre()) << "no memory is needed to pass a reference";
  } else {
    EXPECT_THAT(asked, ElementsAre("tensor 0 1000"));
    EXPECT_EQ(*memory, std::string(1000, 'y'));
  }
}

TEST_P(LinkConformanceTest, FramesOverTheLimitAreNotSent) {
  LinkPair pair = Connect({.max_payload_bytes = 100, .max_header_bytes = 10, .max_slices = 2});
  pair.Start();
  for (Frame frame : {Frame{"", {SliceOf(std::string(101, 'x'))}}, Frame{std::string(11, 'h'), {}},
                      Frame{"", {Slice{}, Slice{}, Slice{}}}}) {
    const absl::Status status = pair.near->Send(std::move(frame));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("over the limit"));
  }
  EXPECT_TRUE(pair.near->writable());
}

TEST_P(LinkConformanceTest, DroppingTheLinkClosesIt) {
  LinkPair pair = Connect();
  pair.Start();
  pair.near.reset();
  ASSERT_TRUE(WaitForEnd(pair));
  EXPECT_EQ(pair.near_events->closed()->code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(pair.far_events->closed()->code(), absl::StatusCode::kCancelled);
}

TEST_P(LinkConformanceTest, CreditMayOutliveTheLink) {
  LinkPair pair = Connect();
  pair.Start(Recorder::Credits::kHold);
  ASSERT_TRUE(pair.near->Send({"x", {}}).ok());
  ASSERT_TRUE(WaitForFrames(*pair.far_events, 1));
  pair.near.reset();
  ASSERT_TRUE(WaitForEnd(pair));
  pair.far.reset();
  form_->Settle();
  pair.far_events->Release();
}

TEST_P(LinkConformanceTest, DestroyingTheTransportEndsItsLinks) {
  LinkPair pair = Connect();
  pair.Start();
  pair.listener.reset();
  form_->Destroy();
  ASSERT_TRUE(WaitForEnd(pair));
  EXPECT_EQ(pair.near_events->closed()->code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(pair.far_events->closed()->code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(pair.near->Send({"x", {}}).ok());
}

TEST_P(LinkConformanceTest, DestroyingTheTransportDeliversWhatWasClosedBefore) {
  if (!form_->threads()) GTEST_SKIP() << "only its loop could wait";
  for (int round = 0; round < 10; ++round) {
    form_ = GetParam().make();
    LinkPair pair = Connect({}, {.receive_window = 4096});
    pair.Start();
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(pair.near->Send({StrCat(i), {SliceOf(std::string(1000, 'x'))}}).ok());
    }
    pair.near->Close(absl::OkStatus());
    form_->Destroy();
    ASSERT_TRUE(WaitForEnd(pair));
    EXPECT_EQ(pair.far_events->frames(), 50u);
    EXPECT_TRUE(pair.near_events->closed()->ok()) << *pair.near_events->closed();
    EXPECT_TRUE(pair.far_events->closed()->ok()) << *pair.far_events->closed();
  }
}

TEST_P(LinkConformanceTest, DialingNobodyNamesTheAddress) {
  auto listener = form_->Listen(form_->free_address(), {}, [](std::shared_ptr<Link>) {});
  ASSERT_TRUE(listener.ok()) << listener.status();
  const std::string address = (*listener)->address();
  listener->reset();
  const auto link = DialOn(*form_, address, {.deadline = absl::Milliseconds(200)});
  EXPECT_TRUE(IsUnreachable(link.status())) << link.status();
  EXPECT_THAT(std::string(link.status().message()), HasSubstr("cannot reach " + address));
}

TEST_P(LinkConformanceTest, DialerWaitsForAListenerToAppear) {
  auto first = form_->Listen(form_->free_address(), {}, [](std::shared_ptr<Link>) {});
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string address = (*first)->address();
  first->reset();
  std::atomic<int> outcome{0};
  std::shared_ptr<Link> dialed;
  form_->dialer().Dial(address, {}, [&](absl::StatusOr<std::shared_ptr<Link>> link) {
    if (link.ok()) dialed = *std::move(link);
    outcome = dialed != nullptr ? 1 : -1;
  });
  form_->Settle();
  EXPECT_EQ(outcome, 0);
  auto second = form_->Listen(address, {}, [](std::shared_ptr<Link> link) { link->Start({}); });
  ASSERT_TRUE(second.ok()) << second.status();
  ASSERT_TRUE(WaitUntil([&] { return outcome != 0; }));
  EXPECT_EQ(outcome, 1);
}

TEST_P(LinkConformanceTest, AClosedListenerAcceptsNoMore) {
  std::atomic<int> accepted{0};
  auto listener =
      form_->Listen(form_->free_address(), {}, [&](std::shared_ptr<Link>) { accepted += 1; });
  ASSERT_TRUE(listener.ok()) << listener.status();
  const std::string address = (*listener)->address();
  (*listener)->Close();
  const auto link = DialOn(*form_, address, {.deadline = absl::Milliseconds(100)});
  EXPECT_TRUE(IsUnreachable(link.status())) << link.status();
  EXPECT_EQ(accepted, 0);
}

}  // namespace
}  // namespace weir
