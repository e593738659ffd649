#include "common/base/log.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "spdlog/sinks/base_sink.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace weir {
namespace {

constexpr std::array<std::string_view, 6> kLevelNames = {"trace",   "debug", "info",
                                                         "warning", "error", "off"};

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  constexpr std::array kLevels = {spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                                  spdlog::level::warn,  spdlog::level::err,   spdlog::level::off};
  return kLevels[static_cast<size_t>(level)];
}

class FunctionSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FunctionSink(std::function<void(std::string_view)> function)
      : function_(std::move(function)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    function_({message.payload.data(), message.payload.size()});
  }
  void flush_() override {}

 private:
  const std::function<void(std::string_view)> function_;
};

std::shared_ptr<spdlog::logger> MakeLogger(spdlog::sink_ptr sink, LogLevel level) {
  auto logger = std::make_shared<spdlog::logger>("weir", std::move(sink));
  logger->set_pattern("%v");
  logger->set_level(ToSpdlog(level));
  logger->flush_on(spdlog::level::warn);
  return logger;
}

// Replaced as a whole, so that a line is written with one consistent setting.
struct Setup {
  std::string program;
  LogLevel level = LogLevel::kInfo;
  bool json = false;
  std::shared_ptr<spdlog::logger> logger;
};

std::shared_ptr<const Setup> MakeSetup(const LogOptions& options) {
  auto setup = std::make_shared<Setup>();
  setup->program = options.program;
  setup->level = options.level;
  setup->json = options.format == LogFormat::kJson ||
                (options.format == LogFormat::kAuto && !isatty(STDERR_FILENO));
  setup->logger = MakeLogger(std::make_shared<spdlog::sinks::stderr_sink_mt>(), options.level);
  return setup;
}

struct Current {
  std::mutex mutex;
  std::shared_ptr<const Setup> setup;

  std::shared_ptr<const Setup> Get() {
    std::lock_guard lock(mutex);
    return setup;
  }
  void Set(std::shared_ptr<const Setup> next) {
    std::lock_guard lock(mutex);
    setup = std::move(next);
  }
};

Current& GetCurrent() {
  static Current* const current = [] {
    auto* made = new Current;
    LogOptions options;
    if (auto level = LogLevelFrom(""); level.ok()) options.level = *level;
    made->setup = MakeSetup(options);
    return made;
  }();
  return *current;
}

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        out->append("\\\"");
        break;
      case '\\':
        out->append("\\\\");
        break;
      case '\n':
        out->append("\\n");
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          absl::StrAppendFormat(out, "\\u%04x", static_cast<unsigned char>(c));
        } else {
          out->push_back(c);
        }
    }
  }
  out->push_back('"');
}

// JSON has no NaN and no infinity: they become strings.
bool IsJsonLiteral(const LogField& field) {
  return field.is_literal && field.text.find("nan") == std::string::npos &&
         field.text.find("inf") == std::string::npos;
}

std::string JsonLine(const Setup& setup, LogLevel level, std::string_view message,
                     std::initializer_list<LogField> fields) {
  std::string line = "{\"time\":";
  AppendJsonString(absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::Now(), absl::UTCTimeZone()),
                   &line);
  StrAppend(&line, ",\"level\":\"", kLevelNames[static_cast<size_t>(level)], "\"");
  if (!setup.program.empty()) {
    line.append(",\"program\":");
    AppendJsonString(setup.program, &line);
  }
  line.append(",\"message\":");
  AppendJsonString(message, &line);
  for (const LogField& field : fields) {
    line.push_back(',');
    AppendJsonString(field.key, &line);
    line.push_back(':');
    if (IsJsonLiteral(field)) {
      line.append(field.text);
    } else {
      AppendJsonString(field.text, &line);
    }
  }
  line.push_back('}');
  return line;
}

bool NeedsQuotes(std::string_view text) {
  if (text.empty()) return true;
  for (const char c : text) {
    if (c == ' ' || c == '"' || c == '=' || static_cast<unsigned char>(c) < 0x20) return true;
  }
  return false;
}

std::string TextLine(LogLevel level, std::string_view message,
                     std::initializer_list<LogField> fields) {
  const char letter = "TDIWE"[static_cast<size_t>(level)];
  std::string line = absl::FormatTime("%H:%M:%E3S ", absl::Now(), absl::LocalTimeZone());
  line.push_back(letter);
  StrAppend(&line, " ", message);
  for (const LogField& field : fields) {
    StrAppend(&line, " ", field.key, "=");
    if (NeedsQuotes(field.text)) {
      AppendJsonString(field.text, &line);
    } else {
      line.append(field.text);
    }
  }
  return line;
}

}  // namespace

void InitLogging(const LogOptions& options) { GetCurrent().Set(MakeSetup(options)); }

absl::StatusOr<LogLevel> ParseLogLevel(std::string_view name) {
  for (size_t i = 0; i < kLevelNames.size(); ++i) {
    if (name == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  return absl::InvalidArgumentError(
      StrCat("unknown log level '", name, "': expected trace, debug, info, warning, error or off"));
}

absl::StatusOr<LogLevel> LogLevelFrom(std::string_view flag) {
  if (!flag.empty()) return ParseLogLevel(flag);
  const char* environment = std::getenv("WEIR_LOG");
  if (environment == nullptr || *environment == '\0') return LogLevel::kInfo;
  absl::StatusOr<LogLevel> level = ParseLogLevel(environment);
  if (level.ok()) return level;
  return absl::InvalidArgumentError(StrCat("WEIR_LOG: ", level.status().message()));
}

bool LogEnabled(LogLevel level) {
  return level != LogLevel::kOff && level >= GetCurrent().Get()->level;
}

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  const std::shared_ptr<const Setup> setup = GetCurrent().Get();
  if (level == LogLevel::kOff || level < setup->level) return;
  const std::string line =
      setup->json ? JsonLine(*setup, level, message, fields) : TextLine(level, message, fields);
  setup->logger->log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

void SetLogSink(std::function<void(std::string_view line)> sink) {
  auto next = std::make_shared<Setup>(*GetCurrent().Get());
  spdlog::sink_ptr target;
  if (sink) {
    target = std::make_shared<FunctionSink>(std::move(sink));
  } else {
    target = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  next->logger = MakeLogger(std::move(target), next->level);
  GetCurrent().Set(std::move(next));
}

}  // namespace weir
