// Files for what does not stay in memory: without a name, so that they are gone with the process
// however it ends, and mapped, so that whoever reads sees memory that the kernel fetches and drops
// as it likes. Thread-safe where it says so.
#ifndef WEIR_WORKER_FLOW_MEMORY_SPILL_FILE_H_
#define WEIR_WORKER_FLOW_MEMORY_SPILL_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weir {

// Where the files are, and how many bytes of them there may be. Owned by all that have a file of
// it; thread-safe. What counts is disk space, so of records that were read as long as their part of
// a file is not given back.
class SpillDirectory {
 public:
  // `path`: a folder on a disk; empty: TMPDIR, /var/tmp or /tmp, the first that is one. `most`: so
  // many bytes at most; 0: as long as there is room. Errors: InvalidArgument, no folder, one where
  // no file can be made, or one whose files are memory.
  static absl::StatusOr<std::shared_ptr<SpillDirectory>> Open(const std::string& path,
                                                              int64_t most);

  const std::string& path() const { return path_; }
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Counts bytes that are about to be written. Errors: ResourceExhausted.
  absl::Status Reserve(int64_t bytes);
  void Release(int64_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Returns: a new file without a name. Errors: ResourceExhausted.
  absl::StatusOr<int> NewFile() const;
  // What a failed call with this errno means.
  absl::Status Failed(const char* what, int error) const;

 private:
  SpillDirectory(std::string path, int64_t most) : path_(std::move(path)), most_(most) {}

  const std::string path_;
  const int64_t most_;
  std::atomic<int64_t> bytes_{0};
};

// One file of fixed size, all of it mapped.
class SpillFile {
 public:
  // kRead: written with Write only, from the beginning, each byte once. kTable: read and written in
  // place; its disk space is taken at once, as what fails later would end the process.
  enum class Use { kRead, kTable };
  // Errors: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<SpillFile>> Make(std::shared_ptr<SpillDirectory> directory,
                                                         int64_t bytes, Use use);
  ~SpillFile();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  int64_t size() const { return bytes_; }

  // --- Of a file for reading; any thread may write a part of its own.
  // Errors: ResourceExhausted, the disk is full.
  absl::Status Write(int64_t offset, const std::byte* data, int64_t bytes);
  // Reads a part, and nothing around it. Errors: ResourceExhausted, the disk fails.
  absl::Status Read(int64_t offset, std::byte* data, int64_t bytes) const;
  // Has the kernel begin to bring a part to the disk, so that its memory can go when it is needed.
  void BeginWriteOut(int64_t offset, int64_t bytes);
  // Waits until a part is there.
  void AwaitWriteOut(int64_t offset, int64_t bytes);
  // So many bytes more, which were reserved, will be written behind the others.
  void Take(int64_t bytes) { taken_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  // Nobody needs a part any more. Disk space is given back in large blocks, once nothing of one is
  // needed: each time costs the disk about as much as writing, and some file systems wait for it.
  void Free(int64_t offset, int64_t bytes);

 private:
  static constexpr int64_t kBlockBytes = int64_t{4} << 20;

  SpillFile(std::shared_ptr<SpillDirectory> directory, int64_t bytes)
      : directory_(std::move(directory)),
        bytes_(bytes),
        not_needed_(static_cast<size_t>(bytes / kBlockBytes + 1)) {}
  void FreeBlock(int64_t block);

  const std::shared_ptr<SpillDirectory> directory_;
  const int64_t bytes_;
  std::vector<std::atomic<int64_t>> not_needed_;  // bytes of each block
  std::atomic<int64_t> taken_bytes_{0};           // that are not given back
  int fd_ = -1;
  std::byte* data_ = nullptr;
  int64_t mapped_bytes_ = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_MEMORY_SPILL_FILE_H_
