// What the links between workers move when nothing is behind them: two processes send each other
// records in frames, and a round is over when all have come.
//
//   raw_link_bench RECORDS ROUNDS     prints the median of a round in microseconds
//
// Each process sends RECORDS records of a number and an origin, i64 both, in frames of 64 Ki at
// most.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/net/tcp_link.h"
#include "common/plan/frames.h"

namespace weir {
namespace {

constexpr int64_t kMostRecords = int64_t{64} << 10;

// Counts what comes.
class Arrivals {
 public:
  LinkCallbacks Callbacks() {
    return {.on_frame =
                [this](Frame frame, Credit) {
                  std::lock_guard lock(mutex_);
                  bytes_ += static_cast<int64_t>(frame.payload_bytes());
                  changed_.notify_one();
                },
            .on_writable = [] {},
            .on_closed = [](const absl::Status&) {}};
  }
  void AwaitBytes(int64_t bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return bytes_ >= bytes; });
    bytes_ -= bytes;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t bytes_ = 0;
};

// Returns: the median of a round.
double RunRounds(Link* link, Arrivals* arrivals, int64_t records, int rounds) {
  const Tensor column = Tensor::Zeros(DType::kI64, {records});
  v1::PeerMessage message;
  message.mutable_flow_frame()->set_job(1);
  std::vector<double> micros;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t at = 0; at < records; at += kMostRecords) {
      const Tensor part = column.Rows(at, std::min(records, at + kMostRecords));
      if (!link->Send(EncodeFrame(message, {part, part})).ok()) std::exit(1);
    }
    arrivals->AwaitBytes(2 * column.num_bytes());
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    micros.push_back(took.count());
  }
  std::nth_element(micros.begin(), micros.begin() + rounds / 2, micros.end());
  return micros[static_cast<size_t>(rounds / 2)];
}

// The end that listens writes its address to `out`.
void Listen(int out, int64_t records, int rounds) {
  TcpTransport transport;
  Arrivals arrivals;
  std::mutex mutex;
  std::condition_variable accepted;
  std::shared_ptr<Link> link;
  const auto listener = transport.Listen("127.0.0.1:0", {}, [&](std::shared_ptr<Link> peer) {
    peer->Start(arrivals.Callbacks());
    std::lock_guard lock(mutex);
    link = std::move(peer);
    accepted.notify_one();
  });
  if (!listener.ok()) std::exit(1);
  const std::string line = (*listener)->address() + "\n";
  if (write(out, line.data(), line.size()) < 0) std::exit(1);
  std::unique_lock lock(mutex);
  accepted.wait(lock, [&] { return link != nullptr; });
  lock.unlock();
  RunRounds(link.get(), &arrivals, records, rounds);
  sleep(1000);  // until the other end is done
}

int Main(int argc, char** argv) {
  const int64_t records = argc == 3 ? std::atoll(argv[1]) : 0;
  const int rounds = argc == 3 ? std::atoi(argv[2]) : 0;
  if (records < 1 || rounds < 1) {
    std::fprintf(stderr, "usage: raw_link_bench RECORDS ROUNDS\n");
    return 2;
  }
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();  // before there are threads
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Listen(ends[1], records, rounds);
    _exit(0);
  }
  std::string address;
  for (char letter; read(ends[0], &letter, 1) == 1 && letter != '\n';) address += letter;
  {
    TcpTransport transport;
    Arrivals arrivals;
    const auto link = DialAndWait(transport, address, {});
    if (!link.ok()) return 1;
    (*link)->Start(arrivals.Callbacks());
    std::printf("%.1f\n", RunRounds(link->get(), &arrivals, records, rounds));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return 0;
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) { return weir::Main(argc, argv); }
