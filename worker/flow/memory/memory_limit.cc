#include "worker/flow/memory/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/base/str_cat.h"

namespace weir {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

// What a file says; nothing is limited by one that is not there or says "max".
int64_t LimitIn(const std::string& file) {
  std::ifstream in(file);
  std::string text;
  int64_t bytes = 0;
  in >> text;
  return absl::SimpleAtoi(text, &bytes) && bytes > 0 ? bytes : kNone;
}

// Of a group and all around it, up to the root of the hierarchy.
int64_t LeastUpwards(const std::string& root, std::string group, const std::string& file) {
  int64_t least = LimitIn(StrCat(root, "/", file));
  while (group.size() > 1) {
    least = std::min(least, LimitIn(StrCat(root, group, "/", file)));
    group.resize(group.rfind('/'));
  }
  return least;
}

}  // namespace

int64_t MemoryLimit(const MemoryLimitFiles& files) {
  int64_t least = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  std::ifstream own(files.own_groups);
  for (std::string line; std::getline(own, line);) {
    // number:controllers:group; the second version has no controllers.
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() < 3 || parts[2].empty() || parts[2][0] != '/') continue;
    if (parts[1].empty()) {
      least = std::min(least, LeastUpwards(files.groups, parts[2], "memory.max"));
    } else if (parts[1] == "memory") {
      least = std::min(least,
                       LeastUpwards(files.groups + "/memory", parts[2], "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace weir
