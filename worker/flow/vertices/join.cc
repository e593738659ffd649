#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/ops/scalar/integer.h"
#include "worker/flow/keyed/joined_side.h"
#include "worker/flow/keyed/key_index.h"
#include "worker/flow/keyed/key_order.h"
#include "worker/flow/keyed/keyed_vertex.h"
#include "worker/flow/keyed/merge_records.h"

namespace weir {
namespace {

class JoinState : public VertexState {
 public:
  explicit JoinState(const FlowVertex& vertex)
      : vertex_(vertex), keys_(static_cast<int>(vertex.attr("keys").AsInt())) {
    Clear();
  }

  absl::Status Begin(Inputs inputs) override {
    WEIR_RETURN_IF_ERROR(MergeIfWorthIt());
    for (int side = 0; side < 2; ++side) {
      Side& now = sides_[side];
      now.first_new = now.records->size();
      now.new_keys.clear();
    }
    for (const int side : {1, 0}) {
      Expect(inputs[side], &sides_[side]);
      WEIR_RETURN_IF_ERROR(
          AddInGoodOrder(std::move(inputs[side]), vertex_.input_types[side], keys_, *index_,
                         [&](const RecordBatch& batch) { return Add(batch, side); }));
    }
    phase_ = kNewLeft;
    new_row_ = 0;
    FillWalks();
    return absl::OkStatus();
  }

  bool done() const override { return walks_.empty(); }

  absl::StatusOr<RecordBatch> Next(int64_t most) override {
    for (std::vector<uint32_t>& records : pairs_) records.clear();
    while (!done() && static_cast<int64_t>(pairs_[0].size()) < most) {
      std::vector<uint32_t>& news = pairs_[phase_ == kNewLeft ? 0 : 1];
      std::vector<uint32_t>& olds = pairs_[phase_ == kNewLeft ? 1 : 0];
      for (size_t i = 0; i < walks_.size() && static_cast<int64_t>(news.size()) < most;) {
        Walk& walk = walks_[i];
        news.push_back(walk.record);
        olds.push_back(walk.other);
        walk.other = others().Before(walk.other);
        if (walk.other == KeyIndex::kNone) {
          walk = walks_.back();
          walks_.pop_back();
        } else {
          others().Prefetch(walk.other);
          ++i;
        }
      }
      if (walks_.size() < kMostWalks / 2) FillWalks();
    }
    return PairsOf(pairs_[0], pairs_[1]);
  }

  int64_t bytes() const override {
    int64_t bytes = index_->bytes() + static_cast<int64_t>(numbers_.capacity() * sizeof(uint32_t));
    for (const std::vector<uint32_t>& records : pairs_) {
      bytes += static_cast<int64_t>(records.capacity() * sizeof(uint32_t));
    }
    for (const Side& side : sides_) {
      bytes +=
          side.records->bytes() + static_cast<int64_t>(side.new_keys.capacity() * sizeof(uint32_t));
    }
    return bytes;
  }

 private:
  // New left records meet all right ones, then new right records the left ones before them.
  enum Phase { kNewLeft, kNewRight, kDone };

  // A new record, and its partner in the next pair: the chain of partners is somewhere in memory at
  // each step, so several are walked at a time, each step asked for a round before.
  struct Walk {
    uint32_t record;
    uint32_t other;
  };
  static constexpr size_t kMostWalks = 32;

  struct Side {
    std::unique_ptr<JoinedSide> records;
    int64_t first_new = 0;           // the first record of this time
    std::vector<uint32_t> new_keys;  // the numbers of the keys of those
  };

  void Clear() {
    const RecordType& left = vertex_.input_types[0];
    index_ = std::make_unique<KeyIndex>(RecordType(left.begin(), left.begin() + keys_));
    sides_[0].records = std::make_unique<JoinedSide>(left, 0);
    sides_[1].records = std::make_unique<JoinedSide>(vertex_.input_types[1], keys_);
  }

  static void Expect(absl::Span<const RecordBatch> batches, Side* side) {
    int64_t records = 0;
    for (const RecordBatch& batch : batches) records += batch.size();
    side->records->Expect(records);
    side->new_keys.reserve(static_cast<size_t>(records));
  }

  absl::Status Add(const RecordBatch& batch, int side) {
    std::vector<uint32_t>& keys = numbers_;
    WEIR_RETURN_IF_ERROR(index_->FindOrAdd(batch.columns, batch.size(), &keys));
    WEIR_RETURN_IF_ERROR(sides_[side].records->Add(batch, keys));
    sides_[side].new_keys.insert(sides_[side].new_keys.end(), keys.begin(), keys.end());
    return absl::OkStatus();
  }

