// Flows over files on clusters in this process: exactly once, whole files or none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "client/api/remote_session.h"
#include "client/embedded/embedded_cluster.h"
#include "common/base/status.h"
#include "common/flow/flow_text.h"
#include "common/flow/reference_flow.h"
#include "common/flow/scratch_directory_testing.h"
#include "tests/cluster/grpc_test_cluster.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<Session> Embedded(int workers) {
  auto session = StartEmbedded({.workers = workers});
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::string Deploy(Session* session, const std::string& text) {
  v1::DeployRequest request;
  request.set_flow(text);
  auto deployed = session->Deploy(request);
  EXPECT_TRUE(deployed.ok()) << deployed.status();
  return deployed->job().id();
}

v1::Job Ended(Session* session, const std::string& id) {
  auto job = session->Wait(id, absl::Minutes(5));
  EXPECT_TRUE(job.ok()) << job.status();
  return *job;
}

// Copies and counts what is in in/*.csv.
std::string CountingFlow(const ScratchDirectory& scratch) {
  scratch.At("out/x");
  return StrCat(R"(flow @count_files {
      %words = read_files() {glob = ")",
                scratch.path(), R"(/in/*.csv", types = ["i64[]", "f64[]"], epochs = "file"}
      %copies = write_files(%words) {path = ")",
                scratch.path(), R"(/out/copy-{epoch:02}.csv"}
      %shares = write_files(%words) {path = ")",
                scratch.path(), R"(/out/share-{epoch}-{part}.csv"}
      %counts = count(%words) {keys = 1, state = "job"}
      %totals = write_files(%counts) {path = ")",
                scratch.path(), R"(/out/{epoch}.npy"}
    })");
}

void WriteInputs(const ScratchDirectory& scratch, int files, int lines) {
  for (int file = 0; file < files; ++file) {
    std::string text;
    for (int i = 0; i < lines * (file % 3); ++i) StrAppend(&text, i % 17, ",", 0.1 * i, "\n");
    scratch.Write(StrCat("in/", 10 + file, ".csv"), text);
  }
}

TEST(FlowFilesTest, FilesAreReadOnceAndWrittenWhole) {
  const ScratchDirectory scratch;
  WriteInputs(scratch, 8, 5000);
  const std::string text = CountingFlow(scratch);
  for (int workers = 1; workers <= 3; ++workers) {
    const auto session = Embedded(workers);
    const v1::Job job = Ended(session.get(), Deploy(session.get(), text));
    ASSERT_EQ(job.state(), v1::Job::SUCCEEDED) << job.failure().message();
    const auto expected = RunReferenceFlow(*ParseFlow(text), {}, {.workers = workers});
    ASSERT_TRUE(expected.ok()) << expected.status();
    EXPECT_GT(expected->files.size(), 10u);
    EXPECT_TRUE(scratch.Files("out") == expected->files) << workers;
    std::filesystem::remove_all(scratch.At("out"));
    scratch.At("out/x");
  }
}

TEST(FlowFilesTest, AWorkerWithoutADataDirectorySaysWhichOptionAllowsIt) {
  const ScratchDirectory scratch;
  WriteInputs(scratch, 3, 5);
  GrpcTestCluster cluster(2);
  auto session = ConnectRemote({.address = cluster.server().address()});
  ASSERT_TRUE(session.ok()) << session.status();
  const v1::Job job = Ended(session->get(), Deploy(session->get(), CountingFlow(scratch)));
  EXPECT_EQ(job.state(), v1::Job::FAILED);
  EXPECT_EQ(job.failure().code(), static_cast<uint32_t>(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(job.failure().message(), HasSubstr("'words' (read_files)"));
  EXPECT_THAT(job.failure().message(), HasSubstr("--data-directory DIR"));
  // It works on with another one.
  EXPECT_EQ(Ended(session->get(), Deploy(session->get(), "flow @f {\n}")).state(),
            v1::Job::SUCCEEDED);
}

TEST(FlowFilesTest, AFileThatCannotBeReadFailsTheFlowAndNothingElse) {
  const ScratchDirectory scratch;
  WriteInputs(scratch, 3, 5);
  scratch.Write("in/99.csv", "1,2\n3\n");
  const auto session = Embedded(2);
  const std::string text = CountingFlow(scratch);
  const v1::Job job = Ended(session.get(), Deploy(session.get(), text));
  EXPECT_EQ(job.state(), v1::Job::FAILED);
  EXPECT_THAT(job.failure().message(),
              HasSubstr("in/99.csv:2: 1 fields; records of (i64[], f64[]) have 2"));
  scratch.Write("in/99.csv", "1,2\n3,4\n");
  EXPECT_EQ(Ended(session.get(), Deploy(session.get(), text)).state(), v1::Job::SUCCEEDED);
}

TEST(FlowFilesTest, ACancelledFlowLeavesWholeFilesOnly) {
  const ScratchDirectory scratch;
  WriteInputs(scratch, 12, 20'000);
  const std::string text = CountingFlow(scratch);
  const auto expected = RunReferenceFlow(*ParseFlow(text), {}, {.workers = 2});
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto session = Embedded(2);
  for (int run = 0; run < 8; ++run) {
    const std::string id = Deploy(session.get(), text);
    // Whatever it is doing then.
    const size_t wanted = static_cast<size_t>(3 * run);
    while (scratch.Files("out").size() < wanted) absl::SleepFor(absl::Milliseconds(1));
    ASSERT_TRUE(session->Cancel(id).ok());
    const v1::Job::State state = Ended(session.get(), id).state();
    EXPECT_TRUE(state == v1::Job::CANCELLED || state == v1::Job::SUCCEEDED);
    for (const auto& [path, bytes] : scratch.Files("out")) {
      ASSERT_TRUE(expected->files.contains(path)) << path;
      ASSERT_TRUE(expected->files.at(path) == bytes) << path;
    }
    std::filesystem::remove_all(scratch.At("out"));
    scratch.At("out/x");
  }
}

}  // namespace
}  // namespace weir
