#include "tests/fuzz/guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "common/base/str_cat.h"

// Sanitizers end the program without a signal.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace weir {
namespace {

struct Guard {
  GuardLimits limits;
  std::string path;  // of the file for the failing input
  const std::string* label = nullptr;
  const std::string* input = nullptr;
};

Guard& TheGuard() {
  static auto* const guard = new Guard;
  return *guard;
}

void Say(const char* text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
}

// This and what follows runs in a signal handler: no allocation.
void SaveInput(const std::string& input, const char* path) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, input.data(), input.size());
  close(file);
  Say("\nthe input is in ");
  Say(path);
}

void ReportDeath() {
  Guard& guard = TheGuard();
  if (guard.label == nullptr) return;
  const std::string& label = *guard.label;
  guard.label = nullptr;
  Say("\ndied: ");
  Say(label.c_str());
  if (guard.input != nullptr) SaveInput(*guard.input, guard.path.c_str());
  Say("\n");
}

void OnSignal(int number) {
  if (number == SIGVTALRM) Say("\nan input takes too long");
  ReportDeath();
  signal(number, SIG_DFL);
  raise(number);
}

void SetTimer(int seconds) {
  itimerval timer = {};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

}  // namespace

void StartGuard(std::string folder, const GuardLimits& limits) {
  Guard& guard = TheGuard();
  guard.limits = limits;
  guard.path = StrCat(folder, "/fuzz-input-", getpid());
  int signals[] = {SIGABRT, SIGVTALRM, SIGSEGV, SIGFPE, SIGILL, SIGBUS};
  // A stack that has overflowed holds no handler.
  static char* const stack = static_cast<char*>(std::malloc(size_t{64} << 10));
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = size_t{64} << 10;
  sigaltstack(&alternate, nullptr);
  for (const int number : signals) {
    // The sanitizers' own handlers of faults say more.
    const bool fault = number != SIGABRT && number != SIGVTALRM;
    if (fault && __sanitizer_set_death_callback != nullptr) continue;
    struct sigaction action = {};
    action.sa_handler = &OnSignal;
    action.sa_flags = SA_ONSTACK;
    sigaction(number, &action, nullptr);
  }
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(&ReportDeath);
}

void BeginInput(const std::string* label, const std::string* input) {
  TheGuard().label = label;
  TheGuard().input = input;
  SetTimer(TheGuard().limits.cpu_seconds);
}

void EndInput() {
  SetTimer(0);
  if (PeakResidentBytes() > TheGuard().limits.resident_bytes) {
    Say("\nmore memory than allowed was held");
    ReportDeath();
    std::_Exit(1);
  }
  TheGuard().label = nullptr;
}

int64_t PeakResidentBytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
}

}  // namespace weir
