#include "worker/flow/files/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "common/base/status.h"

namespace weir {
namespace {

std::string NameOfDescriptor(int descriptor) { return StrCat("/proc/self/fd/", descriptor); }

}  // namespace

absl::Status SystemError(const std::string& doing, const std::string& path) {
  const int error = errno;
  return absl::ErrnoToStatus(error, StrCat("cannot ", doing, " ", path));
}

absl::StatusOr<OpenFile> OpenFile::At(std::string path, int flags) {
  const int descriptor = open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) return SystemError("open", path);
  return OpenFile(descriptor, std::move(path));
}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::StatusOr<FileIdentity> OpenFile::Identity() const {
  struct stat info = {};
  if (fstat(descriptor_, &info) != 0) return SystemError("examine", path_);
  return FileIdentity{.device = info.st_dev,
                      .inode = info.st_ino,
                      .size = info.st_size,
                      .changed_ns = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec};
}

absl::StatusOr<std::string> OpenFile::Place() const {
  std::string place(PATH_MAX, '\0');
  const ssize_t size = readlink(NameOfDescriptor(descriptor_).c_str(), place.data(), place.size());
  if (size < 0) return SystemError("resolve (through /proc)", path_);
  place.resize(static_cast<size_t>(size));
  return place;
}

absl::StatusOr<OpenFile> OpenFile::Reopen(int flags) const {
  const int descriptor = open(NameOfDescriptor(descriptor_).c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) return SystemError("open", path_);
  return OpenFile(descriptor, path_);
}

absl::StatusOr<size_t> OpenFile::ReadAt(int64_t offset, absl::Span<char> to) const {
  size_t done = 0;
  while (done < to.size()) {
    const ssize_t got =
        pread(descriptor_, to.data() + done, to.size() - done, offset + static_cast<int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("read", path_);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

}  // namespace weir
