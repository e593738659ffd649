// What two processes that block on a TCP socket of this machine get: the floor under everything
// that goes from one worker to another.
//
//   raw_tcp_bench round-trip BYTES ROUNDS [PLACE]
//       prints the median of one message there and back
//   raw_tcp_bench exchange BYTES ROUNDS [PLACE]
//       prints the median of a round in which both send BYTES and have received as many; sent and
//       received in pieces by one thread, as the socket lets it
//
// In microseconds. PLACE `apart`: each process has a processor of its own; `together`: both have
// the same. Without it the system decides, and may do so differently from run to run: a message to
// a process on the same processor is a switch, one to another processor has to wake that first,
// which on a virtual machine takes several times as long.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace weir {
namespace {

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(1);
}

struct Ends {
  int here = -1;
  int there = -1;
};

void SetNoDelay(int socket) {
  const int on = 1;
  if (setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) Die("TCP_NODELAY");
}

Ends Connect() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, generic, size) != 0 || listen(listener, 1) != 0) Die("listen");
  if (getsockname(listener, generic, &size) != 0) Die("getsockname");
  Ends ends;
  ends.here = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(ends.here, generic, size) != 0) Die("connect");
  ends.there = accept(listener, nullptr, nullptr);
  if (ends.there < 0) Die("accept");
  close(listener);
  SetNoDelay(ends.here);
  SetNoDelay(ends.there);
  return ends;
}

void SendAll(int socket, const std::vector<char>& bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t some = send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (some <= 0) Die("send");
    sent += static_cast<size_t>(some);
  }
}

void ReceiveAll(int socket, std::vector<char>* bytes) {
  const auto size = static_cast<ssize_t>(bytes->size());
  if (recv(socket, bytes->data(), bytes->size(), MSG_WAITALL) != size) Die("recv");
}

// Both at once, so that neither end waits for the other's buffer.
void SendAndReceive(int socket, const std::vector<char>& out, std::vector<char>* in) {
  size_t sent = 0;
  size_t received = 0;
  while (sent < out.size() || received < in->size()) {
    pollfd ready = {socket, POLLIN, 0};
    if (sent < out.size()) ready.events |= POLLOUT;
    if (poll(&ready, 1, -1) < 0) Die("poll");
    if ((ready.revents & POLLIN) != 0 && received < in->size()) {
      const ssize_t some = recv(socket, in->data() + received, in->size() - received, MSG_DONTWAIT);
      if (some == 0 || (some < 0 && errno != EAGAIN)) Die("recv");
      received += static_cast<size_t>(std::max<ssize_t>(some, 0));
    }
    if ((ready.revents & POLLOUT) != 0) {
      const ssize_t some =
          send(socket, out.data() + sent, out.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (some < 0 && errno != EAGAIN) Die("send");
      sent += static_cast<size_t>(std::max<ssize_t>(some, 0));
    }
  }
}

enum class Place { kAnywhere, kApart, kTogether };

// Binds this process, the first or the second one, to a processor.
void GoTo(Place place, bool is_first) {
  if (place == Place::kAnywhere) return;
  cpu_set_t may;
  if (sched_getaffinity(0, sizeof(may), &may) != 0) Die("sched_getaffinity");
  std::vector<int> processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &may)) processors.push_back(cpu);
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  const size_t number = is_first || place == Place::kTogether ? 0 : 1;
  CPU_SET(processors[number % processors.size()], &one);
  if (sched_setaffinity(0, sizeof(one), &one) != 0) Die("sched_setaffinity");
}

enum class Form { kRoundTrip, kExchange };

// One round at either end.
void Round(Form form, bool is_first, int socket, const std::vector<char>& out,
           std::vector<char>* in) {
  if (form == Form::kExchange) return SendAndReceive(socket, out, in);
  if (is_first) SendAll(socket, out);
  ReceiveAll(socket, in);
  if (!is_first) SendAll(socket, out);
}

double MedianMicros(Form form, size_t bytes, int rounds, Place place) {
  const Ends ends = Connect();
  const std::vector<char> out(bytes, 'x');
  std::vector<char> in(bytes);
  const int warm = rounds / 10 + 1;
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    GoTo(place, false);
    for (int i = 0; i < warm + rounds; ++i) Round(form, false, ends.there, out, &in);
    _exit(0);
  }
  GoTo(place, true);
  std::vector<double> micros;
  for (int i = 0; i < warm + rounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    Round(form, true, ends.here, out, &in);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    if (i >= warm) micros.push_back(took.count());
  }
  std::nth_element(micros.begin(), micros.begin() + rounds / 2, micros.end());
  return micros[static_cast<size_t>(rounds / 2)];
}

int Main(int argc, char** argv) {
  const bool is_whole = argc == 4 || argc == 5;
  const std::string_view form = is_whole ? argv[1] : "";
  const long bytes = is_whole ? std::atol(argv[2]) : 0;
  const int rounds = is_whole ? std::atoi(argv[3]) : 0;
  const std::string_view where = argc == 5 ? argv[4] : "";
  const bool is_place = where.empty() || where == "apart" || where == "together";
  if ((form != "round-trip" && form != "exchange") || bytes < 1 || rounds < 1 || !is_place) {
    std::fprintf(stderr,
                 "usage: raw_tcp_bench round-trip|exchange BYTES ROUNDS [apart|together]\n");
    return 2;
  }
  const Place place = where == "apart"      ? Place::kApart
                      : where == "together" ? Place::kTogether
                                            : Place::kAnywhere;
  std::printf("%.1f\n", MedianMicros(form == "exchange" ? Form::kExchange : Form::kRoundTrip,
                                     static_cast<size_t>(bytes), rounds, place));
  return 0;
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) { return weir::Main(argc, argv); }
