#include <zip.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/tensor/npy.h"
#include "common/tensor/npy_header.h"

namespace weir {
namespace {

constexpr std::string_view kSuffix = ".npy";
// Deflate cannot expand a byte to more than this.
constexpr uint64_t kMaxExpansion = 1032;
// 1980-01-01, the earliest time an archive can name.
constexpr time_t kFixedTime = 315532800;

struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, DiscardArchive>;

struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using Entry = std::unique_ptr<zip_file_t, CloseEntry>;

absl::Status ZipError(const std::string& path, zip_error_t* error) {
  const std::string text = StrCat(path, ": ", zip_error_strerror(error));
  if (zip_error_code_zip(error) == ZIP_ER_NOENT) return absl::NotFoundError(text);
  return absl::InvalidArgumentError(text);
}

absl::StatusOr<Archive> OpenArchive(const std::string& path, int flags) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), flags, &code);
  if (archive != nullptr) return Archive(archive);
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  absl::Status status = ZipError(path, &error);
  zip_error_fini(&error);
  return status;
}

absl::Status CheckEntry(const zip_stat_t& stat, uint64_t left, const std::string& what) {
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if ((stat.valid & kNeeded) != kNeeded) return InvalidArgument(what, ": no size is declared");
  if (stat.encryption_method != ZIP_EM_NONE) return InvalidArgument(what, ": encrypted");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    return InvalidArgument(what, ": compression method ", int{stat.comp_method},
                           " is not read; store or deflate the entry");
  }
  const bool stored = stat.comp_method == ZIP_CM_STORE;
  if (stored ? stat.size != stat.comp_size : stat.size / kMaxExpansion > stat.comp_size) {
    return InvalidArgument(what, ": ", stat.comp_size, " compressed bytes cannot expand to ",
                           stat.size);
  }
  if (stat.size > left) {
    return absl::ResourceExhaustedError(
        StrCat(what, ": its ", stat.size, " bytes are above the limit for one archive"));
  }
  return absl::OkStatus();
}

absl::Status ReadBytes(zip_file_t* entry, void* out, int64_t bytes, const std::string& what) {
  char* to = static_cast<char*>(out);
  while (bytes > 0) {
    const zip_int64_t got = zip_fread(entry, to, static_cast<zip_uint64_t>(bytes));
    if (got < 0) return ZipError(what, zip_file_get_error(entry));
    if (got == 0) return InvalidArgument(what, ": shorter than it declares");
    to += got;
    bytes -= got;
  }
  return absl::OkStatus();
}

// The checksum is compared when the end is reached.
absl::Status ReadEnd(zip_file_t* entry, const std::string& what) {
  char extra = 0;
  const zip_int64_t got = zip_fread(entry, &extra, 1);
  if (got < 0) return ZipError(what, zip_file_get_error(entry));
  if (got > 0) return InvalidArgument(what, ": longer than it declares");
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ReadEntry(zip_t* archive, const zip_stat_t& stat, const std::string& what) {
  const Entry entry(zip_fopen_index(archive, stat.index, 0));
  if (entry == nullptr) return ZipError(what, zip_get_error(archive));
  const int64_t entry_bytes = static_cast<int64_t>(stat.size);
  std::string prefix(
      static_cast<size_t>(std::min(entry_bytes, static_cast<int64_t>(kMaxNpyHeaderBytes))), '\0');
  const int64_t prefix_bytes = static_cast<int64_t>(prefix.size());
  WEIR_RETURN_IF_ERROR(ReadBytes(entry.get(), prefix.data(), prefix_bytes, what));
  WEIR_ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(prefix, entry_bytes, what));
  WEIR_ASSIGN_OR_RETURN(Tensor tensor, AllocateNpy(header, what));
  char* data = tensor.mutable_data<char>();
  std::copy(prefix.begin() + header.data_offset, prefix.end(), data);
  const int64_t have = prefix_bytes - header.data_offset;
  WEIR_RETURN_IF_ERROR(ReadBytes(entry.get(), data + have, header.data_bytes - have, what));
  WEIR_RETURN_IF_ERROR(ReadEnd(entry.get(), what));
  return FinishNpy(header, std::move(tensor));
}

