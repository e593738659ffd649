// The text form: what parses prints, and what is printed parses and prints the same.
#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/target.h"

namespace weir {

WEIR_FUZZ_TARGET(text, {.seeds = &ProgramTexts, .words = &ProgramWords}) {
  const absl::StatusOr<Graph> graph = Parse(View(data, size), Ops());
  if (!graph.ok()) return 0;
  const std::string printed = Print(*graph);
  const absl::StatusOr<Graph> again = Parse(printed, Ops());
  Require(again.ok(), StrCat(again.status().ToString(), " in\n", printed));
  Require(Print(*again) == printed, StrCat("prints in another way:\n", printed));
  return 0;
}

}  // namespace weir
