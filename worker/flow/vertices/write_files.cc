#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/flow/file_records.h"
#include "common/flow/flow_limits.h"
#include "worker/flow/files/data_directories.h"
#include "worker/flow/files/record_writer.h"
#include "worker/flow/files/unfinished_file.h"
#include "worker/flow/frame_bounds.h"
#include "worker/flow/keyed/kept_records.h"
#include "worker/flow/keyed/sorted_records.h"
#include "worker/flow/vertex.h"

namespace weir {
namespace {

constexpr int64_t kPieceBytes = int64_t{1} << 20;

// The file of an epoch that is complete, while it is written: records are sorted some at a time,
// then merged as they are written, so however many there are, few are in memory.
class EpochFile {
 public:
  // Where it goes.
  struct Place {
    const DataDirectories& data;
    const FilePattern& pattern;
    int64_t epoch = 0;
    int64_t part = 0;
  };

  EpochFile(std::vector<RecordBatch> records, const RecordType& type, const RecordWriter& writer,
            const Place& place)
      : writer_(writer),
        place_(place),
        rows_at_once_(std::max<int64_t>(kPieceBytes / BytesOf(type), 1)),
        sorted_(type),
        records_(EmptyBatch(type)) {
    sorted_.Begin(std::move(records));
  }

  // Does some more. Returns: whether the file is there, whole, or nothing is left for one.
  // Errors: InvalidArgument, a weight below zero or above kMaxRepeats.
  absl::StatusOr<bool> WritePiece() {
    if (!sorted_.is_sorted()) WEIR_RETURN_IF_ERROR(sorted_.SortSome());
    if (!sorted_.is_sorted()) return false;
    if (row_ == records_.size()) WEIR_RETURN_IF_ERROR(TakeMore());
    WEIR_RETURN_IF_ERROR(AppendRows());
    if (row_ < records_.size() || !sorted_.done()) return false;
    if (file_ == nullptr) return true;
    WEIR_ASSIGN_OR_RETURN(const std::string head, writer_.Head(written_));
    WEIR_RETURN_IF_ERROR(file_->OverwriteHead(head));
    WEIR_RETURN_IF_ERROR(file_->Finish());
    return true;
  }

  int64_t bytes() const { return sorted_.bytes() + HeldBytes(records_); }

 private:
  absl::Status TakeMore() {
    records_ = sorted_.NextMerged(rows_at_once_);
    row_ = 0;
    for (int64_t row = 0; row < records_.size(); ++row) {
      const int64_t weight = records_.weight(row);
      if (weight >= 0 && weight <= kMaxRepeats) continue;
      return InvalidArgument("a record of origin ", records_.origin(row), " has the weight ",
                             weight, "; a file holds a record 0 to ", kMaxRepeats, " times");
    }
    return records_.empty() || file_ != nullptr ? absl::OkStatus() : MakeFile();
  }

  absl::Status MakeFile() {
    WEIR_ASSIGN_OR_RETURN(OpenFile directory,
                          place_.data.OpenDirectory(place_.pattern.directory()));
    WEIR_ASSIGN_OR_RETURN(file_,
                          UnfinishedFile::Make(std::move(directory),
                                               place_.pattern.NameOf(place_.epoch, place_.part)));
    // How many there will be is not known yet.
    WEIR_ASSIGN_OR_RETURN(const std::string head, writer_.Head(0));
    return file_->Append(head);
  }

  absl::Status AppendRows() {
    std::string bytes;
    while (std::ssize(bytes) < kPieceBytes && row_ < records_.size()) {
      if (repeats_ < records_.weight(row_)) {
        writer_.Append(records_, row_, &bytes);
        ++repeats_;
        ++written_;
      } else {
        ++row_;
        repeats_ = 0;
      }
    }
    return file_ == nullptr ? absl::OkStatus() : file_->Append(bytes);
  }

  const RecordWriter& writer_;
  const Place place_;
  const int64_t rows_at_once_;
  SortedRecords sorted_;
  std::unique_ptr<UnfinishedFile> file_;  // from the first record on
  RecordBatch records_;                   // that are next
  int64_t row_ = 0;
  int64_t repeats_ = 0;  // of this row, that are written
  int64_t written_ = 0;  // records, each as often as it stands there
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
      file_ = std::make_unique<EpochFile>(
          found.mapped().Take(type), type, *writer_,
          EpochFile::Place{data_, pattern_, activation->time().epoch(), part_});
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
