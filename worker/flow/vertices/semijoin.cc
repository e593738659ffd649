#include <memory>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/ops/scalar/integer.h"
#include "worker/flow/keyed/joined_side.h"
#include "worker/flow/keyed/key_index.h"
#include "worker/flow/keyed/keyed_vertex.h"
#include "worker/flow/keyed/merge_records.h"
#include "worker/flow/memory/table_vector.h"
#include "worker/flow/memory/will_need.h"

namespace weir {
namespace {

class SemijoinState : public VertexState {
 public:
  explicit SemijoinState(const FlowVertex& vertex)
      : vertex_(vertex), keys_(static_cast<int>(vertex.attr("keys").AsInt())) {
    Clear();
  }

  absl::Status Begin(Inputs inputs) override {
    WEIR_RETURN_IF_ERROR(MergeIfWorthIt());
    first_new_ = left_->size();
    new_keys_.clear();
    changed_.clear();
    ++time_;
    for (const RecordBatch& batch : inputs[1]) {
      WillNeed(batch);
      WEIR_RETURN_IF_ERROR(AddRight(batch));
    }
    for (const RecordBatch& batch : inputs[0]) {
      WillNeed(batch);
      WEIR_RETURN_IF_ERROR(AddLeft(batch));
    }
    next_changed_ = 0;
    next_new_ = 0;
    old_ = KeyIndex::kNone;
    SeekOld();
    SeekNew();
    return absl::OkStatus();
  }

  bool done() const override {
    return old_ == KeyIndex::kNone && next_new_ == static_cast<int64_t>(new_keys_.size());
  }

  absl::StatusOr<RecordBatch> Next(int64_t most) override {
    std::vector<uint32_t> records;
    std::vector<int64_t> weights;
    while (!done() && static_cast<int64_t>(records.size()) < most) {
      if (old_ != KeyIndex::kNone) {
        const int64_t weight = left_->weight(old_);
        const bool begins = IsThere(changed_[next_changed_]);
        records.push_back(old_);
        weights.push_back(begins ? weight : scalar::Negate(weight));
        old_ = left_->Before(old_);
        if (old_ != KeyIndex::kNone) continue;
        ++next_changed_;
        SeekOld();
      } else {
        records.push_back(static_cast<uint32_t>(first_new_ + next_new_));
        weights.push_back(left_->weight(records.back()));
        ++next_new_;
        SeekNew();
      }
    }
    return BatchOf(records, weights);
  }

  int64_t bytes() const override {
    return index_->bytes() + left_->bytes() +
           static_cast<int64_t>(right_.capacity() * sizeof(RightKey) +
                                (new_keys_.capacity() + changed_.capacity()) * sizeof(uint32_t));
  }

 private:
  static constexpr int64_t kFewKeys = 1024;

  struct RightKey {
    int64_t weight = 0;      // of its right records
    int64_t time = 0;        // the last one that added to it, counted from 1
    bool was_there = false;  // before that time
  };

  bool IsThere(uint32_t key) const { return right_[key].weight > 0; }

  void Clear() {
    const RecordType& left = vertex_.input_types[0];
    index_ = std::make_unique<KeyIndex>(RecordType(left.begin(), left.begin() + keys_));
    left_ = std::make_unique<JoinedSide>(left, 0);
    right_.clear();
  }

  absl::Status AddRight(const RecordBatch& batch) {
    std::vector<uint32_t> keys;
    WEIR_RETURN_IF_ERROR(index_->FindOrAdd(batch.columns, batch.size(), &keys));
    right_.resize(index_->limit());
    for (int64_t row = 0; row < batch.size(); ++row) {
      RightKey& key = right_[keys[row]];
      if (key.time != time_) {
        key.time = time_;
        key.was_there = key.weight > 0;
        changed_.push_back(keys[row]);
      }
      key.weight = scalar::Add(key.weight, batch.weight(row));
      right_takes_back_ |= key.weight == 0;
    }
    return absl::OkStatus();
  }

