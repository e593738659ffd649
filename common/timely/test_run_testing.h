// How many random cases the tests of this folder draw, and from which seed on.
#ifndef WEIR_COMMON_TIMELY_TEST_RUN_TESTING_H_
#define WEIR_COMMON_TIMELY_TEST_RUN_TESTING_H_

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "common/base/random.h"
#include "gtest/gtest.h"

namespace weir {

struct TestRun {
  int64_t graphs = 1000;
  uint64_t seed = 0;
};

inline TestRun& CurrentTestRun() {
  static TestRun run;
  return run;
}

// Takes --graphs=N and --seed=S. Returns: whether that was all.
inline bool ReadTestRun(int argc, char** argv) {
  CurrentTestRun().seed = SystemSeed() >> 16;
  for (int i = 1; i < argc; ++i) {
    absl::string_view word = argv[i];
    if (absl::ConsumePrefix(&word, "--graphs=") &&
        absl::SimpleAtoi(word, &CurrentTestRun().graphs)) {
      continue;
    }
    if (absl::ConsumePrefix(&word, "--seed=") && absl::SimpleAtoi(word, &CurrentTestRun().seed)) {
      continue;
    }
    std::fprintf(stderr, "%s: not known; there are --graphs=N and --seed=S\n", argv[i]);
    return false;
  }
  std::printf("random graphs: %lld, from seed %llu on\n",
              static_cast<long long>(CurrentTestRun().graphs),
              static_cast<unsigned long long>(CurrentTestRun().seed));
  return true;
}

// Runs `test` for `cases` seeds (-1: as many as graphs were asked for) and stops at the first that
// fails; its seed is in the message. `test` returns what is wrong, or nothing.
inline void ForEachSeed(int64_t cases,
                        const std::function<std::string(uint64_t seed, Random* random)>& test) {
  if (cases < 0) cases = CurrentTestRun().graphs;
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = CurrentTestRun().seed + static_cast<uint64_t>(i);
    SeededRandom random(seed);
    const std::string wrong = test(seed, &random);
    if (wrong.empty()) continue;
    FAIL() << "case " << i << " (again: --graphs=1 --seed=" << seed << ")\n" << wrong;
  }
}

}  // namespace weir

#endif  // WEIR_COMMON_TIMELY_TEST_RUN_TESTING_H_
