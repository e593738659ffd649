// Logging to stderr: text for people on a terminal, one JSON object a line otherwise. Thread-safe.
//
// A message is a constant sentence; what varies goes into fields, so that lines can be grouped and
// searched. InitLogging is called once by a program's main; without it the defaults hold.
//
//   Log(LogLevel::kInfo, "worker registered", {{"worker", name}, {"threads", threads}});
#ifndef WEIR_COMMON_BASE_LOG_H_
#define WEIR_COMMON_BASE_LOG_H_

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/statusor.h"
#include "common/base/str_cat.h"

namespace weir {

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kOff };

enum class LogFormat { kAuto, kText, kJson };  // kAuto: text if stderr is a terminal

struct LogField {
  LogField(std::string_view key, std::string_view value) : key(key), text(value) {}
  LogField(std::string_view key, const char* value) : key(key), text(value) {}
  LogField(std::string_view key, const std::string& value) : key(key), text(value) {}
  LogField(std::string_view key, const absl::Status& value) : key(key), text(value.ToString()) {}
  LogField(std::string_view key, bool value)
      : key(key), text(value ? "true" : "false"), is_literal(true) {}
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  LogField(std::string_view key, Number value) : key(key), text(StrCat(value)), is_literal(true) {}

  std::string_view key;
  std::string text;
  bool is_literal = false;  // a number or a bool, which JSON writes without quotes
};

struct LogOptions {
  std::string program;               // named in each JSON line
  LogLevel level = LogLevel::kInfo;  // lines below it are dropped
  LogFormat format = LogFormat::kAuto;
};

void InitLogging(const LogOptions& options);

// Returns: the level of that name (trace, debug, info, warning, error, off).
absl::StatusOr<LogLevel> ParseLogLevel(std::string_view name);

// Returns: the level in `flag` if not empty, else in the environment variable WEIR_LOG, else info.
absl::StatusOr<LogLevel> LogLevelFrom(std::string_view flag);

bool LogEnabled(LogLevel level);

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

// Gives every line, formatted, to `sink` instead of stderr; null goes back to stderr.
void SetLogSink(std::function<void(std::string_view line)> sink);

}  // namespace weir

#endif  // WEIR_COMMON_BASE_LOG_H_
