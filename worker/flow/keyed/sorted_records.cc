#include "worker/flow/keyed/sorted_records.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "common/base/status.h"
#include "worker/flow/keyed/kept_records.h"
#include "worker/flow/keyed/merge_records.h"
#include "worker/flow/memory/will_need.h"

namespace weir {
namespace {

// Of a run that is being read, so much is asked for from the disk at once, as far as all of them
// together stay within what one call should take.
constexpr int64_t kLeastFetched = int64_t{16} << 10;
constexpr int64_t kMostFetched = int64_t{1} << 20;

int64_t WorkBytes() {
  const FlowShare* share = FlowShare::Current();
  return share == nullptr ? std::numeric_limits<int64_t>::max() : share->work_bytes();
}

// Rows of some tensors of one type behind one another.
class RowsTo {
 public:
  RowsTo(DType dtype, const Extents& of_record, int64_t rows)
      : stride_(NumElements(of_record) * SizeOf(dtype)) {
    Extents extents = {rows};
    extents.insert(extents.end(), of_record.begin(), of_record.end());
    result_ = Tensor(dtype, extents);
    out_ = result_.raw_mutable_data();
  }

  void Add(const Tensor& from, int64_t begin, int64_t end) {
    const int64_t bytes = (end - begin) * stride_;
    if (bytes > 0) std::memcpy(out_, from.raw_data() + begin * stride_, bytes);
    out_ += bytes;
  }
  void Add(int64_t value, int64_t times) {
    for (; times > 0; --times, out_ += sizeof(value)) std::memcpy(out_, &value, sizeof(value));
  }
  Tensor Take() { return std::move(result_); }

