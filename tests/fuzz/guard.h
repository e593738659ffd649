// What watches over a target, or over a program that checks others (tests/programs): when it dies
// it says with which input, which is written to a file; a run that takes too long is such a death,
// and resident memory has a bound. One guard a process; used by the main thread.
#ifndef WEIR_TESTS_FUZZ_GUARD_H_
#define WEIR_TESTS_FUZZ_GUARD_H_

#include <cstdint>
#include <string>

namespace weir {

struct GuardLimits {
  int64_t resident_bytes = int64_t{1} << 30;  // of the whole process, at its peak
  int cpu_seconds = 60;                       // of one input
};

// Installs the handlers. Failing inputs go to `folder`.
void StartGuard(std::string folder, const GuardLimits& limits);

// `label` (target, seed and number) and `input` are what a death reports; both must outlive the
// run. `input` may be null where the label says it all.
void BeginInput(const std::string* label, const std::string* input);
// Dies if the process has held more memory than allowed.
void EndInput();

// The most that this process has held at one time.
int64_t PeakResidentBytes();

}  // namespace weir

#endif  // WEIR_TESTS_FUZZ_GUARD_H_
