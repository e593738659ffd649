#include "common/tensor/npy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/status.h"
#include "common/tensor/npy_header.h"

namespace weir {
namespace {

absl::Status FileError(std::string_view doing, const std::string& path) {
  const int error = errno;
  return absl::ErrnoToStatus(error, StrCat("cannot ", doing, " ", path));
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  int descriptor() const { return descriptor_; }
  // Returns: what close says; late write errors show up here.
  int Close() { return close(std::exchange(descriptor_, -1)); }

 private:
  int descriptor_;
};

absl::Status ReadAt(const File& file, int64_t offset, void* out, int64_t bytes,
                    const std::string& path) {
  char* to = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t got = pread(file.descriptor(), to, static_cast<size_t>(bytes), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError("read", path);
    if (got == 0) return absl::DataLossError(StrCat(path, ": the file shrank while it was read"));
    to += got;
    offset += got;
    bytes -= got;
  }
  return absl::OkStatus();
}

absl::Status WriteAll(const File& file, const void* data, int64_t bytes, const std::string& path) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = write(file.descriptor(), from, static_cast<size_t>(bytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return FileError("write", path);
    from += put;
    bytes -= put;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tensor> ReadNpy(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.descriptor() < 0) return FileError("open", path);
  struct stat info = {};
  if (fstat(file.descriptor(), &info) != 0) return FileError("examine", path);
  if (!S_ISREG(info.st_mode)) return InvalidArgument(path, ": not a regular file");
  const int64_t file_bytes = info.st_size;
  std::string prefix(
      static_cast<size_t>(std::min(file_bytes, static_cast<int64_t>(kMaxNpyHeaderBytes))), '\0');
  WEIR_RETURN_IF_ERROR(ReadAt(file, 0, prefix.data(), static_cast<int64_t>(prefix.size()), path));
  WEIR_ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(prefix, file_bytes, path));
  WEIR_ASSIGN_OR_RETURN(Tensor tensor, AllocateNpy(header, path));
  WEIR_RETURN_IF_ERROR(
      ReadAt(file, header.data_offset, tensor.raw_mutable_data(), header.data_bytes, path));
  return FinishNpy(header, std::move(tensor));
}

absl::StatusOr<Tensor> ParseNpy(std::string_view bytes, std::string_view what) {
  WEIR_ASSIGN_OR_RETURN(const NpyHeader header,
                        ParseNpyHeader(bytes, static_cast<int64_t>(bytes.size()), what));
  WEIR_ASSIGN_OR_RETURN(Tensor tensor, AllocateNpy(header, what));
  std::memcpy(tensor.raw_mutable_data(), bytes.data() + header.data_offset,
              static_cast<size_t>(header.data_bytes));
  return FinishNpy(header, std::move(tensor));
}

absl::Status WriteNpy(const std::string& path, const Tensor& tensor) {
  const absl::StatusOr<std::string> header = FormatNpyHeader(tensor.dtype(), tensor.extents());
  if (!header.ok()) return Annotate(header.status(), path);
  const Tensor dense = tensor.Contiguous();
  File file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.descriptor() < 0) return FileError("create", path);
  WEIR_RETURN_IF_ERROR(WriteAll(file, header->data(), static_cast<int64_t>(header->size()), path));
  WEIR_RETURN_IF_ERROR(WriteAll(file, dense.raw_data(), dense.num_bytes(), path));
  if (file.Close() != 0) return FileError("write", path);
  return absl::OkStatus();
}

absl::StatusOr<std::string> FormatNpy(const Tensor& tensor) {
  WEIR_ASSIGN_OR_RETURN(std::string out, FormatNpyHeader(tensor.dtype(), tensor.extents()));
  const size_t header_bytes = out.size();
  out.resize(header_bytes + static_cast<size_t>(tensor.num_bytes()));
  tensor.CopyTo(out.data() + header_bytes);
  return out;
}

}  // namespace weir
