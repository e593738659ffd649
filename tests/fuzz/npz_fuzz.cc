// The .npz reader, which takes a path: inputs are put into a file in memory.
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/str_cat.h"
#include "common/tensor/npy.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

constexpr int64_t kMaxBytes = int64_t{64} << 20;

std::vector<std::string> Seeds() { return FilesOf("data", ".npz"); }

std::vector<std::string> Words() {
  return {std::string("PK\x03\x04", 4), std::string("PK\x01\x02", 4),
          std::string("PK\x05\x06", 4), ".npy",
          "\xff\xff\xff\xff",           "../"};
}

}  // namespace

WEIR_FUZZ_TARGET(npz, {.seeds = &Seeds, .words = &Words}) {
  const int file = memfd_create("npz", 0);
  Require(file >= 0, "a file in memory can be made");
  Require(write(file, data, size) == static_cast<ssize_t>(size), "the file can be written");
  const auto tensors = ReadNpz(StrCat("/proc/self/fd/", file), {.max_bytes = kMaxBytes});
  close(file);
  if (!tensors.ok()) return 0;
  int64_t bytes = 0;
  for (const auto& [name, tensor] : *tensors) bytes += tensor.num_bytes();
  Require(bytes <= kMaxBytes, "the limit holds");
  return 0;
}

}  // namespace weir
