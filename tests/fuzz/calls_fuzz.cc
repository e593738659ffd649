// The services as clients call them: the input is a script of calls and messages of streams.
#include "tests/fuzz/calls_bench.h"
#include "tests/fuzz/calls_script.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

constexpr int kMostSteps = 32;

const google::protobuf::Message* Prototype() { return &fuzz::Script::default_instance(); }

}  // namespace

WEIR_FUZZ_TARGET(calls, {.seeds = &ScriptSeeds, .words = &ScriptWords, .prototype = &Prototype}) {
  fuzz::Script script;
  if (!script.ParseFromArray(data, static_cast<int>(size))) return 0;
  if (script.steps_size() > kMostSteps) return 0;
  static CallsBench bench;
  bench.Run(std::move(script));
  return 0;
}

}  // namespace weir