  absl::Status AddLeft(const RecordBatch& batch) {
    std::vector<uint32_t> keys;
    WEIR_RETURN_IF_ERROR(index_->FindOrAdd(batch.columns, batch.size(), &keys));
    right_.resize(index_->limit());
    WEIR_RETURN_IF_ERROR(left_->Add(batch, keys));
    new_keys_.insert(new_keys_.end(), keys.begin(), keys.end());
    return absl::OkStatus();
  }

  // What was taken back is forgotten, and so are keys of which nothing is left.
  absl::Status MergeIfWorthIt() {
    const bool right_is_worth_it =
        right_takes_back_ && index_->limit() >= 2 * merged_keys_ + kFewKeys;
    if (!left_->IsWorthMerging() && !right_is_worth_it) return absl::OkStatus();
    if (!FitsWhole(bytes())) return absl::OkStatus();
    const RecordBatch all = left_->Batch();
    const RecordBatch merged = MergeRecords({&all, 1}, vertex_.input_types[0]);
    std::vector<uint32_t> right_keys;
    for (size_t key = 0; key < right_.size(); ++key) {
      if (right_[key].weight != 0) right_keys.push_back(static_cast<uint32_t>(key));
    }
    const auto count = static_cast<int64_t>(right_keys.size());
    RecordBatch right = {.columns = index_->Keys(right_keys),
                         .origins = Tensor::Zeros(DType::kI64, {count}),
                         .weights = Tensor(DType::kI64, {count})};
    for (int64_t i = 0; i < count; ++i) {
      right.weights->mutable_data<int64_t>()[i] = right_[right_keys[i]].weight;
    }
    Clear();
    WEIR_RETURN_IF_ERROR(AddRight(right));
    WEIR_RETURN_IF_ERROR(AddLeft(merged));
    left_->SetMerged();
    merged_keys_ = index_->limit();
    right_takes_back_ = false;
    return absl::OkStatus();
  }

  // To the first record before this time of a key that is there and was not, or the other way.
  void SeekOld() {
    for (; next_changed_ < changed_.size(); ++next_changed_) {
      const uint32_t key = changed_[next_changed_];
      if (right_[key].was_there == IsThere(key)) continue;
      old_ = left_->Newest(key);
      while (old_ != KeyIndex::kNone && static_cast<int64_t>(old_) >= first_new_) {
        old_ = left_->Before(old_);
      }
      if (old_ != KeyIndex::kNone) return;
    }
  }

  // To a record of this time whose key is there.
  void SeekNew() {
    const auto size = static_cast<int64_t>(new_keys_.size());
    while (next_new_ < size && !IsThere(new_keys_[next_new_])) ++next_new_;
  }

  RecordBatch BatchOf(absl::Span<const uint32_t> records, const std::vector<int64_t>& weights) {
    const auto size = static_cast<int64_t>(records.size());
    RecordBatch batch = {.columns = left_->Columns(records),
                         .origins = Tensor(DType::kI64, {size})};
    int64_t* origins = batch.origins.mutable_data<int64_t>();
    bool ones = true;
    for (int64_t i = 0; i < size; ++i) {
      origins[i] = left_->origin(records[i]);
      ones &= weights[i] == 1;
    }
    if (!ones) batch.weights = Tensor::FromSpan<int64_t>({size}, weights);
    return batch;
  }

  const FlowVertex& vertex_;
  const int keys_;
  std::unique_ptr<KeyIndex> index_;
  std::unique_ptr<JoinedSide> left_;
  TableVector<RightKey> right_;    // by key
  int64_t merged_keys_ = 0;        // that were left by merging
  bool right_takes_back_ = false;  // right records of a key went since then
  int64_t time_ = 0;
  int64_t first_new_ = 0;           // the first left record of this time
  TableVector<uint32_t> new_keys_;  // of those
  TableVector<uint32_t> changed_;   // keys with right records of this time
  size_t next_changed_ = 0;
  uint32_t old_ = KeyIndex::kNone;  // the next left record of that key
  int64_t next_new_ = 0;
};

}  // namespace

std::unique_ptr<Vertex> MakeSemijoinVertex(const VertexSetup& setup) {
  const FlowVertex& form = setup.vertex();
  return std::make_unique<KeyedVertex>(setup,
                                       [&form] { return std::make_unique<SemijoinState>(form); });
}

}  // namespace weir
