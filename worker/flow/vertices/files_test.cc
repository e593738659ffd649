// read_files and write_files, each by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "common/flow/flow_text.h"
#include "common/flow/reference_flow.h"
#include "common/flow/scratch_directory_testing.h"
#include "worker/flow/memory/flow_memory.h"
#include "worker/flow/records_testing.h"
#include "worker/flow/vertex.h"

namespace weir {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// One copy of the read_files vertex of a flow `%in = read_files() {...}`, and what it sends.
class Source {
 public:
  explicit Source(const std::string& attrs, DataDirectories data, int rank = 0, int workers = 1)
      : flow_(ParseFlow(
                  StrCat("flow @f {\n %in = read_files() {", attrs, "}\n %out = output(%in)\n}"))
                  .value()) {
    VertexSetup setup = {.flow = &flow_, .id = VertexId(0), .rank = rank, .workers = workers};
    setup.data = std::move(data);
    vertex_ = MakeVertex(setup).value();
  }

  // One call. Returns: whether it is open still.
  bool Turn() {
    VertexActivation activation(Timestamp{epoch_});
    status = vertex_->OnTurn(&activation);
    if (!status.ok()) return false;
    if (activation.agreement()) agreement = *activation.agreement();
    largest_call = std::max<int64_t>(largest_call, activation.sent().size());
    for (VertexActivation::Sent& sent : activation.sent()) {
      EXPECT_GE(sent.time.epoch(), epoch_);
      epochs[sent.time.epoch()].push_back(std::move(sent.batch));
    }
    EXPECT_GE(activation.next_epoch(), activation.closes() ? 0 : epoch_);
    if (!activation.closes()) epoch_ = activation.next_epoch();
    return !activation.closes();
  }
  void Run() {
    while (Turn()) continue;
  }
  const RecordType& type() const { return flow_.vertices[0].output_types[0]; }
  const Flow& flow() const { return flow_; }

  std::map<int64_t, std::vector<RecordBatch>> epochs;
  VertexActivation::Agreement agreement;
  absl::Status status;
  int64_t largest_call = 0;

 private:
  const Flow flow_;
  std::unique_ptr<Vertex> vertex_;
  int64_t epoch_ = 0;
};

std::string Lines(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) StrAppend(&text, i, ",", i, ".5\n");
  return text;
}

constexpr char kTypes[] = "types = [\"i64[]\", \"f32[]\"]";

