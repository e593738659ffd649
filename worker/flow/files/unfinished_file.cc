#include "worker/flow/files/unfinished_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "common/base/random.h"
#include "common/base/status.h"

namespace weir {
namespace {

constexpr int64_t kWrittenTogether = int64_t{4} << 20;

}  // namespace

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

absl::Status UnfinishedFile::WriteAt(int64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = pwrite(file_.descriptor(), bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return SystemError("write", file_.path());
    bytes.remove_prefix(static_cast<size_t>(put));
    offset += put;
  }
  return absl::OkStatus();
}

absl::Status UnfinishedFile::Append(std::string_view bytes) {
  WEIR_RETURN_IF_ERROR(WriteAt(size_, bytes));
  size_ += static_cast<int64_t>(bytes.size());
  WriteOut();
  return absl::OkStatus();
}

absl::Status UnfinishedFile::OverwriteHead(std::string_view bytes) { return WriteAt(0, bytes); }

void UnfinishedFile::WriteOut() {
  if (size_ - on_way_to_disk_ < kWrittenTogether) return;
  sync_file_range(file_.descriptor(), on_way_to_disk_, size_ - on_way_to_disk_,
                  SYNC_FILE_RANGE_WRITE);
  sync_file_range(file_.descriptor(), on_disk_, on_way_to_disk_ - on_disk_,
                  SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  on_disk_ = std::exchange(on_way_to_disk_, size_);
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