 private:
  const int64_t stride_;
  Tensor result_;
  std::byte* out_;
};

}  // namespace

void SortedRecords::Begin(std::vector<RecordBatch> batches) {
  runs_.clear();
  open_runs_ = 0;
  last_.reset();
  // Frames in order in themselves that follow one another make runs that hardly overlap.
  std::vector<std::pair<int64_t, size_t>> firsts;
  for (const RecordBatch& batch : batches) WillNeedRows(batch.origins, 0, 1);
  for (size_t i = 0; i < batches.size(); ++i) firsts.emplace_back(batches[i].origin(0), i);
  std::sort(firsts.begin(), firsts.end(), std::greater<>());
  batches_.clear();
  for (const auto& [origin, i] : firsts) batches_.push_back(std::move(batches[i]));
}

absl::Status SortedRecords::SortSome() {
  const int64_t most = WorkBytes();
  std::vector<RecordBatch> some;
  int64_t bytes = 0;
  while (!batches_.empty() && (some.empty() || bytes + batches_.back().bytes() <= most)) {
    bytes += batches_.back().bytes();
    some.push_back(std::move(batches_.back()));
    batches_.pop_back();
  }
  Run run;
  run.batch = SortRecords(some, type_);
  some.clear();
  FlowShare* share = FlowShare::Current();
  if (share != nullptr && share->is_over()) {
    WEIR_ASSIGN_OR_RETURN(SpilledRecords spilled, share->Spill(run.batch));
    run.batch = std::move(spilled).Read(type_);
  } else {
    run.charge.Set(HeldBytes(run.batch));
    run.fetched = run.batch.size();
  }
  run.size = run.batch.size();
  runs_.push_back(std::move(run));
  Push(runs_.size() - 1);
  return absl::OkStatus();
}

bool SortedRecords::Less(size_t a, int64_t a_row, size_t b, int64_t b_row) const {
  const RecordBatch& left = runs_[a].batch;
  const RecordBatch& right = runs_[b].batch;
  const int64_t left_origin = left.origin(a_row);
  const int64_t right_origin = right.origin(b_row);
  if (left_origin != right_origin) return left_origin < right_origin;
  const int order = RecordRows(left).Compare(a_row, RecordRows(right), b_row);
  return order != 0 ? order < 0 : left.weight(a_row) < right.weight(b_row);
}

void SortedRecords::Push(size_t run) {
  heap_.push_back(run);
  std::push_heap(heap_.begin(), heap_.end(),
                 [this](size_t a, size_t b) { return Less(b, runs_[b].next, a, runs_[a].next); });
}

size_t SortedRecords::Pop() {
  std::pop_heap(heap_.begin(), heap_.end(),
                [this](size_t a, size_t b) { return Less(b, runs_[b].next, a, runs_[a].next); });
  const size_t run = heap_.back();
  heap_.pop_back();
  return run;
}

void SortedRecords::Fetch(Run* run) {
  if (run->fetched == run->size) return;
  const int64_t row_bytes = std::max<int64_t>(run->batch.bytes() / run->size, 1);
  const int64_t bytes =
      std::clamp(WorkBytes() / (2 * (open_runs_ + 1)), kLeastFetched, kMostFetched);
  const int64_t rows = std::max<int64_t>(bytes / row_bytes, 1);
  if (run->fetched - run->next > rows / 2) return;
  const int64_t end = std::min(run->size, std::max(run->fetched, run->next) + rows);
  WillNeedRows(run->batch, run->fetched, end);
  run->fetched = end;
}

SortedRecords::Piece SortedRecords::TakePiece(int64_t most) {
  const size_t number = Pop();
  Run& run = runs_[number];
  if (run.next == 0) ++open_runs_;
  Fetch(&run);
  Piece piece = {number, run.next, run.next + 1};
  const int64_t end = std::min(run.fetched, run.next + most);
  if (heap_.empty()) {
    piece.end = end;
  } else {
    const size_t other = heap_.front();
    while (piece.end < end && !Less(other, runs_[other].next, number, piece.end)) ++piece.end;
  }
  run.next = piece.end;
  if (run.next < run.size) {
    Push(number);
  } else {
    --open_runs_;
  }
  return piece;
}

std::vector<SortedRecords::Piece> SortedRecords::TakePieces(int64_t most) {
  std::vector<Piece> pieces;
  for (int64_t count = 0; count < most && !heap_.empty();) {
    pieces.push_back(TakePiece(most - count));
    count += pieces.back().end - pieces.back().begin;
  }
  return pieces;
}

RecordBatch SortedRecords::Next(int64_t most) { return Give(TakePieces(most)); }

RecordBatch SortedRecords::NextMerged(int64_t most) {
  std::vector<RecordBatch> some;
  if (last_.has_value()) some.push_back(*std::exchange(last_, std::nullopt));
  some.push_back(Next(most));
  RecordBatch merged = MergeRecords(some, type_);
  if (done() || merged.empty()) return merged;
  const int64_t last = merged.size() - 1;
  last_ = SliceRows(merged, last, last + 1);
  return SliceRows(merged, 0, last);
}

RecordBatch SortedRecords::Give(const std::vector<Piece>& pieces) {
  RecordBatch batch = Gather(pieces);
  FreeRead(pieces);
  return batch;
}

RecordBatch SortedRecords::Gather(const std::vector<Piece>& pieces) const {
  if (pieces.size() == 1) {
    return SliceRows(runs_[pieces[0].run].batch, pieces[0].begin, pieces[0].end);
  }
  int64_t rows = 0;
  bool has_weights = false;
  for (const Piece& piece : pieces) {
    rows += piece.end - piece.begin;
    has_weights = has_weights || runs_[piece.run].batch.weights.has_value();
  }
  RecordBatch gathered;
  for (size_t column = 0; column < type_.size(); ++column) {
    RowsTo to(type_[column].dtype, type_[column].shape.extents(), rows);
    for (const Piece& piece : pieces) {
      to.Add(runs_[piece.run].batch.columns[column], piece.begin, piece.end);
    }
    gathered.columns.push_back(to.Take());
  }
  RowsTo origins(DType::kI64, {}, rows);
  RowsTo weights(DType::kI64, {}, has_weights ? rows : 0);
  for (const Piece& piece : pieces) {
    const RecordBatch& from = runs_[piece.run].batch;
    origins.Add(from.origins, piece.begin, piece.end);
    if (from.weights) {
      weights.Add(*from.weights, piece.begin, piece.end);
    } else if (has_weights) {
      weights.Add(1, piece.end - piece.begin);
    }
  }
  gathered.origins = origins.Take();
  if (has_weights) gathered.weights = weights.Take();
  return gathered;
}

// Runs of which nothing is left take no memory any more, on disk or here.
void SortedRecords::FreeRead(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    Run& run = runs_[piece.run];
    if (run.next < run.size) continue;
    run.batch = RecordBatch();
    run.charge.Set(0);
  }
}

int64_t SortedRecords::bytes() const {
  int64_t bytes = 0;
  for (const Run& run : runs_) bytes += run.charge.bytes();
  return bytes;
}

}  // namespace weir