// Entries are views of `headers` and `tensors`, which must live until the archive is closed.
absl::Status AddEntry(zip_t* archive, const std::string& name, std::string* header,
                      const Tensor& tensor) {
  zip_buffer_fragment_t fragments[2] = {};
  fragments[0].data = reinterpret_cast<zip_uint8_t*>(header->data());
  fragments[0].length = header->size();
  fragments[1].data =
      reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(tensor.raw_data()));  // only read
  fragments[1].length = static_cast<zip_uint64_t>(tensor.num_bytes());
  const zip_uint64_t used = tensor.num_bytes() == 0 ? 1 : 2;
  zip_source_t* source = zip_source_buffer_fragment(archive, fragments, used, 0);
  if (source == nullptr) return ZipError(name, zip_get_error(archive));
  const std::string file = StrCat(name, kSuffix);
  const zip_int64_t index = zip_file_add(archive, file.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    absl::Status status = ZipError(name, zip_get_error(archive));
    zip_source_free(source);
    return status;
  }
  const zip_uint64_t entry = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, entry, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_mtime(archive, entry, kFixedTime, 0) != 0) {
    return ZipError(name, zip_get_error(archive));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::map<std::string, Tensor>> ReadNpz(const std::string& path,
                                                      const NpzLimits& limits) {
  WEIR_ASSIGN_OR_RETURN(const Archive archive, OpenArchive(path, ZIP_RDONLY));
  std::map<std::string, Tensor> out;
  uint64_t left = static_cast<uint64_t>(limits.max_bytes);
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &stat) != 0) {
      return ZipError(path, zip_get_error(archive.get()));
    }
    const std::string_view file = stat.name == nullptr ? "" : stat.name;
    const std::string what = StrCat(path, " (", file, ")");
    if (file.size() <= kSuffix.size() || file.substr(file.size() - kSuffix.size()) != kSuffix) {
      return InvalidArgument(what, ": not a .npy entry");
    }
    WEIR_RETURN_IF_ERROR(CheckEntry(stat, left, what));
    left -= stat.size;
    WEIR_ASSIGN_OR_RETURN(Tensor tensor, ReadEntry(archive.get(), stat, what));
    const std::string name(file.substr(0, file.size() - kSuffix.size()));
    if (!out.emplace(name, std::move(tensor)).second) {
      return InvalidArgument(what, ": occurs twice");
    }
  }
  return out;
}

absl::Status WriteNpz(const std::string& path, const std::map<std::string, Tensor>& tensors) {
  if (tensors.empty()) return InvalidArgument(path, ": no tensors to write");
  std::vector<std::string> headers;
  std::vector<Tensor> dense;
  for (const auto& [name, tensor] : tensors) {
    absl::StatusOr<std::string> header = FormatNpyHeader(tensor.dtype(), tensor.extents());
    if (!header.ok()) return Annotate(header.status(), StrCat(path, " (", name, ")"));
    headers.push_back(*std::move(header));
    dense.push_back(tensor.Contiguous());
  }
  WEIR_ASSIGN_OR_RETURN(Archive archive, OpenArchive(path, ZIP_CREATE | ZIP_TRUNCATE));
  size_t i = 0;
  for (const auto& [name, tensor] : tensors) {
    absl::Status status = AddEntry(archive.get(), name, &headers[i], dense[i]);
    if (!status.ok()) return Annotate(status, path);
    ++i;
  }
  if (zip_close(archive.get()) != 0) return ZipError(path, zip_get_error(archive.get()));
  archive.release();
  return absl::OkStatus();
}

}  // namespace weir
