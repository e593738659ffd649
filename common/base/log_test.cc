#include "common/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class LogTest : public ::testing::Test {
 protected:
  void Capture(LogLevel level, LogFormat format) {
    InitLogging({.program = "test", .level = level, .format = format});
    SetLogSink([this](std::string_view line) { lines_.emplace_back(line); });
  }
  void TearDown() override {
    SetLogSink(nullptr);
    unsetenv("WEIR_LOG");
  }
  std::vector<std::string> lines_;
};

TEST_F(LogTest, JsonLinesEscapeWhatTheyCarry) {
  Capture(LogLevel::kInfo, LogFormat::kJson);
  Log(LogLevel::kWarning, "a \"quoted\"\nline\x01",
      {{"count", 3}, {"ok", true}, {"path", "c:\\x"}, {"ratio", std::nan("")}});
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_THAT(lines_[0], StartsWith("{\"time\":\"2"));
  EXPECT_THAT(lines_[0], EndsWith("\"level\":\"warning\",\"program\":\"test\","
                                  "\"message\":\"a \\\"quoted\\\"\\nline\\u0001\",\"count\":3,"
                                  "\"ok\":true,\"path\":\"c:\\\\x\",\"ratio\":\"nan\"}"));
}

TEST_F(LogTest, TextLinesQuoteOnlyWhatNeedsIt) {
  Capture(LogLevel::kInfo, LogFormat::kText);
  Log(LogLevel::kInfo, "worker registered", {{"worker", "w1"}, {"note", "two words"}});
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_THAT(lines_[0], EndsWith(" I worker registered worker=w1 note=\"two words\""));
}

TEST_F(LogTest, LevelsBelowTheSettingAreDropped) {
  Capture(LogLevel::kWarning, LogFormat::kText);
  Log(LogLevel::kInfo, "dropped");
  Log(LogLevel::kError, "kept");
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("kept")));
  EXPECT_FALSE(LogEnabled(LogLevel::kInfo));
  EXPECT_TRUE(LogEnabled(LogLevel::kWarning));
}

TEST_F(LogTest, FlagGoesBeforeEnvironment) {
  EXPECT_EQ(*LogLevelFrom(""), LogLevel::kInfo);
  setenv("WEIR_LOG", "debug", 1);
  EXPECT_EQ(*LogLevelFrom(""), LogLevel::kDebug);
  EXPECT_EQ(*LogLevelFrom("error"), LogLevel::kError);
  setenv("WEIR_LOG", "loud", 1);
  EXPECT_THAT(std::string(LogLevelFrom("").status().message()),
              StartsWith("WEIR_LOG: unknown log level 'loud'"));
}

}  // namespace
}  // namespace weir
