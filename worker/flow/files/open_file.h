// A file or directory that is open, by descriptor; closed at its end. Movable; thread-compatible.
#ifndef WEIR_WORKER_FLOW_FILES_OPEN_FILE_H_
#define WEIR_WORKER_FLOW_FILES_OPEN_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/flow/files/byte_source.h"

namespace weir {

// Which file it is and what is in it, as far as one can tell without reading it.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t changed_ns = 0;  // when it was last written

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

class OpenFile : public ByteSource {
 public:
  // `flags` as those of open(2). Errors: those of the system, with the path.
  static absl::StatusOr<OpenFile> At(std::string path, int flags);
  // Takes the descriptor over; `path` is for messages.
  OpenFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  OpenFile(OpenFile&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile() override;

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }
  absl::StatusOr<FileIdentity> Identity() const;
  // Where the kernel says that it is.
  absl::StatusOr<std::string> Place() const;
  // The same file, opened once more with other flags.
  absl::StatusOr<OpenFile> Reopen(int flags) const;

  absl::StatusOr<size_t> ReadAt(int64_t offset, absl::Span<char> to) const override;

 private:
  int descriptor_;
  std::string path_;
};

// "cannot open data/a.csv: No such file or directory", with the code that fits errno.
absl::Status SystemError(const std::string& doing, const std::string& path);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FILES_OPEN_FILE_H_
