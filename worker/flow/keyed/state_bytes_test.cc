// What a vertex says that it keeps, against what it has taken from the allocator.
#include <gtest/gtest.h>
#include <malloc.h>

#include <string>
#include <vector>

#include "worker/flow/vertex_testing.h"

namespace weir {
namespace {

int64_t Allocated() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

RecordBatch Numbers(int64_t records, int64_t first) {
  Tensor keys(DType::kI64, {records});
  for (int64_t i = 0; i < records; ++i) keys.mutable_data<int64_t>()[i] = first + i;
  return MakeBatch({keys, keys.Clone()}, first);
}

// In frames below the size from which tensors come in pages of their own, which the allocator does
// not count.
constexpr int64_t kRecords = 200'000;

// The vertex by itself: what an activation sends goes at once.
class Kept {
 public:
  explicit Kept(const VertexForm& form) : run_(form), before_(Allocated()) {}

  void Frame(int input, const Timestamp& time, RecordBatch batch) {
    VertexActivation activation(time);
    EXPECT_EQ(run_.vertex().OnFrame(input, std::move(batch), &activation), absl::OkStatus());
  }
  void Complete(const Timestamp& time) {
    for (bool more = true; more;) {
      VertexActivation activation(time);
      ASSERT_EQ(run_.vertex().OnNotify(&activation), absl::OkStatus());
      more = activation.continues();
    }
  }
  void ExpectRight(const std::string& what) {
    const auto taken = static_cast<double>(Allocated() - before_);
    const auto said = static_cast<double>(run_.vertex().state_bytes());
    EXPECT_GT(said, 1e6) << what;
    EXPECT_NEAR(said / taken, 1, 0.2) << what << ": " << said << " of " << taken;
  }

 private:
  VertexRun run_;
  const int64_t before_;
};

constexpr char kFunctions[] = R"(
func @zero() -> (i64[2]) {
  %zero = constant {value = i64[2] {0, 0}}
  return %zero
}
func @put(%value: i64[2], %new: i64[]) -> (i64[2]) {
  %both = broadcast_in_dim(%new) {axes = [], shape = (2)}
  return %both
}
)";

VertexForm Form(std::string kind, int inputs, Attrs attrs) {
  return {.kind = std::move(kind),
          .inputs = std::vector<std::vector<std::string>>(inputs, {"i64[]", "i64[]"}),
          .attrs = std::move(attrs),
          .functions = kFunctions};
}

TEST(StateBytes, OfFramesThatWaitAreRightForEachSize) {
  for (const int64_t size : {int64_t{1}, int64_t{100}, int64_t{5'000}, int64_t{20'000}}) {
    Kept kept(Form("distinct", 1, {}));
    for (int64_t first = 0; first < kRecords; first += size) {
      kept.Frame(0, {0}, Numbers(size, first));
    }
    kept.ExpectRight("frames of " + std::to_string(size));
  }
}

TEST(StateBytes, OfAPartOfALargerFrameAreItsOwn) {
  Kept kept(Form("distinct", 1, {}));
  for (int64_t i = 0; i < 20; ++i) {
    const RecordBatch large = Numbers(kRecords, 0);
    kept.Frame(0, {0}, SliceRows(large, 0, 10'000));
  }
  kept.ExpectRight("parts");
}

TEST(StateBytes, OfStateThatOutlivesTimesAreRight) {
  const Attrs job = {{"state", "job"}};
  Attrs changes = {{"state", "job"}, {"emit", "changes"}};
  const auto with = [](Attrs attrs, std::initializer_list<std::pair<const char*, Attr>> more) {
    for (const auto& [name, attr] : more) attrs.insert({name, attr});
    return attrs;
  };
  const std::vector<VertexForm> forms = {
      Form("distinct", 1, job),
      Form("count", 1, with(changes, {{"keys", 1}})),
      Form("reduce_by_key", 1, with(changes, {{"keys", 1}, {"combine", "sum"}})),
      Form("reduce_by_key", 1, with(changes, {{"keys", 1}, {"combine", "min"}})),
      Form("top_k", 1, with(changes, {{"keys", 1}, {"k", 3}, {"by", 1}})),
      Form("top_k", 1, with(job, {{"keys", 1}, {"k", 3}, {"by", 1}})),
      Form("join", 2, with(job, {{"keys", 1}})),
      Form("semijoin", 2, with(job, {{"keys", 1}})),
      Form("variable", 2, {{"keys", 1}, {"init", "zero"}, {"assign", "put"}})};
  for (const VertexForm& form : forms) {
    Kept kept(form);
    for (int64_t epoch = 0; epoch < 4; ++epoch) {
      for (size_t input = 0; input < form.inputs.size(); ++input) {
        kept.Frame(static_cast<int>(input), {epoch}, Numbers(50'000, 50'000 * epoch));
      }
      kept.Complete({epoch});
    }
    kept.ExpectRight(form.kind);
  }
}

}  // namespace
}  // namespace weir
