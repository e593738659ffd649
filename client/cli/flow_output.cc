#include "client/cli/flow_output.h"

#include <cmath>
#include <iostream>

#include "absl/strings/str_join.h"
#include "client/cli/output.h"
#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/tensor/npy.h"

namespace weir::cli {
namespace {

// A record's value in a column: "7", or "f32[2] {1, 2}".
std::string ValueAt(const Tensor& column, int64_t row) {
  const Tensor one = column.Rows(row, row + 1);
  Extents extents(one.extents().begin() + 1, one.extents().end());
  std::string text = PrintTensor(one.Contiguous().Reshape(extents));
  if (!extents.empty()) return text;
  const size_t open = text.find('{');
  const size_t close = text.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return text;
  return text.substr(open + 1, close - open - 1);
}

std::string EpochText(const v1::FlowStatus::Output& output) {
  return output.finished() ? "all" : StrCat("before ", output.epoch());
}

}  // namespace

void RecordPrinter::Print(const FlowResult& result) {
  if (!out_.empty()) {
    kept_.push_back(result.batch);
    return;
  }
  for (int64_t row = 0; row < result.batch.size(); ++row) {
    std::string line;
    const bool json = common_.format == Format::kJson;
    for (const Tensor& column : result.batch.columns) {
      const std::string value = ValueAt(column, row);
      StrAppend(&line, line.empty() ? "" : json ? ", " : " ", json ? JsonString(value) : value);
    }
    const int64_t weight = result.batch.weight(row);
    if (json) {
      std::cout << "{\"epoch\": " << result.epoch << ", \"origin\": " << result.batch.origin(row)
                << ", \"weight\": " << weight << ", \"columns\": [" << line << "]}\n";
    } else {
      std::cout << result.epoch << ": " << line;
      if (weight != 1) std::cout << "  x " << weight;
      std::cout << "\n";
    }
  }
  std::cout.flush();
}

absl::Status RecordPrinter::Finish() {
  if (out_.empty() || kept_.empty()) return absl::OkStatus();
  RecordType type;
  for (const Tensor& column : kept_[0].columns) {
    TensorType one = column.type();
    one.shape.dims().erase(one.shape.dims().begin());
    type.push_back(std::move(one));
  }
  if (type.size() != out_.size()) {
    return InvalidArgument("records have ", type.size(), " columns, and --out names ", out_.size(),
                           " files");
  }
  const RecordBatch all = ConcatBatches(kept_, type);
  for (size_t i = 0; i < out_.size(); ++i) {
    WEIR_RETURN_IF_ERROR(WriteNpy(out_[i], all.columns[i]));
  }
  return absl::OkStatus();
}

std::string FlowPrinter::Rate(int64_t now, int64_t before, const v1::FlowStatus& status) const {
  if (!last_.has_value() || status.unix_ms() <= last_->unix_ms()) return "-";
  const double seconds = static_cast<double>(status.unix_ms() - last_->unix_ms()) * 1e-3;
  return StrCat(std::llround(static_cast<double>(now - before) / seconds), "/s");
}

void FlowPrinter::PrintPorts(const v1::FlowStatus& status) const {
  std::vector<std::vector<std::string>> rows = {
      {"PORT", "KIND", "EPOCH", "RECORDS", "RATE", "WAITING BYTES", "CLIENT"}};
  for (int i = 0; i < status.inputs_size(); ++i) {
    const v1::FlowStatus::Input& input = status.inputs(i);
    const v1::FlowInput& state = input.input();
    rows.push_back({state.name(), "input", state.closed() ? "closed" : StrCat(state.epoch()),
                    StrCat(input.records()),
                    Rate(input.records(), last_ ? last_->inputs(i).records() : 0, status),
                    StrCat(state.taken_bytes() - state.consumed_bytes()), input.client()});
  }
  for (int i = 0; i < status.outputs_size(); ++i) {
    const v1::FlowStatus::Output& output = status.outputs(i);
    rows.push_back({output.name(), "output", EpochText(output), StrCat(output.records()),
                    Rate(output.records(), last_ ? last_->outputs(i).records() : 0, status),
                    StrCat(output.kept_bytes()), output.client()});
  }
  for (const v1::FlowStatus::Output& probe : status.probes()) {
    rows.push_back({probe.name(), "probe", EpochText(probe), "", "", "", ""});
  }
  PrintTable(rows);
}

void FlowPrinter::PrintVertices(const v1::FlowStatus& status) const {
  std::vector<std::vector<std::string>> rows = {{"VERTEX", "KIND", "FRONTIER", "RECORDS", "RATE",
                                                 "QUEUED BYTES", "STATE BYTES", "ON DISK",
                                                 "DROPPED", "BUSY MS"}};
  for (int i = 0; i < status.vertices_size(); ++i) {
    const v1::FlowStatus::Vertex& vertex = status.vertices(i);
    rows.push_back({vertex.name(), vertex.kind(), absl::StrJoin(vertex.frontiers(), " "),
                    StrCat(vertex.records()),
                    Rate(vertex.records(), last_ ? last_->vertices(i).records() : 0, status),
                    StrCat(vertex.queued_bytes()), StrCat(vertex.state_bytes()),
                    StrCat(vertex.spilled_bytes()), StrCat(vertex.dropped()),
                    StrCat(vertex.busy_ns() / 1'000'000)});
  }
  PrintTable(rows);
}

void FlowPrinter::Print(const v1::FlowStatus& status) {
  if (common_.format == Format::kJson) {
    std::cout << ToJson(status) << "\n";
  } else {
    const v1::Job& job = status.job();
    if (place_ == Place::kOver) std::cout << "\x1b[H\x1b[J";
    std::cout << "flow " << job.id() << " (" << job.program_name() << ") is "
              << StateName(job.state());
    if (!job.waits_for().empty()) std::cout << ", waits for " << job.waits_for();
    if (job.has_failure()) std::cout << ": " << job.failure().message();
    std::cout << "\n";
    PrintPorts(status);
    std::cout << "\n";
    PrintVertices(status);
    std::cout << "\n";
  }
  std::cout.flush();
  last_ = status;
}

}  // namespace weir::cli
