#include "common/flow/file_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "common/flow/flow_text.h"
#include "common/flow/reference_flow_testing.h"
#include "common/flow/scratch_directory_testing.h"
#include "common/tensor/npy.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(FilePattern, GivesEachEpochAndPartANameOfItsOwn) {
  const FilePattern plain = FilePattern::Parse("out/{epoch}.csv").value();
  EXPECT_EQ(plain.directory(), "out");
  EXPECT_FALSE(plain.has_parts());
  EXPECT_EQ(plain.NameOf(17, 3), "17.csv");
  EXPECT_EQ(plain.PathOf(17, 3), "out/17.csv");
  const FilePattern parts = FilePattern::Parse("/{part:02}of{epoch:04}").value();
  EXPECT_EQ(parts.directory(), "/");
  EXPECT_TRUE(parts.has_parts());
  EXPECT_EQ(parts.PathOf(17, 3), "/03of0017");
  EXPECT_EQ(parts.PathOf(123456, 3), "/03of123456");
  EXPECT_EQ(FilePattern::Parse("{epoch}-{part}.npy").value().PathOf(1, 11), "1-11.npy");
}

TEST(FilePattern, RefusesWhatCouldBeOneFileForTwo) {
  const auto why = [](std::string_view path) {
    return std::string(FilePattern::Parse(path).status().message());
  };
  EXPECT_THAT(why("out.csv"), HasSubstr("it needs {epoch} once"));
  EXPECT_THAT(why("{part}.csv"), HasSubstr("it needs {epoch} once"));
  EXPECT_THAT(why("{epoch}-{epoch}"), HasSubstr("it needs {epoch} once"));
  EXPECT_THAT(why("{epoch}{part}"), HasSubstr("a character that is no digit"));
  EXPECT_THAT(why("{epoch}1{part}"), HasSubstr("a character that is no digit"));
  EXPECT_THAT(why("{epoch}/x.csv"), HasSubstr("in its last component only"));
  EXPECT_THAT(why("{epoch"), HasSubstr("a brace without the other one"));
  EXPECT_THAT(why("epoch}"), HasSubstr("a brace without the other one"));
  for (const std::string_view braced :
       {"{}", "{time}", "{epoch:6}", "{epoch:0}", "{epoch:099}", "{epoch:06x}", "{epoch:}"}) {
    EXPECT_THAT(why(StrCat("a", braced)), HasSubstr("what may stand there")) << braced;
  }
}

TEST(FileEpochs, FollowFromTheFileAndTheRow) {
  const auto rule = [](std::string_view attrs) {
    const auto flow = ParseFlow(StrCat("flow @f {\n %x = read_files() {glob = \"*.csv\", ",
                                       "types = [\"i64[]\"]", attrs, "}\n}"));
    return FileEpochs(flow.value().vertices[0]);
  };
  EXPECT_EQ(rule("").EpochOf(7, 100), 0);
  EXPECT_EQ(rule(", epochs = \"file\"").EpochOf(7, 100), 7);
  const FileEpochs by_rows = rule(", rows = 30");
  EXPECT_EQ(by_rows.EpochOf(7, 29), 0);
  EXPECT_EQ(by_rows.EpochOf(7, 30), 1);
  EXPECT_EQ(by_rows.RowsLeft(0), 30);
  EXPECT_EQ(by_rows.RowsLeft(59), 1);
}

// What the oracle makes of the flow %in -> %out, %file.
ReferenceFlowResult Copied(const ScratchDirectory& scratch, std::string_view attrs,
                           std::string_view path, int workers = 1) {
  const std::string text =
      StrCat("flow @f {\n %in = read_files() {", attrs, "}\n %out = output(%in)\n",
             " %file = write_files(%in) {path = \"", scratch.path(), "/", path, "\"}\n}");
  const auto flow = ParseFlow(text);
  EXPECT_TRUE(flow.ok()) << flow.status();
  auto result = RunReferenceFlow(*flow, {}, {.workers = workers});
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : ReferenceFlowResult();
}

TEST(ReferenceFiles, CsvIsReadAndWritten) {
  const ScratchDirectory scratch;
  scratch.Write("b.csv", "3,0.5,1\r\n4,-1e30,2.25");
  scratch.Write("a.csv", "1,0.1,7\n\"2\", -0 ,8\n");
  const ReferenceFlowResult result =
      Copied(scratch,
             StrCat("glob = \"", scratch.path(),
                    "/?.csv\", types = [\"i64[]\", \"f64[2]\"], epochs = \"file\""),
             "out-{epoch}.csv");
  EXPECT_EQ(Brief(result.outputs),
            StrCat("out 0: (1 0.1, 7) (2 -0, 8)@1\nout 1: (3 0.5, 1)@", int64_t{1} << 40,
                   " (4 -1e+30, 2.25)@", (int64_t{1} << 40) + 1));
  EXPECT_THAT(result.files,
              ElementsAre(Pair(scratch.path() + "/out-0.csv", "1,0.1,7\n2,-0,8\n"),
                          Pair(scratch.path() + "/out-1.csv", "3,0.5,1\n4,-1e+30,2.25\n")));
}

TEST(ReferenceFiles, NpyIsReadAndWrittenInEpochsOfRows) {
  const ScratchDirectory scratch;
  const Tensor array = Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  ASSERT_EQ(WriteNpy(scratch.At("a.npy"), array), absl::OkStatus());
  const ReferenceFlowResult result = Copied(
      scratch,
      StrCat("glob = \"", scratch.path(), "/*.npy\", types = [\"f32[]\", \"f32[1]\"], rows = 2"),
      "out-{epoch}.npy");
  EXPECT_EQ(Brief(result.outputs), "out 0: (1 2) (3 4)@1\nout 1: (5 6)@2");
  ASSERT_EQ(result.files.size(), 2u);
  const auto first = ParseNpy(result.files.at(scratch.path() + "/out-0.npy"), "first");
  EXPECT_TRUE(first->BitEquals(array.Rows(0, 2)));
}

TEST(ReferenceFiles, PartsHaveAllRecordsOnce) {
  const ScratchDirectory scratch;
  std::string numbers;
  for (int i = 0; i < 100; ++i) StrAppend(&numbers, i, "\n");
  scratch.Write("a.csv", numbers);
  const std::string attrs = StrCat("glob = \"", scratch.path(), "/a.csv\", types = [\"i64[]\"]");
  const auto files = Copied(scratch, attrs, "{epoch}-{part}.csv", 3).files;
  EXPECT_EQ(files.size(), 3u);
  std::multiset<std::string> lines;
  for (const auto& [path, bytes] : files) {
    std::istringstream in(bytes);
    for (std::string line; std::getline(in, line);) lines.insert(line);
  }
  EXPECT_EQ(lines.size(), 100u);
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), 100u);
  EXPECT_EQ(Copied(scratch, attrs, "{epoch}.csv", 3).files.size(), 1u);
}

}  // namespace
}  // namespace weir