TEST(ReadFilesVertex, SharesFilesAndGivesWhatTheOracleGives) {
  const ScratchDirectory scratch;
  for (int i = 0; i < 7; ++i) scratch.Write(StrCat(i, ".csv"), Lines(100 * i, 17 * (i % 4)));
  scratch.Write("big.csv", Lines(0, 100'000));
  for (const std::string epochs : {"", ", epochs = \"file\"", ", rows = 16", ", rows = 1000"}) {
    const std::string attrs = StrCat("glob = \"", scratch.path(), "/*.csv\", ", kTypes, epochs);
    std::optional<FlowOutputs> wanted;
    for (int workers = 1; workers <= 9; workers += 4) {
      std::map<int64_t, std::vector<RecordBatch>> all;
      std::string digest;
      std::unique_ptr<Source> source;
      for (int rank = 0; rank < workers; ++rank) {
        source = std::make_unique<Source>(attrs, DataDirectories::All(), rank, workers);
        source->Run();
        ASSERT_EQ(source->status, absl::OkStatus());
        EXPECT_LE(source->largest_call, 1);
        EXPECT_TRUE(rank == 0 || source->agreement.digest == digest);
        digest = source->agreement.digest;
        for (auto& [epoch, batches] : source->epochs) {
          for (RecordBatch& batch : batches) all[epoch].push_back(std::move(batch));
        }
      }
      FlowOutputs found;
      for (const auto& [epoch, batches] : all) {
        found["out"][epoch] = Consolidated(ConcatBatches(batches, source->type()));
      }
      if (!wanted) wanted = RunReferenceFlow(source->flow(), {}).value().outputs;
      ASSERT_TRUE(ToString(found) == ToString(*wanted)) << epochs << ", " << workers << " workers";
    }
  }
}

TEST(ReadFilesVertex, OneCallReadsAPieceOnly) {
  const ScratchDirectory scratch;
  scratch.Write("a.csv", Lines(0, 200'000));
  Source source(StrCat("glob = \"*.csv\", ", kTypes), *DataDirectories::Below({scratch.path()}));
  ASSERT_TRUE(source.Turn());
  EXPECT_THAT(source.epochs, IsEmpty());
  EXPECT_EQ(source.agreement.what.substr(0, 8), "1 files ");
  ASSERT_TRUE(source.Turn());
  EXPECT_THAT(source.epochs[0], SizeIs(1));
  EXPECT_LE(source.epochs[0][0].size(), 64 * 1024);
  EXPECT_GT(source.epochs[0][0].size(), 1000);
}

TEST(ReadFilesVertex, WorkersThatSeeOtherFilesSayAnotherDigest) {
  const ScratchDirectory a;
  const ScratchDirectory b;
  const auto digest = [](const ScratchDirectory& scratch) {
    Source source(StrCat("glob = \"*.csv\", ", kTypes), *DataDirectories::Below({scratch.path()}));
    source.Turn();
    EXPECT_EQ(source.status, absl::OkStatus());
    return source.agreement.digest;
  };
  a.Write("1.csv", "1,2\n");
  b.Write("1.csv", "3,4\n");
  EXPECT_EQ(digest(a), digest(b)) << "names and sizes are the same";
  b.Write("2.csv", "");
  EXPECT_NE(digest(a), digest(b));
  a.Write("2.csv", "1");
  EXPECT_NE(digest(a), digest(b));
}

TEST(ReadFilesVertex, FaultsNameTheFile) {
  const ScratchDirectory scratch;
  const DataDirectories data = *DataDirectories::Below({scratch.path()});
  const auto source = [&](const std::string& glob) {
    return Source(StrCat("glob = \"", glob, "\", ", kTypes), data);
  };
  Source none = source("*.csv");
  none.Run();
  EXPECT_TRUE(absl::IsNotFound(none.status)) << none.status;

  scratch.Write("a.csv", Lines(0, 200'000));
  Source changed = source("*.csv");
  ASSERT_TRUE(changed.Turn() && changed.Turn());
  scratch.Write("a.csv", Lines(0, 200'001));
  EXPECT_FALSE(changed.Turn());
  EXPECT_THAT(changed.status.message(), HasSubstr("a.csv has changed since the flow began"));

  Source vanished = source("*.csv");
  ASSERT_TRUE(vanished.Turn() && vanished.Turn());
  std::filesystem::remove(scratch.At("a.csv"));
  EXPECT_FALSE(vanished.Turn());
  EXPECT_TRUE(absl::IsNotFound(vanished.status)) << vanished.status;
  EXPECT_THAT(vanished.status.message(), HasSubstr("a.csv"));

  scratch.Write("sub/b.csv", "1,2\n3,4\n5,x\n");
  Source bad = source("*/b.csv");
  bad.Run();
  EXPECT_THAT(bad.status.message(), HasSubstr("sub/b.csv:3:3: \"x\" is no f32"));

  std::filesystem::create_symlink("/etc/passwd", scratch.At("c.csv"));
  Source denied = source("c.csv");
  denied.Run();
  EXPECT_TRUE(absl::IsPermissionDenied(denied.status)) << denied.status;
}

// One copy of the write_files vertex of a flow `%in -> %file`.
class Sink {
 public:
  Sink(const std::string& path, const std::string& types, DataDirectories data, int rank = 0)
      : flow_(ParseFlow(StrCat("flow @f {\n %in = input() {types = [", types,
                               "]}\n %file = write_files(%in) {path = \"", path, "\"}\n}"))
                  .value()) {
    VertexSetup setup = {.flow = &flow_, .id = VertexId(1), .rank = rank, .workers = 3};
    setup.data = std::move(data);
    vertex_ = MakeVertex(setup).value();
  }

  void Take(int64_t epoch, RecordBatch batch) {
    VertexActivation activation(Timestamp{epoch});
    ASSERT_EQ(vertex_->OnFrame(0, std::move(batch), &activation), absl::OkStatus());
    requests += static_cast<int>(activation.requests().size());
  }
  // One call for a complete epoch. Returns: whether there is more to do.
  bool Notify(int64_t epoch) {
    VertexActivation activation(Timestamp{epoch});
    status = vertex_->OnNotify(&activation);
    return status.ok() && activation.continues();
  }
  void Complete(int64_t epoch) {
    while (Notify(epoch)) continue;
  }
  int64_t state_bytes() const { return vertex_->state_bytes(); }

  int requests = 0;
  absl::Status status;

 private:
  const Flow flow_;
  std::unique_ptr<Vertex> vertex_;
};

RecordBatch Numbers(std::initializer_list<int64_t> numbers, int64_t first_origin,
                    std::vector<int64_t> weights = {}) {
  const auto rows = static_cast<int64_t>(numbers.size());
  RecordBatch batch = MakeBatch({Tensor::Of<int64_t>({rows}, numbers)}, first_origin);
  if (!weights.empty()) batch.weights = Tensor::FromSpan<int64_t>({rows}, weights);
  return batch;
}

TEST(WriteFilesVertex, AnEpochIsOneFileInTheOrderOfOrigins) {
  const ScratchDirectory scratch;
  Sink sink("{epoch}-{part}.csv", "\"i64[]\"", *DataDirectories::Below({scratch.path()}), 2);
  sink.Take(0, Numbers({30, 40}, 3));
  sink.Take(1, Numbers({7}, 0));
  sink.Take(0, Numbers({10, 20}, 1, {2, 0}));
  EXPECT_EQ(sink.requests, 2);
  EXPECT_THAT(scratch.Files(), IsEmpty());
  sink.Complete(0);
  EXPECT_EQ(sink.status, absl::OkStatus());
  EXPECT_EQ(scratch.Files(),
            (std::map<std::string, std::string>{{scratch.At("0-2.csv"), "10\n10\n30\n40\n"}}));
  EXPECT_GT(sink.state_bytes(), 0);
  sink.Complete(1);
  EXPECT_THAT(scratch.Files(), SizeIs(2));
  EXPECT_EQ(sink.state_bytes(), 0);
}

// Frames that overlap, in any order, with records that are there several times, some of them in
// several frames, and some that take one another back.
std::vector<RecordBatch> MixedUp(int64_t records, std::mt19937_64& random) {
  std::vector<RecordBatch> frames;
  for (int64_t at = 0; at < records; at += 500) {
    std::vector<int64_t> origins;
    std::vector<int64_t> values;
    std::vector<int64_t> weights;
    const auto add = [&](int64_t weight) {
      weights.push_back(weight);
      origins.push_back(static_cast<int64_t>(random() % records));
      values.push_back(static_cast<int64_t>(origins.back() * 3 + random() % 2));
    };
    for (int i = 0; i < 500; ++i) {
      add(1 + static_cast<int64_t>(random() % 3));
      if (random() % 4 != 0) continue;
      origins.push_back(origins.back());
      values.push_back(values.back());
      weights.push_back(random() % 2 == 0 ? 1 : -weights.back());
    }
    const auto rows = static_cast<int64_t>(origins.size());
    RecordBatch batch = MakeBatch({Tensor::FromSpan<int64_t>({rows}, values)});
    batch.origins = Tensor::FromSpan<int64_t>({rows}, origins);
    batch.weights = Tensor::FromSpan<int64_t>({rows}, weights);
    frames.push_back(std::move(batch));
  }
  return frames;
}

// The same bytes with memory for all of an epoch and with next to none, a piece for each call.
TEST(WriteFilesVertex, AnEpochMayBeLargerThanMemory) {
  constexpr int64_t kRecords = 100'000;
  constexpr int64_t kLittle = 400'000;
  for (const std::string format : {"csv", "npy"}) {
    std::string wanted;
    for (const int64_t budget : {int64_t{1} << 30, kLittle}) {
      const ScratchDirectory scratch;
      const auto memory = FlowMemory::Make({.budget = budget});
      ASSERT_TRUE(memory.ok()) << memory.status();
      const auto share = (*memory)->AddFlow();
      {
        const FlowShare::Scope scope(share.get());
        Sink sink(StrCat("{epoch}.", format), "\"i64[]\"",
                  *DataDirectories::Below({scratch.path()}));
        std::mt19937_64 random(7);
        for (RecordBatch& batch : MixedUp(kRecords, random)) sink.Take(0, std::move(batch));
        int calls = 1;
        int64_t most_kept = share->kept_bytes();
        for (; sink.Notify(0); ++calls) most_kept = std::max(most_kept, share->kept_bytes());
        ASSERT_EQ(sink.status, absl::OkStatus());
        EXPECT_EQ(sink.state_bytes(), 0);
        if (budget == kLittle) {
          EXPECT_LT(most_kept, 2 * kLittle);
          EXPECT_GT(calls, 20);
        }
      }
      EXPECT_EQ(share->kept_bytes(), 0);
      EXPECT_EQ(share->spilled_bytes(), 0);
      const std::string bytes = scratch.Files()[scratch.At(StrCat("0.", format))];
      if (wanted.empty()) wanted = bytes;
      EXPECT_GT(bytes.size(), size_t{kRecords});
      EXPECT_TRUE(bytes == wanted) << format;
    }
  }
}

TEST(WriteFilesVertex, AnEpochOfWhichNothingIsLeftHasNoFile) {
  const ScratchDirectory scratch;
  Sink sink("{epoch}.csv", "\"i64[]\"", *DataDirectories::Below({scratch.path()}));
  sink.Take(0, Numbers({7, 8}, 0));
  sink.Take(0, Numbers({7, 8}, 0, {-1, -1}));
  sink.Complete(0);
  EXPECT_EQ(sink.status, absl::OkStatus());
  EXPECT_THAT(scratch.Files(), IsEmpty());
}

TEST(WriteFilesVertex, NothingIsLeftOfAFileThatIsNotFinished) {
  const ScratchDirectory scratch;
  {
    Sink sink("{epoch}.csv", "\"i64[]\"", *DataDirectories::Below({scratch.path()}));
    sink.Take(0, Numbers({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0, std::vector<int64_t>(10, 60'000)));
    EXPECT_TRUE(sink.Notify(0));
    EXPECT_THAT(scratch.Files(), SizeIs(1));
    EXPECT_EQ(scratch.Files().count(scratch.At("0.csv")), 0u);
  }
  EXPECT_THAT(scratch.Files(), IsEmpty());
}

TEST(WriteFilesVertex, FaultsNameTheFile) {
  const ScratchDirectory scratch;
  const DataDirectories data = *DataDirectories::Below({scratch.path()});
  const auto status_of = [&](const std::string& path, std::vector<int64_t> weights) {
    Sink sink(path, "\"i64[]\"", data);
    sink.Take(0, Numbers({5}, 9, std::move(weights)));
    sink.Complete(0);
    return sink.status;
  };
  EXPECT_THAT(status_of("{epoch}.csv", {-2}).message(),
              HasSubstr("a record of origin 9 has the weight -2"));
  EXPECT_THAT(status_of("{epoch}.csv", {65537}).message(),
              HasSubstr("the weight 65537; a file holds a record 0 to 65536 times"));
  EXPECT_TRUE(absl::IsNotFound(status_of("none/{epoch}.csv", {})));
  EXPECT_TRUE(absl::IsPermissionDenied(status_of("../{epoch}.csv", {})));
  EXPECT_TRUE(absl::IsPermissionDenied(status_of("/tmp/{epoch}.csv", {})));
  std::filesystem::create_directories(scratch.At("0.npy/x"));
  EXPECT_THAT(status_of("{epoch}.npy", {}).message(), HasSubstr("cannot write"));
  EXPECT_THAT(scratch.Files(), IsEmpty());
}

}  // namespace
}  // namespace weir
