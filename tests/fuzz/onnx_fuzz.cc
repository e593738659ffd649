// The ONNX importer: what it returns is verified.
#include <onnx/onnx_pb.h>

#include "common/base/status.h"
#include "common/ir/verify.h"
#include "common/ops/registry.h"
#include "server/compiler/import/import.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

const google::protobuf::Message* Prototype() { return &onnx::ModelProto::default_instance(); }

std::vector<std::string> Words() {
  return {"Conv",   "MatMul", "Reshape",        "LSTM",  "Loop", "If",   "Scan", "Gather",
          "Concat", "Split",  "Slice",          "Pad",   "Cast", "TopK", "Tile", "axes",
          "axis",   "perm",   "starts",         "shape", "to",   "x",    "y",    "",
          "Shape",  "Range",  "ConstantOfShape"};
}

}  // namespace

WEIR_FUZZ_TARGET(onnx, {.seeds = &OnnxModels, .words = &Words, .prototype = &Prototype}) {
  const absl::StatusOr<Graph> graph = ImportOnnx(View(data, size), "fuzz.onnx");
  if (!graph.ok()) return 0;
  const absl::Status verified = Verify(*graph, Ops());
  Require(verified.ok(), verified.ToString());
  return 0;
}

}  // namespace weir