  // What was taken back is forgotten, and so are keys of which nothing is left.
  absl::Status MergeIfWorthIt() {
    const bool worth_it = std::any_of(std::begin(sides_), std::end(sides_), [](const Side& side) {
      return side.records->IsWorthMerging();
    });
    // What is beyond memory stays as it is: to look for it takes memory.
    if (!worth_it || !FitsWhole(bytes())) return absl::OkStatus();
    RecordBatch merged[2];
    for (int side = 0; side < 2; ++side) {
      const RecordBatch all = RecordsOf(side);
      merged[side] = MergeRecords({&all, 1}, vertex_.input_types[side]);
    }
    Clear();
    for (int side = 0; side < 2; ++side) {
      WEIR_RETURN_IF_ERROR(Add(merged[side], side));
      sides_[side].records->SetMerged();
    }
    return absl::OkStatus();
  }

  // All records of a side as they came. Those of the right one are kept without their keys, which
  // come out of the left one and are in the index.
  RecordBatch RecordsOf(int side) const {
    const JoinedSide& records = *sides_[side].records;
    RecordBatch batch = records.Batch();
    if (side == 0) return batch;
    std::vector<Tensor> columns = index_->Keys(records.Keys());
    std::move(batch.columns.begin(), batch.columns.end(), std::back_inserter(columns));
    batch.columns = std::move(columns);
    return batch;
  }

  const Side& now() const { return sides_[phase_ == kNewLeft ? 0 : 1]; }
  const JoinedSide& others() const { return *sides_[phase_ == kNewLeft ? 1 : 0].records; }

  // Begins with the partners of more new records; of those of the next phase once all of this one
  // are done.
  void FillWalks() {
    while (phase_ != kDone && walks_.size() < kMostWalks) {
      if (new_row_ == static_cast<int64_t>(now().new_keys.size())) {
        if (!walks_.empty()) return;
        const bool left_was_there = sides_[0].first_new > 0;
        phase_ = phase_ == kNewLeft && left_was_there ? kNewRight : kDone;
        new_row_ = 0;
        continue;
      }
      const uint32_t other = FirstPartner(now().new_keys[new_row_]);
      if (other != KeyIndex::kNone) {
        walks_.push_back({static_cast<uint32_t>(now().first_new + new_row_), other});
        others().Prefetch(other);
      }
      ++new_row_;
    }
  }

  uint32_t FirstPartner(uint32_t key) const {
    uint32_t other = others().Newest(key);
    // Left records of this time have met the new right ones already.
    while (phase_ == kNewRight && other != KeyIndex::kNone &&
           static_cast<int64_t>(other) >= sides_[0].first_new) {
      other = others().Before(other);
    }
    return other;
  }

  RecordBatch PairsOf(absl::Span<const uint32_t> left, absl::Span<const uint32_t> right) const {
    const auto size = static_cast<int64_t>(left.size());
    const JoinedSide& lefts = *sides_[0].records;
    const JoinedSide& rights = *sides_[1].records;
    RecordBatch batch = {.columns = lefts.Columns(left), .origins = Tensor(DType::kI64, {size})};
    for (Tensor& column : rights.Columns(right)) batch.columns.push_back(std::move(column));
    int64_t* origins = batch.origins.mutable_data<int64_t>();
    for (int64_t i = 0; i < size; ++i) origins[i] = lefts.origin(left[i]);
    if (!lefts.has_weights() && !rights.has_weights()) return batch;
    Tensor products(DType::kI64, {size});
    int64_t* weights = products.mutable_data<int64_t>();
    for (int64_t i = 0; i < size; ++i) {
      weights[i] = scalar::Multiply(lefts.weight(left[i]), rights.weight(right[i]));
    }
    if (!std::all_of(weights, weights + size, [](int64_t weight) { return weight == 1; })) {
      batch.weights = std::move(products);
    }
    return batch;
  }

  const FlowVertex& vertex_;
  const int keys_;
  std::unique_ptr<KeyIndex> index_;
  Side sides_[2];  // left, right
  Phase phase_ = kDone;
  int64_t new_row_ = 0;  // the next of the new records of the phase
  std::vector<Walk> walks_;
  std::vector<uint32_t> numbers_;   // of the rows of a batch
  std::vector<uint32_t> pairs_[2];  // left and right records that come out next
};

}  // namespace

std::unique_ptr<Vertex> MakeJoinVertex(const VertexSetup& setup) {
  const FlowVertex& form = setup.vertex();
  return std::make_unique<KeyedVertex>(setup,
                                       [&form] { return std::make_unique<JoinState>(form); });
}

}  // namespace weir
