#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "common/base/status.h"
#include "common/flow/file_records.h"
#include "common/tensor/digest.h"
#include "worker/flow/files/data_directories.h"
#include "worker/flow/files/record_reader.h"
#include "worker/flow/vertex.h"

namespace weir {
namespace {

// The first call finds the files; each further one reads a piece of the file that is next: that of
// the least epoch, among those of one epoch the first. Between two calls no file is open.
class ReadFilesVertex : public Vertex {
 public:
  explicit ReadFilesVertex(const VertexSetup& setup)
      : form_(setup.vertex()),
        rank_(setup.rank),
        workers_(setup.workers),
        data_(setup.data),
        epochs_(form_) {}

  absl::Status OnFrame(int, RecordBatch, VertexActivation*) override {
    return absl::InternalError("a source has no inputs");
  }

  absl::Status OnTurn(VertexActivation* activation) override {
    if (!has_found_) {
      WEIR_RETURN_IF_ERROR(FindFiles(activation));
    } else {
      WEIR_RETURN_IF_ERROR(ReadPiece(activation));
    }
    if (files_.empty()) {
      activation->Close();
    } else {
      activation->Advance(files_.begin()->first.first);
    }
    return absl::OkStatus();
  }

  bool may_wait() const override { return true; }

 private:
  // A file of which something is left to read.
  struct File {
    std::string path;
    FileIdentity identity;
    std::unique_ptr<RecordReader> reader;
    int64_t rows = 0;  // that were read
  };
  // The epoch of its next record, its number.
  using Place = std::pair<int64_t, int64_t>;

  // All workers look at all files, so that they know whether they share the same ones.
  absl::Status FindFiles(VertexActivation* activation) {
    WEIR_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                          data_.Match(form_.attr("glob").AsString()));
    WEIR_ASSIGN_OR_RETURN(const FileFormat format, FileFormatOf(form_, "glob"));
    std::string all;
    int64_t bytes = 0;
    for (size_t i = 0; i < paths.size(); ++i) {
      WEIR_ASSIGN_OR_RETURN(const OpenFile open, data_.Open(paths[i]));
      WEIR_ASSIGN_OR_RETURN(const FileIdentity identity, open.Identity());
      bytes += identity.size;
      absl::StrAppendFormat(&all, "%d %s%d;", paths[i].size(), paths[i], identity.size);
      const auto number = static_cast<int64_t>(i);
      if (number % workers_ != rank_) continue;
      auto reader = MakeRecordReader(format, {.type = form_.output_types[0],
                                              .name = paths[i],
                                              .file_bytes = identity.size,
                                              .skip_lines = form_.IntOr("skip_lines", 0)});
      if (reader->done()) continue;
      files_[{epochs_.EpochOf(number, 0), number}] = {paths[i], identity, std::move(reader)};
    }
    has_found_ = true;
    activation->Agree(ContentDigest(all), StrCat(paths.size(), " files of ", bytes, " bytes, from ",
                                                 paths.front(), " to ", paths.back()));
    return absl::OkStatus();
  }

  absl::Status ReadPiece(VertexActivation* activation) {
    auto next = files_.extract(files_.begin());
    const auto [epoch, number] = next.key();
    File& file = next.mapped();
    WEIR_ASSIGN_OR_RETURN(const OpenFile open, data_.Open(file.path));
    WEIR_ASSIGN_OR_RETURN(const FileIdentity identity, open.Identity());
    if (identity != file.identity) {
      return absl::FailedPreconditionError(StrCat(file.path, " has changed since the flow began"));
    }
    WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> columns,
                          file.reader->Read(open, epochs_.RowsLeft(file.rows)));
    const int64_t rows = columns[0].extent(0);
    if (rows > 0) {
      activation->Send(0, Timestamp{epoch},
                       MakeBatch(std::move(columns), OriginInFile(number, file.rows)));
    }
    file.rows += rows;
    if (file.reader->done()) return absl::OkStatus();
    if (file.rows >= kMaxFileRows) {
      return InvalidArgument(file.path, ": more than ", kMaxFileRows, " records");
    }
    next.key().first = epochs_.EpochOf(number, file.rows);
    files_.insert(std::move(next));
    return absl::OkStatus();
  }

  const FlowVertex& form_;
  const int rank_;
  const int workers_;
  const DataDirectories data_;
  const FileEpochs epochs_;
  bool has_found_ = false;
  std::map<Place, File> files_;  // of this worker
};

}  // namespace

std::unique_ptr<Vertex> MakeReadFilesVertex(const VertexSetup& setup) {
  return std::make_unique<ReadFilesVertex>(setup);
}

}  // namespace weir
