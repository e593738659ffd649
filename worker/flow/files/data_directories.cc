#include "worker/flow/files/data_directories.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "common/flow/file_records.h"

namespace weir {
namespace {

constexpr std::string_view kWildcards = "*?[";

// What glob(3) found; freed at the end.
struct Found {
  Found() = default;
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;
  ~Found() { globfree(&paths); }

  glob_t paths = {};
};

// A glob that matches this path only.
std::string Escaped(const std::string& path) {
  std::string glob;
  for (const char c : path) {
    if (kWildcards.find(c) != std::string_view::npos || c == '\\') glob += '\\';
    glob += c;
  }
  return glob;
}

// Of an open file or directory. Errors: InvalidArgument unless it is a `wanted` (S_IFREG, S_IFDIR).
absl::Status CheckType(const OpenFile& file, mode_t wanted) {
  struct stat info = {};
  if (fstat(file.descriptor(), &info) != 0) return SystemError("examine", file.path());
  if ((info.st_mode & S_IFMT) == wanted) return absl::OkStatus();
  return InvalidArgument(file.path(), " is no ", wanted == S_IFDIR ? "directory" : "regular file");
}

}  // namespace

DataDirectories DataDirectories::All() {
  DataDirectories all;
  all.has_all_ = true;
  return all;
}

absl::StatusOr<DataDirectories> DataDirectories::Below(
    const std::vector<std::string>& directories) {
  DataDirectories below;
  for (const std::string& directory : directories) {
    WEIR_ASSIGN_OR_RETURN(const OpenFile open, OpenFile::At(directory, O_PATH));
    WEIR_RETURN_IF_ERROR(CheckType(open, S_IFDIR));
    WEIR_ASSIGN_OR_RETURN(std::string place, open.Place());
    if (place == "/") place.clear();
    below.directories_.push_back(std::move(place));
  }
  return below;
}

absl::Status DataDirectories::CheckAny() const {
  if (has_all_ || !directories_.empty()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      "this worker reads and writes no files for flows; `weir-worker --data-directory DIR` allows "
      "those below DIR");
}

absl::Status DataDirectories::CheckPlace(const std::string& place, const std::string& path) const {
  if (has_all_) return absl::OkStatus();
  for (const std::string& directory : directories_) {
    if (place == directory || absl::StartsWith(place, directory + "/")) return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      StrCat(path, " is not below ", absl::StrJoin(directories_, " or "),
             "; `weir-worker --data-directory DIR` allows what is below DIR"));
}

absl::StatusOr<OpenFile> DataDirectories::OpenAs(mode_t type, const std::string& path,
                                                 int flags) const {
  WEIR_RETURN_IF_ERROR(CheckAny());
  // Its place first, and only what is allowed for reading.
  const std::string full = Full(path);
  const absl::StatusOr<OpenFile> found = OpenFile::At(full, O_PATH);
  if (!found.ok()) {
    // Whether there is a file outside is nobody's business.
    WEIR_RETURN_IF_ERROR(CheckPlace(std::filesystem::path(full).lexically_normal(), path));
    return found.status();
  }
  WEIR_ASSIGN_OR_RETURN(const std::string place, found->Place());
  WEIR_RETURN_IF_ERROR(CheckPlace(place, path));
  WEIR_RETURN_IF_ERROR(CheckType(*found, type));
  return found->Reopen(flags);
}

std::string DataDirectories::Full(const std::string& path) const {
  if (has_all_ || absl::StartsWith(path, "/")) return path;
  return StrCat(directories_[0], "/", path);
}

absl::StatusOr<OpenFile> DataDirectories::Open(const std::string& path) const {
  return OpenAs(S_IFREG, path, O_RDONLY);
}

absl::StatusOr<OpenFile> DataDirectories::OpenDirectory(const std::string& path) const {
  return OpenAs(S_IFDIR, path.empty() ? "." : path, O_RDONLY | O_DIRECTORY);
}

absl::StatusOr<std::vector<std::string>> DataDirectories::Match(const std::string& pattern) const {
  WEIR_RETURN_IF_ERROR(CheckAny());
  // Nothing is listed outside: the directory before the first wildcard is judged, and behind it
  // the way leads down only, but for links, and what those lead to is judged when it is opened.
  const size_t wildcard = std::min(pattern.find_first_of(kWildcards), pattern.size());
  const size_t slash = pattern.rfind('/', wildcard);
  const std::string root =
      slash == std::string::npos ? "" : pattern.substr(0, std::max<size_t>(slash, 1));
  WEIR_RETURN_IF_ERROR(OpenDirectory(root).status());
  for (const absl::string_view part : absl::StrSplit(pattern.substr(wildcard), '/')) {
    if (part != "..") continue;
    return absl::PermissionDeniedError(
        StrCat("the glob ", pattern, " has '..' behind a wildcard; say where the files are"));
  }
  const bool is_relative = !has_all_ && !absl::StartsWith(pattern, "/");
  const std::string full = is_relative ? StrCat(Escaped(directories_[0]), "/", pattern) : pattern;
  const size_t prefix = is_relative ? directories_[0].size() + 1 : 0;
  Found found;
  const int result = glob(full.c_str(), GLOB_NOSORT | GLOB_ERR, nullptr, &found.paths);
  if (result == GLOB_NOMATCH) return absl::NotFoundError(StrCat("no file matches ", pattern));
  if (result != 0) return SystemError("list the directories of", pattern);
  if (found.paths.gl_pathc > static_cast<size_t>(kMaxFiles)) {
    return absl::ResourceExhaustedError(StrCat(found.paths.gl_pathc, " files match ", pattern,
                                               "; one vertex reads up to ", kMaxFiles));
  }
  std::vector<std::string> paths;
  for (size_t i = 0; i < found.paths.gl_pathc; ++i) {
    paths.emplace_back(found.paths.gl_pathv[i] + prefix);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace weir
