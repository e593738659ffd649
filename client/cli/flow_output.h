// Records and states of flows, as `receive` and `watch` show them. Main thread only.
#ifndef WEIR_CLIENT_CLI_FLOW_OUTPUT_H_
#define WEIR_CLIENT_CLI_FLOW_OUTPUT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/api/receive_buffer.h"
#include "client/cli/command.h"
#include "weir/v1/flows.pb.h"

namespace weir::cli {

// Prints a line for each record as it comes, "epoch: column column ...", or writes columns to files
// at the end.
class RecordPrinter {
 public:
  // `out`: a file for each column, or none.
  RecordPrinter(const Common& common, std::vector<std::string> out)
      : common_(common), out_(std::move(out)) {}

  void Print(const FlowResult& result);
  // Errors: another number of files than columns, files that cannot be written.
  absl::Status Finish();

 private:
  const Common& common_;
  const std::vector<std::string> out_;
  std::vector<RecordBatch> kept_;  // for the files
};

// Prints the status of a flow: a table, or one JSON document a line. Rates are since the one
// before.
class FlowPrinter {
 public:
  enum class Place {
    kBelow,  // what was printed before
    kOver,   // it: from the upper left corner of the terminal on
  };
  FlowPrinter(const Common& common, Place place) : common_(common), place_(place) {}
  void Print(const v1::FlowStatus& status);

 private:
  void PrintPorts(const v1::FlowStatus& status) const;
  void PrintVertices(const v1::FlowStatus& status) const;
  std::string Rate(int64_t now, int64_t before, const v1::FlowStatus& status) const;

  const Common& common_;
  const Place place_;
  std::optional<v1::FlowStatus> last_;
};

}  // namespace weir::cli

#endif  // WEIR_CLIENT_CLI_FLOW_OUTPUT_H_
