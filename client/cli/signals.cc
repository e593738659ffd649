#include "client/cli/signals.h"

#include <csignal>

#include "absl/time/clock.h"

namespace weir::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void OnSignal(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void CatchInterrupts() {
  std::signal(SIGINT, &OnSignal);
  std::signal(SIGTERM, &OnSignal);
}

bool Interrupted() { return interrupted != 0; }

void WaitForInterrupt() {
  CatchInterrupts();
  while (!Interrupted()) absl::SleepFor(absl::Milliseconds(50));
}

}  // namespace weir::cli
