#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace weir {
namespace {

std::vector<FuzzTarget>& Registered() {
  static auto* const targets = new std::vector<FuzzTarget>;
  return *targets;
}

}  // namespace

const std::vector<FuzzTarget>& FuzzTargets() {
  std::vector<FuzzTarget>& targets = Registered();
  std::sort(targets.begin(), targets.end(),
            [](const FuzzTarget& a, const FuzzTarget& b) { return a.name < b.name; });
  return targets;
}

FuzzRegistration::FuzzRegistration(const char* name, int (*run)(const uint8_t*, size_t),
                                   FuzzSources sources) {
  Registered().push_back({name, run, sources});
}

void Require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace weir
