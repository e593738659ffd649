// How commands print: data on stdout, messages on stderr, as a table or as JSON. Main thread only.
#ifndef WEIR_CLIENT_CLI_OUTPUT_H_
#define WEIR_CLIENT_CLI_OUTPUT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/command.h"
#include "google/protobuf/message.h"
#include "weir/v1/service.pb.h"

namespace weir::cli {

// `error: NOT_FOUND: message`, or {"error": {"code": ..., "message": ...}}.
void PrintError(Format format, const absl::Status& status);

// A message as one JSON object, field names as in the .proto files, zero values included.
std::string ToJson(const google::protobuf::Message& message);
std::string JsonString(const std::string& text);

// Columns padded to their widest cell; the first row is the head.
void PrintTable(const std::vector<std::vector<std::string>>& rows);

std::string StateName(v1::Job::State state);
void PrintJobs(Format format, const std::vector<v1::Job>& jobs);
void PrintJob(Format format, const v1::Job& job);

}  // namespace weir::cli

#endif  // WEIR_CLIENT_CLI_OUTPUT_H_
