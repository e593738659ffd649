// The text form of flows: what parses prints, what is printed parses and prints the same, and what
// progress tracking makes of it is a topology or an error. The same of what becomes of it when
// loops of its functions are brought out.
#include "common/base/status.h"
#include "common/flow/flow_text.h"
#include "common/flow/vertex_kind.h"
#include "common/timely/topology.h"
#include "server/flows/pipelined/pipelined.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

std::vector<std::string> Seeds() { return FilesOf("fuzz/corpus", ".flow"); }

std::vector<std::string> Words() {
  std::vector<std::string> words = {
      "flow @f {", "loop @a",  " in @b",  "loc(\"a\":1:1)", "func @",    "%",
      "\"time\"",  "\"loop\"", "\"job\"", "\"changes\"",    "\"sum\"",   "i64[]",
      "f32[3]",    "f32[n,3]", "return ", "strings []",     "\"loops\"", "\"all\""};
  for (const VertexKind& kind : AllVertexKinds()) {
    words.push_back(StrCat("%x = ", kind.name, "(%y) {"));
    for (const FlowAttr& attr : kind.attrs) words.push_back(StrCat(attr.name, " = "));
  }
  return words;
}

// REQUIRES: the flow is checked.
void RequireSound(const Flow& flow) {
  const std::string printed = PrintFlow(flow);
  const absl::StatusOr<Flow> again = ParseFlow(printed);
  Require(again.ok(), StrCat(again.status().ToString(), " in\n", printed));
  Require(PrintFlow(*again) == printed, StrCat("prints in another way:\n", printed));
  (void)Topology::Of(GraphOf(flow));
}

}  // namespace

WEIR_FUZZ_TARGET(flow, {.seeds = &Seeds, .words = &Words}) {
  absl::StatusOr<Flow> flow = ParseFlow(View(data, size));
  if (!flow.ok()) return 0;
  RequireSound(*flow);
  if (BringOutPipelined(&*flow).ok()) RequireSound(*flow);
  return 0;
}

}  // namespace weir
