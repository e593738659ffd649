// A file that is being written under another name, and appears whole or not at all: Finish gives it
// its name in place of one that was there; without Finish nothing is left of it. The other name
// begins with a dot, so that no glob finds it. Owned by one vertex; thread-compatible. May wait for
// a disk.
#ifndef WEIR_WORKER_FLOW_FILES_UNFINISHED_FILE_H_
#define WEIR_WORKER_FLOW_FILES_UNFINISHED_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker/flow/files/open_file.h"

namespace weir {

class UnfinishedFile {
 public:
  // Errors: those of the system, with the path.
  static absl::StatusOr<std::unique_ptr<UnfinishedFile>> Make(OpenFile directory, std::string name);
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile();

  absl::Status Append(std::string_view bytes);
  // Writes over what the file begins with.
  absl::Status OverwriteHead(std::string_view bytes);
  // All that was written is on the disk, then it has its name. Once, as the last call.
  absl::Status Finish();

 private:
  UnfinishedFile(OpenFile directory, std::string name, std::string hidden, OpenFile file);
  absl::Status WriteAt(int64_t offset, std::string_view bytes);
  // Memory that waits for the disk cannot be given back, so there is only so much of it.
  void WriteOut();

  const OpenFile directory_;
  const std::string name_;
  const std::string hidden_;  // the name that it has until it is finished
  const OpenFile file_;
  int64_t size_ = 0;
  int64_t on_disk_ = 0;         // of those bytes, that the disk has
  int64_t on_way_to_disk_ = 0;  // and those that it is about to have
  bool is_finished_ = false;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FILES_UNFINISHED_FILE_H_
