// Records as bytes of a file. Immutable; usable from any thread.
#ifndef WEIR_WORKER_FLOW_FILES_RECORD_WRITER_H_
#define WEIR_WORKER_FLOW_FILES_RECORD_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/flow/file_records.h"
#include "common/flow/record_batch.h"

namespace weir {

class RecordWriter {
 public:
  virtual ~RecordWriter() = default;

  // What stands in front of so many records: as many bytes, however many they are.
  virtual absl::StatusOr<std::string> Head(int64_t records) const = 0;
  // REQUIRES: the batch is of the writer's type, its columns are row-major.
  virtual void Append(const RecordBatch& batch, int64_t row, std::string* bytes) const = 0;
};

// REQUIRES: CheckFileColumns is OK. CSV lines end with LF; floats are the shortest text that reads
// back as the same number.
std::unique_ptr<RecordWriter> MakeRecordWriter(FileFormat format, RecordType type);

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_FILES_RECORD_WRITER_H_
