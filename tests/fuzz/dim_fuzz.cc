// Dimensions and types in text form: what parses prints and parses to the same value.
#include "common/base/str_cat.h"
#include "common/tensor/dim.h"
#include "common/tensor/shape.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

std::vector<std::string> Seeds() {
  return {
      "0",       "n",          "3*n+1",           "n//2-m%3", "min(n,4)*max(m,-1)", "(n+1)*(n-1)",
      "-n",      "?",          "n*m//m",          "f32[]",    "f32[n,8,8]",         "i64[2*n+1,?]",
      "bf16[0]", "c128[n//2]", "bool[min(n,m),3]"};
}

std::vector<std::string> Words() {
  return {"n",
          "m",
          "a.b_c",
          "9223372036854775807",
          "-9223372036854775808",
          "//",
          "%",
          "*",
          "+",
          "-",
          "(",
          ")",
          "min(",
          "max(",
          ",",
          "?",
          "f64[",
          "u8[",
          "]",
          " "};
}

void CheckDim(const std::string& text) {
  const absl::StatusOr<Dim> dim = Dim::Parse(text);
  if (!dim.ok()) return;
  const absl::StatusOr<Dim> again = Dim::Parse(dim->ToString());
  Require(again.ok() && *again == *dim, StrCat("is another dimension: ", dim->ToString()));
  const SymbolBindings symbols = {{"n", 5}, {"m", -3}};
  (void)dim->Evaluate(symbols);
  (void)dim->Substitute({{"n", *dim}, {"m", Dim::Symbol("n") + 1}}).ToString();
}

}  // namespace

WEIR_FUZZ_TARGET(dim, {.seeds = &Seeds, .words = &Words}) {
  const std::string text(View(data, size));
  CheckDim(text);
  const absl::StatusOr<TensorType> type = TensorType::Parse(text);
  if (!type.ok()) return 0;
  const absl::StatusOr<TensorType> again = TensorType::Parse(type->ToString());
  Require(again.ok() && *again == *type, StrCat("is another type: ", type->ToString()));
  (void)type->shape.Evaluate({{"n", int64_t{1} << 62}});
  return 0;
}

}  // namespace weir
