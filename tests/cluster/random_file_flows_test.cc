// Random flows whose inputs are files that workers share, and whose outputs are files too, on
// simulated clusters: the same records and the same bytes as the oracle says, each once, on any
// number of workers under any timing (a fresh seed each run, which is printed).
//
//   WEIR_RANDOM_FLOWS=1000 WEIR_FLOW_SEED=17 weir_cluster_test --gtest_filter='RandomFileFlows*'
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

#include "absl/strings/str_replace.h"
#include "common/flow/random_flow_testing.h"
#include "common/flow/scratch_directory_testing.h"
#include "tests/cluster/flow_simulation.h"
#include "worker/flow/files/record_writer.h"

namespace weir {
namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

// A random flow of which some inputs are read from files.
class FileFlow {
 public:
  FileFlow(const RandomFlow& drawn, const ScratchDirectory& scratch, Random* random)
      : text_(drawn.text), inputs_(drawn.inputs), scratch_(scratch), random_(*random) {
    for (const auto& [name, parts] : drawn.inputs) {
      const bool is_plain = std::none_of(parts.begin(), parts.end(), [](const EpochRecords& part) {
        return part.batch.weights.has_value();
      });
      if (is_plain && random_.Chance(0.8)) ReadFromFiles(drawn, name, parts);
    }
  }

  // Adds files behind outputs whose records may stand in files, as the oracle says.
  void WriteToFiles() {
    const auto outputs = RunReferenceFlow(flow(), inputs_).value().outputs;
    const std::string before = text_;
    for (const auto& [name, epochs] : outputs) {
      int64_t most = 0;
      bool is_signed = false;
      for (const auto& [epoch, batch] : epochs) {
        for (int64_t row = 0; row < batch.size(); ++row) {
          most += std::max<int64_t>(batch.weight(row), 0);
          is_signed = is_signed || batch.weight(row) < 0;
        }
      }
      if (is_signed || most > 20'000) continue;
      const size_t begin = text_.find(StrCat("  %", name, " = output("));
      const size_t end = text_.find('\n', begin) + 1;
      const std::string line = text_.substr(begin, end - begin);
      const std::string path = StrCat(scratch_.path(), "/out/", name, "-{epoch:03}",
                                      random_.Chance(0.4) ? "-{part}" : "", ".csv");
      text_.insert(end, absl::StrReplaceAll(line, {{StrCat("%", name), StrCat("%file_", name)},
                                                   {"= output", "= write_files"},
                                                   {")", StrCat(") {path = \"", path, "\"}")}}));
    }
    // A record that a file cannot hold may have met its opposite only in the sum over origins.
    if (!RunReferenceFlow(flow(), inputs_).ok()) text_ = before;
  }

  const std::string& text() const { return text_; }
  const FlowInputs& inputs() const { return inputs_; }
  Flow flow() const { return ParseFlow(text_).value(); }

 private:
  void ReadFromFiles(const RandomFlow& drawn, const std::string& name,
                     const std::vector<EpochRecords>& parts) {
    const RecordType& type = drawn.flow.vertex(drawn.flow.FindVertex(name)).output_types[0];
    std::vector<RecordBatch> batches;
    for (const EpochRecords& part : parts) batches.push_back(part.batch);
    const RecordBatch all = ConcatBatches(batches, type);
    const bool is_npy = type.size() == 1 && random_.Chance(0.5);
    const std::string end = is_npy ? "npy" : "csv";
    const auto writer = MakeRecordWriter(is_npy ? FileFormat::kNpy : FileFormat::kCsv, type);
    const auto files = static_cast<int64_t>(1 + random_.Below(5));
    int64_t row = 0;
    for (int64_t file = 0; file < files; ++file) {
      const int64_t left = all.size() - row;
      const int64_t rows = file + 1 == files ? left : static_cast<int64_t>(random_.Below(left + 1));
      std::string bytes = writer->Head(rows).value();
      for (const int64_t last = row + rows; row < last; ++row) writer->Append(all, row, &bytes);
      scratch_.Write(StrCat("in/", name, "/", file, ".", end), bytes);
    }
    const std::vector<std::string> epochs = {"", ", epochs = \"file\"",
                                             StrCat(", rows = ", 1 + random_.Below(9))};
    const std::string line = StrCat("%", name, " = input() {");
    text_ = absl::StrReplaceAll(
        text_, {{line, StrCat("%", name, " = read_files() {glob = \"", scratch_.path(), "/in/",
                              name, "/*.", end, "\"", epochs[random_.Below(3)], ", ")}});
    inputs_.erase(name);
  }

  std::string text_;
  FlowInputs inputs_;
  const ScratchDirectory& scratch_;
  Random& random_;
};

std::vector<FeedStep> StepsOf(const Flow& flow, const FlowInputs& inputs) {
  std::vector<FeedStep> steps;
  for (const auto& [name, parts] : inputs) {
    std::vector<EpochRecords> ordered = parts;
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return a.epoch < b.epoch; });
    for (EpochRecords& part : ordered) {
      steps.push_back({flow.FindVertex(name), part.epoch, std::move(part.batch)});
    }
  }
  return steps;
}

void CheckRun(const FileFlow& drawn, const ScratchDirectory& scratch, Random* random,
              int64_t* files) {
  const int workers = static_cast<int>(1 + random->Below(4));
  const auto flow = std::make_shared<const Flow>(drawn.flow());
  const auto expected = RunReferenceFlow(*flow, drawn.inputs(), {.workers = workers});
  ASSERT_TRUE(expected.ok()) << expected.status();
  const std::string out = scratch.At("out/x");
  FlowSimulation cluster(flow, {.workers = workers,
                                .seed = random->Next(),
                                .channel_bytes = random->Chance(0.5) ? 1 : 4 << 20});
  cluster.Feed(StepsOf(*flow, drawn.inputs()));
  cluster.Run();
  ASSERT_EQ(cluster.failure(), absl::OkStatus()) << workers << " workers";
  ASSERT_EQ(cluster.progress().state(), JobProgress::State::kCompleted);
  ASSERT_EQ(ToString(cluster.NamedOutputs()), ToString(expected->outputs)) << workers;
  ASSERT_EQ(scratch.Files("out"), expected->files) << workers << " workers";
  *files += static_cast<int64_t>(expected->files.size());
  std::filesystem::remove_all(scratch.At("out"));
}

TEST(RandomFileFlows, ReadAndWriteWhatTheOracleSaysOnAnyNumberOfWorkersUnderAnyTiming) {
  const int64_t flows = FromEnvironment("WEIR_RANDOM_FLOWS", 40);
  const auto seed =
      static_cast<uint64_t>(FromEnvironment("WEIR_FLOW_SEED", static_cast<int64_t>(SystemSeed())));
  std::cout << "random flows over files from seed " << seed << "\n";
  int64_t files = 0;
  for (int64_t i = 0; i < flows; ++i) {
    const uint64_t flow_seed = seed + static_cast<uint64_t>(i);
    SeededRandom random(flow_seed);
    const RandomFlow plain = DrawFlow(&random);
    const ScratchDirectory scratch;
    FileFlow drawn(plain, scratch, &random);
    drawn.WriteToFiles();
    SCOPED_TRACE(StrCat("WEIR_RANDOM_FLOWS=1 WEIR_FLOW_SEED=", flow_seed, "\n", drawn.text()));
    for (int run = 0; run < 3; ++run) {
      CheckRun(drawn, scratch, &random, &files);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  if (flows >= 40) {
    EXPECT_GT(files, 0);
  }
}

}  // namespace
}  // namespace weir
