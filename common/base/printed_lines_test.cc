#include "common/base/printed_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "common/base/status.h"

namespace weir {
namespace {

using testing::ElementsAre;

std::vector<std::string> TextsOf(const PrintedLines& lines) {
  std::vector<std::string> texts;
  for (const auto& [place, text] : lines.lines()) texts.push_back(text);
  return texts;
}

TEST(PrintedLinesTest, StandInTheOrderOfTheirPlaces) {
  PrintedLines lines;
  lines.Add({1, 1, 5}, "second iteration");
  lines.Add({9}, "behind the loop");
  lines.Add({1, 0, 4}, "first iteration");
  lines.Add({1, 0, 5, 0, 2}, "a loop in it");
  lines.Add({1, 0, 4}, "the same place, later");
  PrintedLines others;
  others.Add({0}, "before");
  others.NoteDropped(3);
  lines.Add(std::move(others));
  EXPECT_THAT(TextsOf(lines), ElementsAre("before", "first iteration", "the same place, later",
                                          "a loop in it", "second iteration", "behind the loop"));
  EXPECT_EQ(lines.dropped(), 3);
}

TEST(PrintedLinesTest, TheFirstLinesAreKept) {
  PrintedLines lines;
  const int64_t most = PrintedLines::kMaxLines;
  for (int64_t i = most + 4; i >= 0; --i) lines.Add({i}, StrCat(i));
  EXPECT_EQ(lines.lines().size(), PrintedLines::kMaxLines);
  EXPECT_EQ(lines.lines().begin()->second, "0");
  EXPECT_EQ(lines.lines().rbegin()->second, StrCat(most - 1));
  EXPECT_EQ(lines.dropped(), 5);
}

TEST(PrintedLinesTest, SoAreTheFirstBytes) {
  PrintedLines lines;
  const std::string half(PrintedLines::kMaxBytes / 2, 'x');
  for (int64_t i : {3, 1, 2}) lines.Add({i}, half);
  EXPECT_EQ(lines.lines().size(), 2u);
  lines.Add({0}, std::string(PrintedLines::kMaxBytes + 1, 'y'));
  EXPECT_TRUE(lines.lines().empty());
  EXPECT_EQ(lines.dropped(), 4);
  lines.NoteDropped(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(lines.dropped(), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace weir
