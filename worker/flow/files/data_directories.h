// Which files a worker reads and writes for flows: those below directories that its operator has
// allowed, or all that the process may. Paths are resolved before they are judged: a file is where
// the kernel says that the open file is, whatever links and ".." led there. Immutable; usable from
// any thread. All of it may wait for a disk.
#ifndef WEIR_WORKER_FLOW_FILES_DATA_DIRECTORIES_H_
#define WEIR_WORKER_FLOW_FILES_DATA_DIRECTORIES_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/flow/files/open_file.h"

namespace weir {

class DataDirectories {
 public:
  // Nothing is allowed.
  DataDirectories() = default;
  // All that the process may read and write; relative paths begin at the working directory.
  static DataDirectories All();
  // What is below these; relative paths begin at the first one. Errors: one that is no directory.
  static absl::StatusOr<DataDirectories> Below(const std::vector<std::string>& directories);

  // The paths that a glob matches, in the order of their bytes; relative as the glob is. Errors:
  // NotFound, there is none; PermissionDenied, it looks where nothing is allowed;
  // ResourceExhausted, too many; or that of a directory that cannot be read.
  absl::StatusOr<std::vector<std::string>> Match(const std::string& glob) const;
  // A regular file, for reading. Errors: NotFound, PermissionDenied, InvalidArgument for what is no
  // regular file.
  absl::StatusOr<OpenFile> Open(const std::string& path) const;
  // The directory in which files are made. Errors: as those of Open.
  absl::StatusOr<OpenFile> OpenDirectory(const std::string& path) const;

 private:
  // Where a path that a flow names is, before links are followed.
  std::string Full(const std::string& path) const;
  absl::Status CheckAny() const;
  // Errors: PermissionDenied, the resolved path is not below an allowed directory.
  absl::Status CheckPlace(const std::string& place, const std::string& path) const;
  // `type` is S_IFREG or S_IFDIR, `flags` are those of open(2).
  absl::StatusOr<OpenFile> OpenAs(mode_t type, const std::string& path, int flags) const;

  bool has_all_ = false;
  std::vector<std::string> directories_;  // resolved; without a slash at the end
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FILES_DATA_DIRECTORIES_H_
