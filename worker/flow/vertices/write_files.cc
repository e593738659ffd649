#include <map>
#include <memory>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/flow/file_records.h"
#include "common/flow/flow_limits.h"
#include "worker/flow/files/data_directories.h"
#include "worker/flow/files/record_writer.h"
#include "worker/flow/files/unfinished_file.h"
#include "worker/flow/keyed/kept_records.h"
#include "worker/flow/keyed/merge_records.h"
#include "worker/flow/vertex.h"

namespace weir {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;

// The file of an epoch that is complete, while it is written.
class EpochFile {
 public:
  // `records` in their order.
  EpochFile(RecordBatch records, const RecordWriter* writer)
      : records_(std::move(records)), writer_(*writer) {}

  // Makes the file. Errors: InvalidArgument, a weight below zero or above kMaxRepeats.
  absl::Status Begin(const DataDirectories& data, const FilePattern& pattern, int64_t epoch,
                     int64_t part) {
    int64_t total = 0;
    for (int64_t row = 0; row < records_.size(); ++row) {
      const int64_t weight = records_.weight(row);
      if (weight < 0 || weight > kMaxRepeats) {
        return InvalidArgument("a record of origin ", records_.origin(row), " has the weight ",
                               weight, "; a file holds a record 0 to ", kMaxRepeats, " times");
      }
      total += weight;
    }
    WEIR_ASSIGN_OR_RETURN(OpenFile directory, data.OpenDirectory(pattern.directory()));
    WEIR_ASSIGN_OR_RETURN(file_,
                          UnfinishedFile::Make(std::move(directory), pattern.NameOf(epoch, part)));
    WEIR_ASSIGN_OR_RETURN(const std::string head, writer_.Head(total));
    return file_->Append(head);
  }

  // Writes some more. Returns: whether the file is there, whole.
  absl::StatusOr<bool> WritePiece() {
    std::string bytes;
    while (bytes.size() < kPieceBytes && row_ < records_.size()) {
      if (repeats_ < records_.weight(row_)) {
        writer_.Append(records_, row_, &bytes);
        ++repeats_;
      } else {
        ++row_;
        repeats_ = 0;
      }
    }
    WEIR_RETURN_IF_ERROR(file_->Append(bytes));
    if (row_ < records_.size()) return false;
    WEIR_RETURN_IF_ERROR(file_->Finish());
    return true;
  }

  int64_t bytes() const { return HeldBytes(records_); }

 private:
  const RecordBatch records_;
  const RecordWriter& writer_;
  std::unique_ptr<UnfinishedFile> file_;
  int64_t row_ = 0;
  int64_t repeats_ = 0;  // of this row, that are written
};

class WriteFilesVertex : public Vertex {
 public:
  explicit WriteFilesVertex(const VertexSetup& setup)
      : form_(setup.vertex()),
        part_(setup.rank),
        data_(setup.data),
        pattern_(FilePattern::Parse(form_.attr("path").AsString()).value()),
        writer_(MakeRecordWriter(FileFormatOf(form_, "path").value(), form_.input_types[0])) {}

  absl::Status OnFrame(int, RecordBatch batch, VertexActivation* activation) override {
    if (batch.empty()) return absl::OkStatus();
    const auto [at, is_new] = waiting_.try_emplace(activation->time());
    if (is_new) activation->NotifyAt(0, activation->time());
    kept_bytes_ -= at->second.bytes();
    spilled_bytes_ -= at->second.spilled_bytes();
    WEIR_RETURN_IF_ERROR(at->second.Add(std::move(batch), form_.input_types[0]));
    kept_bytes_ += at->second.bytes();
    spilled_bytes_ += at->second.spilled_bytes();
    return absl::OkStatus();
  }

  // One epoch after the other.
  absl::Status OnNotify(VertexActivation* activation) override {
    if (file_ == nullptr) {
      auto found = waiting_.extract(activation->time());
      kept_bytes_ -= found.mapped().bytes();
      spilled_bytes_ -= found.mapped().spilled_bytes();
      const RecordType& type = form_.input_types[0];
      RecordBatch records = MergeRecords(found.mapped().Take(type), type);
      if (records.empty()) return absl::OkStatus();
      file_ = std::make_unique<EpochFile>(std::move(records), writer_.get());
      WEIR_RETURN_IF_ERROR(file_->Begin(data_, pattern_, activation->time().epoch(), part_));
    }
    WEIR_ASSIGN_OR_RETURN(const bool is_done, file_->WritePiece());
    if (is_done) {
      file_ = nullptr;
    } else {
      activation->Continue();
    }
    return absl::OkStatus();
  }

  NotifyOrder notify_order() const override { return NotifyOrder::kSequential; }
  bool may_wait() const override { return true; }
  int64_t state_bytes() const override {
    return kept_bytes_ + (file_ == nullptr ? 0 : file_->bytes());
  }
  int64_t spilled_bytes() const override { return spilled_bytes_; }

 private:
  const FlowVertex& form_;
  const int64_t part_;
  const DataDirectories data_;
  const FilePattern pattern_;
  const std::unique_ptr<const RecordWriter> writer_;
  std::map<Timestamp, KeptRecords> waiting_;  // until their epoch is complete
  int64_t kept_bytes_ = 0;
  int64_t spilled_bytes_ = 0;
  std::unique_ptr<EpochFile> file_;  // of the epoch that is complete
};

}  // namespace

std::unique_ptr<Vertex> MakeWriteFilesVertex(const VertexSetup& setup) {
  return std::make_unique<WriteFilesVertex>(setup);
}

}  // namespace weir
