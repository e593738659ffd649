// Records of one file, read piece by piece: what is kept between two pieces is where the next one
// begins, whatever the size of the file. Owned by one vertex; thread-compatible. May wait for a
// disk.
#ifndef WEIR_WORKER_FLOW_FILES_RECORD_READER_H_
#define WEIR_WORKER_FLOW_FILES_RECORD_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/flow/file_records.h"
#include "common/flow/record_batch.h"
#include "worker/flow/files/byte_source.h"

namespace weir {

// What the file is said to be.
struct FileForm {
  RecordType type;   // CheckFileColumns is OK
  std::string name;  // for messages
  int64_t file_bytes = 0;
  int64_t skip_lines = 0;  // of a CSV file
};

class RecordReader {
 public:
  virtual ~RecordReader() = default;

  // The columns of the next records: up to `most`, and no more than is good to do at once; perhaps
  // none. `source` is the file, the same bytes each time. Errors: InvalidArgument, "a.csv:7:3:
  // ...". REQUIRES: most >= 1; not done.
  virtual absl::StatusOr<std::vector<Tensor>> Read(const ByteSource& source, int64_t most) = 0;
  // Nothing is left.
  virtual bool done() const = 0;
};

std::unique_ptr<RecordReader> MakeRecordReader(FileFormat format, FileForm form);
std::unique_ptr<RecordReader> MakeCsvReader(FileForm form);
std::unique_ptr<RecordReader> MakeNpyReader(FileForm form);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FILES_RECORD_READER_H_
