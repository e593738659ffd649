// The .npy reader: what it reads is written and read back with equal bits.
#include "common/tensor/npy.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

std::vector<std::string> Seeds() { return FilesOf("data", ".npy"); }

std::vector<std::string> Words() {
  return {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
          "'shape': ",
          "(1, 2, 3)",
          "()",
          "(0,)",
          "(4611686018427387904, 2)",
          "-1",
          "'descr': ",
          "'|b1'",
          "'>i8'",
          "'<c16'",
          "'O'",
          "True",
          "[('a', '<i4')]",
          "\x93NUMPY\x01",
          "\x93NUMPY\x02",
          "\xff\xff\xff\xff"};
}

}  // namespace

WEIR_FUZZ_TARGET(npy, {.seeds = &Seeds, .words = &Words}) {
  const absl::StatusOr<Tensor> tensor = ParseNpy(View(data, size), "input");
  if (!tensor.ok()) return 0;
  const absl::StatusOr<std::string> written = FormatNpy(*tensor);
  Require(written.ok(), written.status().ToString());
  const absl::StatusOr<Tensor> again = ParseNpy(*written, "written");
  Require(again.ok() && again->BitEquals(*tensor), "is not what was read");
  return 0;
}

}  // namespace weir
