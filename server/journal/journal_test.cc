#include "server/journal/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>

namespace weir {
namespace {

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-journal-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<Journal> Open(int max_jobs = 100) {
    auto journal = OpenJournal(directory_, max_jobs);
    EXPECT_TRUE(journal.ok()) << journal.status();
    return journal.ok() ? *std::move(journal) : nullptr;
  }

  std::string directory_;
};

JournalEntry Entry(const std::string& id, v1::Job::State state) {
  JournalEntry entry;
  entry.job.set_id(id);
  entry.job.set_state(state);
  entry.job.set_submission_id("submission of " + id);
  if (state != v1::Job::RUNNING) entry.job.set_ended_unix_ms(1000);
  entry.spec_digest = "digest of " + id;
  return entry;
}

absl::Status WaitDurable(Journal* journal) {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<absl::Status> result;
  journal->WhenDurable([&](const absl::Status& status) {
    std::lock_guard lock(mutex);
    result = status;
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return result.has_value(); });
  return *result;
}

std::vector<std::string> IdsAndStates(Journal* journal) {
  auto entries = journal->Load();
  EXPECT_TRUE(entries.ok()) << entries.status();
  std::vector<std::string> texts;
  for (const JournalEntry& entry : *entries) {
    texts.push_back(entry.job.id() + " " + v1::Job::State_Name(entry.job.state()));
  }
  return texts;
}

TEST_F(JournalTest, RemembersTheLatestStateOfEachJobInOrder) {
  {
    auto journal = Open();
    journal->Put(Entry("b", v1::Job::RUNNING));
    journal->Put(Entry("a", v1::Job::RUNNING));
    journal->Put(Entry("b", v1::Job::SUCCEEDED));
    EXPECT_TRUE(WaitDurable(journal.get()).ok());
  }
  auto journal = Open();
  EXPECT_THAT(IdsAndStates(journal.get()), testing::ElementsAre("b SUCCEEDED", "a RUNNING"));
  const auto entries = journal->Load();
  EXPECT_EQ((*entries)[0].spec_digest, "digest of b");
  EXPECT_EQ((*entries)[0].job.submission_id(), "submission of b");
}

TEST_F(JournalTest, DurableMeansInTheFile) {
  auto journal = Open();
  journal->Put(Entry("a", v1::Job::SUCCEEDED));
  ASSERT_TRUE(WaitDurable(journal.get()).ok());
  // A copy of the files is what a crash would leave.
  const std::string copy = directory_ + "/copy";
  std::filesystem::create_directory(copy);
  for (const char* name : {"journal.db", "journal.db-wal"}) {
    const std::string from = directory_ + "/" + name;
    if (std::filesystem::exists(from)) std::filesystem::copy_file(from, copy + "/" + name);
  }
  auto copied = OpenJournal(copy, 100);
  ASSERT_TRUE(copied.ok()) << copied.status();
  EXPECT_THAT(IdsAndStates(copied->get()), testing::ElementsAre("a SUCCEEDED"));
}

TEST_F(JournalTest, WhatWasPutIsWrittenAtTheEnd) {
  Open()->Put(Entry("a", v1::Job::FAILED));
  EXPECT_THAT(IdsAndStates(Open().get()), testing::ElementsAre("a FAILED"));
}

TEST_F(JournalTest, ForgetsOldEndedJobs) {
  {
    auto journal = Open(3);
    journal->Put(Entry("runs", v1::Job::RUNNING));
    for (int i = 0; i < 6; ++i) {
      journal->Put(Entry("job" + std::to_string(i), v1::Job::SUCCEEDED));
    }
  }
  EXPECT_THAT(IdsAndStates(Open().get()), testing::ElementsAre("runs RUNNING", "job3 SUCCEEDED",
                                                               "job4 SUCCEEDED", "job5 SUCCEEDED"));
}

TEST_F(JournalTest, SecondOwnerIsRefused) {
  auto journal = Open();
  journal->Put(Entry("a", v1::Job::SUCCEEDED));
  ASSERT_TRUE(WaitDurable(journal.get()).ok());
  const auto second = OpenJournal(directory_, 100);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()),
              testing::HasSubstr("another coordinator may be using the directory"));
}

TEST_F(JournalTest, DamagedFileIsAnError) {
  std::ofstream(directory_ + "/journal.db") << "this is no database, it is a text of some length";
  const auto journal = OpenJournal(directory_, 100);
  EXPECT_THAT(std::string(journal.status().message()), testing::HasSubstr("journal.db"));
}

TEST_F(JournalTest, DirectoryThatCannotBeMade) {
  std::ofstream(directory_ + "/file") << "x";
  const auto journal = OpenJournal(directory_ + "/file/inside", 100);
  EXPECT_EQ(journal.status().code(), absl::StatusCode::kUnavailable);
}

TEST(MemoryJournalTest, KeepsNothing) {
  auto journal = MakeMemoryJournal();
  journal->Put(Entry("a", v1::Job::RUNNING));
  EXPECT_TRUE(WaitDurable(journal.get()).ok());
  EXPECT_TRUE(journal->Load()->empty());
}

}  // namespace
}  // namespace weir
