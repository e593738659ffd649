#include "worker/flow/files/data_directories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/flow/scratch_directory_testing.h"
#include "worker/flow/files/unfinished_file.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DataDirectoriesTest : public ::testing::Test {
 protected:
  DataDirectoriesTest() {
    scratch_.Write("data/a.csv", "1");
    scratch_.Write("data/sub/b.csv", "2");
    scratch_.Write("data/.c.csv", "3");
    scratch_.Write("database/d.csv", "4");
    std::filesystem::create_symlink("../database/d.csv", scratch_.At("data/out.csv"));
    std::filesystem::create_symlink("../database", scratch_.At("data/other"));
    std::filesystem::create_symlink("sub/b.csv", scratch_.At("data/in.csv"));
    data_ = DataDirectories::Below({scratch_.At("data")}).value();
  }

  std::string Denied(const absl::Status& status) const {
    return absl::IsPermissionDenied(status) ? std::string(status.message())
                                            : "not denied: " + status.ToString();
  }
  std::string Denied(const std::string& path) const { return Denied(data_.Open(path).status()); }

  const ScratchDirectory scratch_;
  DataDirectories data_;
};

TEST_F(DataDirectoriesTest, WhatIsBelowIsReadByEitherPath) {
  for (const std::string& path :
       {std::string("a.csv"), std::string("sub/../a.csv"), scratch_.At("data/a.csv"),
        scratch_.At("database/../data/a.csv")}) {
    const auto open = data_.Open(path);
    ASSERT_TRUE(open.ok()) << open.status();
    EXPECT_EQ(open->Identity()->size, 1);
  }
  EXPECT_TRUE(data_.Open("in.csv").ok()) << "a link that stays below";
  EXPECT_TRUE(absl::IsNotFound(data_.Open("none.csv").status()));
}

TEST_F(DataDirectoriesTest, WhatLiesElsewhereIsDeniedWhateverLeadsThere) {
  const std::string option = "--data-directory DIR";
  for (const std::string& path :
       {std::string("../database/d.csv"), std::string("out.csv"), std::string("other/d.csv"),
        scratch_.At("database/d.csv"), std::string("/etc/passwd"), std::string("/etc/no-such-file"),
        std::string("../no-such-file"), scratch_.At("dat/x"), scratch_.path()}) {
    EXPECT_THAT(Denied(path), HasSubstr(option)) << path;
  }
  EXPECT_THAT(Denied(data_.OpenDirectory("other").status()), HasSubstr(option));
  EXPECT_THAT(Denied(data_.OpenDirectory("..").status()), HasSubstr(option));
  EXPECT_THAT(Denied(data_.Match("../*.csv").status()), HasSubstr(option));
  EXPECT_THAT(Denied(data_.Match("/etc/*").status()), HasSubstr(option));
  EXPECT_THAT(Denied(data_.Match("other/*").status()), HasSubstr(option));
  EXPECT_THAT(Denied(data_.Match("*/../../database/*").status()), HasSubstr("'..'"));
  const DataDirectories nothing;
  EXPECT_THAT(Denied(nothing.Open("a.csv").status()), HasSubstr(option));
  EXPECT_THAT(Denied(nothing.Match("*").status()), HasSubstr(option));
  EXPECT_THAT(Denied(nothing.OpenDirectory("").status()), HasSubstr(option));
}

TEST_F(DataDirectoriesTest, AGlobIsSortedAndAsItsPathsWereNamed) {
  EXPECT_THAT(data_.Match("*.csv").value(), ElementsAre("a.csv", "in.csv", "out.csv"));
  EXPECT_THAT(data_.Match("*/b.csv").value(), ElementsAre("sub/b.csv"));
  EXPECT_THAT(data_.Match("a.csv").value(), ElementsAre("a.csv"));
  EXPECT_THAT(data_.Match(scratch_.At("data/s?b/[b]*")).value(),
              ElementsAre(scratch_.At("data/sub/b.csv")));
  const absl::Status none = data_.Match("*.npy").status();
  EXPECT_TRUE(absl::IsNotFound(none)) << none;
  EXPECT_THAT(none.message(), HasSubstr("no file matches *.npy"));
  EXPECT_TRUE(absl::IsNotFound(data_.Match("nowhere/*.npy").status()));
  EXPECT_THAT(DataDirectories::All().Match(scratch_.At("data/*.csv"))->size(), 3);
}

TEST_F(DataDirectoriesTest, ADirectoryWithWildcardsInItsNameIsOnlyItself) {
  scratch_.Write("[d]*/x.csv", "");
  scratch_.Write("d/y.csv", "");
  const auto odd = DataDirectories::Below({scratch_.At("[d]*")});
  ASSERT_TRUE(odd.ok()) << odd.status();
  EXPECT_THAT(odd->Match("*.csv").value(), ElementsAre("x.csv"));
}

TEST_F(DataDirectoriesTest, OnlyRegularFilesAreRead) {
  EXPECT_THAT(data_.Open("sub").status().message(), HasSubstr("is no regular file"));
  ASSERT_EQ(mkfifo(scratch_.At("data/pipe").c_str(), 0600), 0);
  EXPECT_THAT(data_.Open("pipe").status().message(), HasSubstr("is no regular file"));
  EXPECT_THAT(data_.OpenDirectory("a.csv").status().message(), HasSubstr("is no directory"));
  EXPECT_THAT(DataDirectories::Below({scratch_.At("data/a.csv")}).status().message(),
              HasSubstr("is no directory"));
  EXPECT_FALSE(DataDirectories::Below({scratch_.At("nowhere")}).ok());
}

TEST_F(DataDirectoriesTest, AFileAppearsWholeOrNotAtAll) {
  scratch_.Write("data/new/0.csv", "old");
  const std::string path = scratch_.At("data/new/0.csv");
  {
    auto file = UnfinishedFile::Make(data_.OpenDirectory("new").value(), "0.csv");
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_EQ((*file)->Append("one,"), absl::OkStatus());
    EXPECT_THAT(data_.Match("new/*").value(), ElementsAre("new/0.csv"));
    EXPECT_EQ(scratch_.Files("data/new").size(), 2u);
    EXPECT_EQ(scratch_.Files("data/new").at(path), "old");
  }
  EXPECT_EQ(scratch_.Files("data/new"), (std::map<std::string, std::string>{{path, "old"}}));
  auto file = UnfinishedFile::Make(data_.OpenDirectory("new").value(), "0.csv");
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ((*file)->Append("one,"), absl::OkStatus());
  ASSERT_EQ((*file)->Append("two\n"), absl::OkStatus());
  ASSERT_EQ((*file)->Finish(), absl::OkStatus());
  EXPECT_EQ(scratch_.Files("data/new"), (std::map<std::string, std::string>{{path, "one,two\n"}}));
  file->reset();
  EXPECT_EQ(scratch_.Files("data/new").size(), 1u);
}

}  // namespace
}  // namespace weir
