#include "worker/flow/memory/spill_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "common/base/aligned_memory.h"
#include "common/base/status.h"

namespace weir {
namespace {

constexpr int64_t kPage = 4096;

int64_t UpToPage(int64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

int OpenUnnamed(const std::string& path) {
  const int fd = open(path.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  // A file system without such files: a name for a moment.
  std::string name = path + "/weir-spill-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

// That files can be made in a folder, and are not memory themselves.
absl::Status CheckFolder(const std::string& path) {
  struct statfs info = {};
  if (statfs(path.c_str(), &info) != 0) {
    return InvalidArgument("--spill-directory ", path, ": ", std::strerror(errno));
  }
  const auto type = static_cast<uint64_t>(info.f_type);
  if (type == TMPFS_MAGIC || type == RAMFS_MAGIC) {
    return InvalidArgument("--spill-directory ", path,
                           " is a file system in memory; give a folder on a disk");
  }
  const int fd = OpenUnnamed(path);
  if (fd < 0) {
    return InvalidArgument("--spill-directory ", path,
                           ": no file can be made: ", std::strerror(errno));
  }
  close(fd);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<SpillDirectory>> SpillDirectory::Open(const std::string& path,
                                                                     int64_t most) {
  absl::Status status;
  if (!path.empty()) {
    WEIR_RETURN_IF_ERROR(CheckFolder(path));
    return std::shared_ptr<SpillDirectory>(new SpillDirectory(path, most));
  }
  const char* named = std::getenv("TMPDIR");
  for (const char* usual : {named, "/var/tmp", "/tmp"}) {
    if (usual == nullptr || *usual == '\0') continue;
    status = CheckFolder(usual);
    if (status.ok()) return std::shared_ptr<SpillDirectory>(new SpillDirectory(usual, most));
  }
  return status;
}

absl::Status SpillDirectory::Reserve(int64_t bytes) {
  const int64_t before = bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if (most_ == 0 || before + bytes <= most_) return absl::OkStatus();
  Release(bytes);
  return absl::ResourceExhaustedError(StrCat(before, " bytes of flows are in ", path_, "; ", bytes,
                                             " more are above --spill-limit, which is ", most_));
}

absl::Status SpillDirectory::Failed(const char* what, int error) const {
  const char* const full = error == ENOSPC || error == EDQUOT
                               ? ": the disk is full; make room or give another --spill-directory"
                               : "";
  return absl::ResourceExhaustedError(StrCat(bytes(), " bytes of flows are in ", path_, "; cannot ",
                                             what, " more: ", std::strerror(error), full));
}

absl::StatusOr<int> SpillDirectory::NewFile() const {
  const int fd = OpenUnnamed(path_);
  if (fd < 0) return Failed("make a file for", errno);
  return fd;
}

absl::StatusOr<std::unique_ptr<SpillFile>> SpillFile::Make(
    std::shared_ptr<SpillDirectory> directory, int64_t bytes, Use use) {
  auto file = std::unique_ptr<SpillFile>(new SpillFile(std::move(directory), bytes));
  WEIR_ASSIGN_OR_RETURN(file->fd_, file->directory_->NewFile());
  // Behind the last element a whole vector can be read.
  const int64_t size = UpToPage(bytes + static_cast<int64_t>(kMemoryAlignment));
  const int error = use == Use::kTable                ? posix_fallocate(file->fd_, 0, size)
                    : ftruncate(file->fd_, size) == 0 ? 0
                                                      : errno;
  if (error != 0) return file->directory_->Failed("write", error);
  const int access = use == Use::kTable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const memory = mmap(nullptr, size, access, MAP_SHARED, file->fd_, 0);
  if (memory == MAP_FAILED) return file->directory_->Failed("map", errno);
  // Who reads gets what is asked for, and nothing around it (will_need.h).
  posix_fadvise(file->fd_, 0, 0, POSIX_FADV_RANDOM);
  if (use == Use::kRead) madvise(memory, size, MADV_RANDOM);
  file->data_ = static_cast<std::byte*>(memory);
  file->mapped_bytes_ = size;
  return file;
}

SpillFile::~SpillFile() {
  if (data_ != nullptr) munmap(data_, mapped_bytes_);
  if (fd_ >= 0) close(fd_);
  directory_->Release(taken_bytes_.load(std::memory_order_relaxed));
}

absl::Status SpillFile::Write(int64_t offset, const std::byte* data, int64_t bytes) {
  while (bytes > 0) {
    const ssize_t written = pwrite(fd_, data, bytes, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return directory_->Failed("write", written < 0 ? errno : ENOSPC);
    offset += written;
    data += written;
    bytes -= written;
  }
  return absl::OkStatus();
}

absl::Status SpillFile::Read(int64_t offset, std::byte* data, int64_t bytes) const {
  while (bytes > 0) {
    const ssize_t read = pread(fd_, data, bytes, offset);
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return directory_->Failed("read", read < 0 ? errno : EIO);
    offset += read;
    data += read;
    bytes -= read;
  }
  return absl::OkStatus();
}

void SpillFile::BeginWriteOut(int64_t offset, int64_t bytes) {
  sync_file_range(fd_, offset, bytes, SYNC_FILE_RANGE_WRITE);
}

void SpillFile::AwaitWriteOut(int64_t offset, int64_t bytes) {
  sync_file_range(fd_, offset, bytes,
                  SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
}

void SpillFile::Free(int64_t offset, int64_t bytes) {
  for (const int64_t end = offset + bytes; offset < end;) {
    const int64_t block = offset / kBlockBytes;
    const int64_t part = std::min(end, (block + 1) * kBlockBytes) - offset;
    // Parts lie behind one another without gaps, so that is all of a block that was written.
    if (not_needed_[block].fetch_add(part) + part == kBlockBytes) FreeBlock(block);
    offset += part;
  }
}

void SpillFile::FreeBlock(int64_t block) {
  fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, block * kBlockBytes, kBlockBytes);
  taken_bytes_.fetch_sub(kBlockBytes, std::memory_order_relaxed);
  directory_->Release(kBlockBytes);
}

}  // namespace weir
