#include "client/cli/output.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <iostream>

#include "absl/time/time.h"
#include "common/base/status.h"

namespace weir::cli {
namespace {

std::string TimeText(int64_t unix_ms) {
  if (unix_ms == 0) return "-";
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromUnixMillis(unix_ms),
                          absl::LocalTimeZone());
}

}  // namespace

void PrintError(Format format, const absl::Status& status) {
  const std::string code = absl::StatusCodeToString(status.code());
  const std::string message(ToStd(status.message()));
  if (format == Format::kJson) {
    std::cerr << "{\"error\": {\"code\": " << JsonString(code)
              << ", \"message\": " << JsonString(message) << "}}\n";
  } else {
    std::cerr << "error: " << code << ": " << message << "\n";
  }
}

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string out;
  if (!google::protobuf::util::MessageToJsonString(message, &out, options).ok()) return "{}";
  return out;
}

std::string JsonString(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          constexpr char kHex[] = "0123456789abcdef";
          out += "\\u00";
          out += kHex[(c >> 4) & 15];
          out += kHex[c & 15];
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

void PrintTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    std::cout << line << "\n";
  }
}

std::string StateName(v1::Job::State state) { return v1::Job::State_Name(state); }

void PrintJobs(Format format, const std::vector<v1::Job>& jobs) {
  if (format == Format::kJson) {
    v1::ListResponse list;
    for (const v1::Job& job : jobs) *list.add_jobs() = job;
    std::cout << ToJson(list) << "\n";
    return;
  }
  std::vector<std::vector<std::string>> rows = {
      {"ID", "STATE", "PROGRAM", "CREATED", "ENDED", "MESSAGE"}};
  for (const v1::Job& job : jobs) {
    rows.push_back({job.id(), StateName(job.state()), job.program_name(),
                    TimeText(job.created_unix_ms()), TimeText(job.ended_unix_ms()),
                    job.failure().message()});
  }
  PrintTable(rows);
}

void PrintJob(Format format, const v1::Job& job) {
  if (format == Format::kJson) {
    std::cout << ToJson(job) << "\n";
    return;
  }
  std::vector<std::vector<std::string>> rows = {{"id", job.id()},
                                                {"state", StateName(job.state())},
                                                {"program", job.program_name()},
                                                {"created", TimeText(job.created_unix_ms())},
                                                {"ended", TimeText(job.ended_unix_ms())}};
  if (!job.submission_id().empty()) rows.push_back({"submission id", job.submission_id()});
  if (!job.waits_for().empty()) rows.push_back({"waits for", job.waits_for()});
  for (const std::string& worker : job.workers()) rows.push_back({"worker", worker});
  if (job.has_failure()) {
    rows.push_back({"failure", job.failure().message()});
    if (!job.failure().worker().empty()) rows.push_back({"on worker", job.failure().worker()});
  }
  PrintTable(rows);
}

}  // namespace weir::cli
