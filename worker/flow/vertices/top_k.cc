#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/flow/keyed_state.h"
#include "worker/flow/keyed/counted_records.h"
#include "worker/flow/keyed/grouped_state.h"
#include "worker/flow/keyed/key_index.h"
#include "worker/flow/keyed/keyed_vertex.h"
#include "worker/flow/keyed/number_order.h"
#include "worker/flow/keyed/top_of_time.h"
#include "worker/flow/memory/table_vector.h"
#include "worker/flow/memory/will_need.h"

namespace weir {
namespace {

// A record in some of the k places of its key.
struct Ranked {
  uint32_t record = 0;
  int64_t places = 0;
  int64_t origin = 0;
};

bool SamePlaces(const Ranked& a, const Ranked& b) {
  return a.record == b.record && a.places == b.places;
}

// What outlives a time.
class TopKState : public VertexState {
 public:
  explicit TopKState(const FlowVertex& vertex)
      : vertex_(vertex),
        emit_(EmitOf(vertex)),
        type_(vertex.input_types[0]),
        k_(vertex.attr("k").AsInt()),
        by_(static_cast<int>(vertex.attr("by").AsInt())),
        index_(RecordType(type_.begin(), type_.begin() + vertex.attr("keys").AsInt())),
        records_(type_) {}

  absl::Status Begin(Inputs inputs) override {
    WEIR_ASSIGN_OR_RETURN(const std::vector<RecordBatch> batches,
                          PrepareRecords(vertex_, std::move(inputs[0]), false));
    ++time_;
    touched_.clear();
    next_ = 0;
    records_.BeginTime();
    for (const RecordBatch& batch : batches) {
      WillNeed(batch);
      WEIR_RETURN_IF_ERROR(AddBatch(batch));
    }
    return absl::OkStatus();
  }

  bool done() const override { return next_ == touched_.size() && sent_rows_ == out_.size(); }

  // The places of a key may be more than a frame holds; then a part of what comes out waits.
  absl::StatusOr<RecordBatch> Next(int64_t most) override {
    if (sent_rows_ == out_.size()) {
      out_ = RankSome(most);
      sent_rows_ = 0;
    }
    const int64_t begin = sent_rows_;
    sent_rows_ = std::min(begin + most, out_.size());
    RecordBatch batch = SliceRows(out_, begin, sent_rows_);
    if (!done()) return batch;
    out_ = EmptyBatch(type_);
    sent_rows_ = 0;
    return batch;
  }

  int64_t bytes() const override {
    const size_t own = (touched_.capacity() + numbers_.capacity()) * sizeof(uint32_t) +
                       groups_.capacity() * sizeof(Group) + ranked_ * sizeof(Ranked);
    return index_.bytes() + records_.bytes() + HeldBytes(out_) + static_cast<int64_t>(own);
  }

 private:
  struct Group {
    int64_t time = 0;            // the last one that brought records, counted from 1
    std::vector<Ranked> result;  // that was sent
  };
  // Rows that come out.
  struct Rows {
    std::vector<uint32_t> records;
    std::vector<int64_t> origins;
    std::vector<int64_t> weights;

    void Add(const Ranked& ranked, int64_t weight) {
      if (weight == 0) return;
      records.push_back(ranked.record);
      origins.push_back(ranked.origin);
      weights.push_back(weight);
    }
  };

  absl::Status AddBatch(const RecordBatch& batch) {
    WEIR_RETURN_IF_ERROR(index_.FindOrAdd(batch.columns, batch.size(), &numbers_));
    groups_.resize(index_.limit());
    records_.Resize(index_.limit());
    for (const uint32_t number : numbers_) {
      if (groups_[number].time == time_) continue;
      groups_[number].time = time_;
      touched_.push_back(number);
    }
    return records_.Add(batch, numbers_);
  }

