// Checks random programs: weir_programs [--count N] [--seed S] [--recursion]. Prints the seed of
// the first program, so that a run can be repeated, and a failing program made as small as
// possible; with --first it stops at that program as it is. One that ends this process, or has no
// end, is named by its seed.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

#include "common/base/log.h"
#include "common/base/str_cat.h"
#include "common/ir/text.h"
#include "tests/fuzz/guard.h"
#include "tests/programs/check.h"
#include "tests/programs/outline.h"

namespace weir {
namespace {

constexpr int kMostFailures = 3;
constexpr int kProgress = 1000;

struct Options {
  int64_t count = 500;
  uint64_t seed = 0;
  bool first = false;
  bool coverage = false;
  bool recursion = false;
};

void Report(const RandomProgram& program, const std::string& disagreement, bool reduce) {
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(program.seed),
              disagreement.c_str());
  std::fflush(stdout);
  if (!reduce) return;
  const RandomProgram smaller = Reduced(program);
  std::printf("reduced: %s\n%s\n", Disagreement(smaller).c_str(), Print(smaller.graph).c_str());
}

int Run(const Options& options) {
  std::printf("programs from seed %llu on\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  Coverage coverage;
  StartGuard(".", {.resident_bytes = std::numeric_limits<int64_t>::max()});
  const int most_failures = options.first ? 1 : kMostFailures;
  int failures = 0;
  int64_t invalid = 0, checked = 0;
  for (int64_t i = 0; i < options.count && failures < most_failures; ++i) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(i);
    const std::string label = StrCat("--seed ", seed, " --count 1, after ", checked, " programs");
    BeginInput(&label, nullptr);
    RandomProgram program = Generate({.seed = seed});
    const bool is_program = !program.graph.functions().empty();
    if (!is_program || (options.recursion && !OutlineRecursively(&program))) {
      EndInput();
      ++invalid;
      continue;
    }
    ++checked;
    if (checked % kProgress == 0) {
      std::printf("%lld so far\n", static_cast<long long>(checked));
      std::fflush(stdout);
    }
    for (const auto& [use, times] : program.coverage) coverage[use] += times;
    const std::string disagreement = Disagreement(program);
    EndInput();
    if (disagreement.empty()) continue;
    ++failures;
    Report(program, disagreement, !options.first);
  }
  int64_t least = coverage.empty() ? 0 : coverage.begin()->second;
  for (const auto& [use, times] : coverage) {
    least = std::min(least, times);
    if (options.coverage) std::printf("%8lld %s\n", static_cast<long long>(times), use.c_str());
  }
  std::printf(
      "%lld programs checked, %d disagree; %lld drafts were no programs; %zu pairs of op "
      "and varying operands, each at least %lld times\n",
      static_cast<long long>(checked), failures, static_cast<long long>(invalid), coverage.size(),
      static_cast<long long>(least));
  return failures == 0 && checked > 0 ? 0 : 1;
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) {
  CLI::App app("checks random programs");
  weir::Options options{.seed = std::random_device()()};
  app.add_option("--count", options.count, "how many programs");
  app.add_option("--seed", options.seed, "of the first one; default: a fresh one");
  app.add_flag("--first", options.first, "stop at the first that disagrees, do not reduce it");
  app.add_flag("--coverage", options.coverage,
               "list how often each op was used with which operands varying");
  app.add_flag("--recursion", options.recursion,
               "put a part of each program into a function that calls itself");
  CLI11_PARSE(app, argc, argv);
  weir::InitLogging({.program = "weir_programs", .level = weir::LogLevel::kError});
  return weir::Run(options);
}
