#include "worker/flow/files/unfinished_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "common/base/random.h"
#include "common/base/status.h"

namespace weir {

absl::StatusOr<std::unique_ptr<UnfinishedFile>> UnfinishedFile::Make(OpenFile directory,
                                                                     std::string name) {
  const std::string hidden = StrCat(UniqueName(StrCat(".", name, ".")), ".tmp");
  std::string path = StrCat(directory.path(), "/", name);
  const int descriptor = openat(directory.descriptor(), hidden.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) return SystemError("create", path);
  return std::unique_ptr<UnfinishedFile>(new UnfinishedFile(
      std::move(directory), std::move(name), hidden, OpenFile(descriptor, std::move(path))));
}

UnfinishedFile::UnfinishedFile(OpenFile directory, std::string name, std::string hidden,
                               OpenFile file)
    : directory_(std::move(directory)),
      name_(std::move(name)),
      hidden_(std::move(hidden)),
      file_(std::move(file)) {}

UnfinishedFile::~UnfinishedFile() {
  if (!is_finished_) unlinkat(directory_.descriptor(), hidden_.c_str(), 0);
}

absl::Status UnfinishedFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(file_.descriptor(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return SystemError("write", file_.path());
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return absl::OkStatus();
}

absl::Status UnfinishedFile::Finish() {
  if (fsync(file_.descriptor()) != 0) return SystemError("write", file_.path());
  const int directory = directory_.descriptor();
  if (renameat(directory, hidden_.c_str(), directory, name_.c_str()) != 0) {
    return SystemError("write", file_.path());
  }
  is_finished_ = true;
  // Some file systems cannot do that with a directory, and do not need it.
  if (fsync(directory) != 0 && errno != EINVAL) return SystemError("write", directory_.path());
  return absl::OkStatus();
}

}  // namespace weir