  // What comes out of the next keys, until it is `most` rows or more.
  RecordBatch RankSome(int64_t most) {
    Rows rows;
    const size_t begin = next_;
    while (next_ < touched_.size() && static_cast<int64_t>(rows.records.size()) < most) {
      const uint32_t group = touched_[next_++];
      std::vector<Ranked> result = FirstOf(group);
      Compare(groups_[group].result, result, &rows);
      ranked_ += static_cast<int64_t>(result.size());
      ranked_ -= static_cast<int64_t>(groups_[group].result.size());
      groups_[group].result = std::move(result);
    }
    const auto size = static_cast<int64_t>(rows.records.size());
    RecordBatch batch = {.columns = records_.Columns(rows.records),
                         .origins = Tensor::FromSpan<int64_t>({size}, rows.origins),
                         .weights = Tensor::FromSpan<int64_t>({size}, rows.weights)};
    for (size_t i = begin; i < next_; ++i) Forget(touched_[i]);
    return batch;
  }

  std::vector<Ranked> FirstOf(uint32_t group) {
    candidates_.clear();
    records_.List(group, &candidates_);
    Sort(&candidates_);
    std::vector<Ranked> first;
    int64_t left = k_;
    for (const uint32_t record : candidates_) {
      if (left == 0) break;
      const CountedRecords::Entry& entry = records_.entry(record);
      first.push_back({record, std::min(left, entry.weight), entry.origin});
      left -= first.back().places;
    }
    return first;
  }

  // The first k are those that come first, in order.
  void Sort(std::vector<uint32_t>* records) const {
    VisitDType(type_[by_].dtype, [&]<class T>(TypeTag<T>) {
      const auto comes_first = [&](uint32_t a, uint32_t b) {
        const T x = NumberAt<T>(records_.Value(by_, a));
        const T y = NumberAt<T>(records_.Value(by_, b));
        if (IsAhead(x, y)) return true;
        return !IsAhead(y, x) && records_.Compare(a, b) < 0;
      };
      const auto middle = records->begin() + std::min<int64_t>(k_, records->size());
      std::nth_element(records->begin(), middle, records->end(), comes_first);
      std::sort(records->begin(), middle, comes_first);
    });
  }

  void Compare(const std::vector<Ranked>& old, const std::vector<Ranked>& now, Rows* rows) const {
    if (std::equal(old.begin(), old.end(), now.begin(), now.end(), SamePlaces)) return;
    for (const Ranked& ranked : now) rows->Add(ranked, ranked.places);
    if (emit_ != Emit::kChanges) return;
    for (const Ranked& ranked : old) rows->Add(ranked, -ranked.places);
  }

  // What cannot come out any more.
  void Forget(uint32_t group) {
    if (emit_ == Emit::kUpdates) {  // nothing is taken back, so what is behind the k places stays
      candidates_.clear();
      for (const Ranked& ranked : groups_[group].result) candidates_.push_back(ranked.record);
      records_.KeepOnly(group, candidates_);
    } else {
      records_.ForgetGone(group);
    }
    if (records_.has_any(group)) return;
    groups_[group] = Group();
    index_.Free(group);
  }

  const FlowVertex& vertex_;
  const Emit emit_;
  const RecordType type_;
  const int64_t k_;
  const int by_;
  KeyIndex index_;  // of keys: groups
  CountedRecords records_;
  TableVector<Group> groups_;
  int64_t ranked_ = 0;  // in the results of all groups
  int64_t time_ = 0;
  std::vector<uint32_t> numbers_;  // of the rows of a batch
  TableVector<uint32_t> touched_;  // groups with records of this time
  size_t next_ = 0;                // of those
  std::vector<uint32_t> candidates_;
  RecordBatch out_ = EmptyBatch(type_);
  int64_t sent_rows_ = 0;  // of out_
};

}  // namespace

std::unique_ptr<Vertex> MakeTopKVertex(const VertexSetup& setup) {
  const FlowVertex& form = setup.vertex();
  return std::make_unique<KeyedVertex>(setup, [&form]() -> std::unique_ptr<VertexState> {
    if (LifeOf(form) == StateLife::kTime) return std::make_unique<TopOfTime>(form);
    return std::make_unique<TopKState>(form);
  });
}

}  // namespace weir
