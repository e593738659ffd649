// A directory of a test, with files in it; gone at its end. For tests only; thread-compatible.
#ifndef WEIR_COMMON_FLOW_SCRATCH_DIRECTORY_TESTING_H_
#define WEIR_COMMON_FLOW_SCRATCH_DIRECTORY_TESTING_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "common/base/str_cat.h"

namespace weir {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string pattern = StrCat(::testing::TempDir(), "weir_XXXXXX");
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = std::filesystem::canonical(pattern).string();
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  // The path of a file in it, whose directories are made.
  std::string At(std::string_view name) const {
    const std::string path = StrCat(path_, "/", name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    return path;
  }
  // Returns: its path.
  std::string Write(std::string_view name, std::string_view bytes) const {
    const std::string path = At(name);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  // The bytes of all files below a directory of it, by path; those that a dot hides, too.
  std::map<std::string, std::string> Files(std::string_view below = "") const {
    std::map<std::string, std::string> files;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(StrCat(path_, "/", below))) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().string()] = std::string(std::istreambuf_iterator<char>(file), {});
    }
    return files;
  }

 private:
  std::string path_;
};

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_SCRATCH_DIRECTORY_TESTING_H_
