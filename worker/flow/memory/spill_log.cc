#include "worker/flow/memory/spill_log.h"

#include <algorithm>
#include <vector>

#include "common/base/status.h"

namespace weir {
namespace {

constexpr int64_t kFileBytes = int64_t{64} << 20;
// Of what was written last, so much may still be in memory only.
constexpr int64_t kMostUnwritten = int64_t{8} << 20;
constexpr int64_t kWrittenTogether = int64_t{1} << 20;

int64_t Aligned(int64_t bytes) {
  constexpr auto kAlignment = static_cast<int64_t>(Buffer::kAlignment);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// All tensors of a batch.
std::vector<const Tensor*> PartsOf(const RecordBatch& batch) {
  std::vector<const Tensor*> parts;
  for (const Tensor& column : batch.columns) parts.push_back(&column);
  parts.push_back(&batch.origins);
  if (batch.weights) parts.push_back(&*batch.weights);
  return parts;
}

}  // namespace

SpilledBytes& SpilledBytes::operator=(SpilledBytes&& other) noexcept {
  Free();
  file_ = std::move(other.file_);
  counter_ = std::move(other.counter_);
  offset_ = other.offset_;
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void SpilledBytes::Free() {
  if (file_ == nullptr) return;
  counter_->bytes.fetch_sub(bytes_, std::memory_order_relaxed);
  // The last one takes the file with it.
  if (file_.use_count() > 1 && !counter_->all_ends.load(std::memory_order_relaxed)) {
    file_->Free(offset_, bytes_);
  }
  file_ = nullptr;
}

RecordBatch SpilledRecords::Read(const RecordType& type) && {
  auto place = std::make_shared<SpilledBytes>(std::move(place_));
  // Nobody writes to what is mapped for reading: tensors are immutable once they are handed on.
  std::byte* const data = place->file()->data() + place->offset();
  const int64_t bytes = place->size();
  return BatchIn(type, Buffer::Wrap(data, bytes, [place]() mutable { place.reset(); }));
}

absl::StatusOr<RecordBatch> SpilledRecords::Load(const RecordType& type) && {
  const SpilledBytes place = std::move(place_);
  std::shared_ptr<Buffer> buffer = Buffer::Allocate(place.size());
  WEIR_RETURN_IF_ERROR(place.file()->Read(place.offset(), buffer->data(), place.size()));
  return BatchIn(type, std::move(buffer));
}

RecordBatch SpilledRecords::BatchIn(const RecordType& type, std::shared_ptr<Buffer> buffer) const {
  int64_t offset = 0;
  const auto next = [&](DType dtype, absl::Span<const int64_t> extents) {
    Extents strides(extents.size());
    int64_t elements = 1;
    for (size_t axis = extents.size(); axis-- > 0;) {
      strides[axis] = elements;
      elements *= extents[axis];
    }
    Tensor part(dtype, extents, strides, offset / SizeOf(dtype), buffer);
    offset += Aligned(part.num_bytes());
    return part;
  };
  RecordBatch batch;
  for (const TensorType& column : type) {
    Extents extents = {records_};
    const Extents of_record = column.shape.extents();
    extents.insert(extents.end(), of_record.begin(), of_record.end());
    batch.columns.push_back(next(column.dtype, extents));
  }
  batch.origins = next(DType::kI64, {records_});
  if (has_weights_) batch.weights = next(DType::kI64, {records_});
  return batch;
}

absl::StatusOr<SpilledBytes> SpillLog::Place(int64_t bytes) {
  WEIR_RETURN_IF_ERROR(directory_->Reserve(bytes));
  count_->bytes.fetch_add(bytes, std::memory_order_relaxed);
  const auto made = [&](const std::shared_ptr<SpillFile>& file, int64_t offset) {
    file->Take(bytes);
    return SpilledBytes(file, count_, offset, bytes);
  };
  std::lock_guard lock(mutex_);
  if (file_ != nullptr && end_ + bytes <= file_->size()) {
    return made(file_, std::exchange(end_, end_ + bytes));
  }
  auto file = SpillFile::Make(directory_, std::max(bytes, kFileBytes), SpillFile::Use::kRead);
  if (!file.ok()) {
    directory_->Release(bytes);
    count_->bytes.fetch_sub(bytes, std::memory_order_relaxed);
    return file.status();
  }
  file_ = *std::move(file);
  end_ = bytes;
  return made(file_, 0);
}

absl::StatusOr<SpilledRecords> SpillLog::Write(const RecordBatch& batch) {
  const std::vector<const Tensor*> parts = PartsOf(batch);
  int64_t bytes = 0;
  for (const Tensor* part : parts) bytes += Aligned(part->num_bytes());
  SpilledRecords spilled;
  spilled.records_ = batch.size();
  spilled.has_weights_ = batch.weights.has_value();
  WEIR_ASSIGN_OR_RETURN(spilled.place_, Place(bytes));
  int64_t offset = spilled.place_.offset();
  for (const Tensor* part : parts) {
    const Tensor rows = part->Contiguous();
    if (rows.num_bytes() == 0) continue;
    WEIR_RETURN_IF_ERROR(spilled.place_.file()->Write(offset, rows.raw_data(), rows.num_bytes()));
    offset += Aligned(rows.num_bytes());
  }
  WriteOut(spilled.place_.shared_file(), spilled.place_.offset(), bytes);
  return spilled;
}

// Memory that waits for the disk cannot be given back, so there is only so much of it: who writes
// faster than the disk waits here. Small batches go to the disk together.
void SpillLog::WriteOut(const std::shared_ptr<SpillFile>& file, int64_t offset, int64_t bytes) {
  std::vector<Written> due;
  Written begun;
  {
    std::lock_guard lock(mutex_);
    begun = AddWritten({file, offset, bytes});
    while (written_bytes_ > kMostUnwritten && written_.size() > 1) {
      written_bytes_ -= written_.front().bytes;
      due.push_back(std::move(written_.front()));
      written_.pop_front();
    }
  }
  if (const auto still = begun.file.lock()) still->BeginWriteOut(begun.offset, begun.bytes);
  for (const Written& part : due) {
    if (const auto still = part.file.lock()) still->AwaitWriteOut(part.offset, part.bytes);
  }
}

SpillLog::Written SpillLog::AddWritten(Written part) {
  const bool same_file = !last_.file.owner_before(part.file) && !part.file.owner_before(last_.file);
  Written before;
  if (same_file) {
    const int64_t end = std::max(last_.offset + last_.bytes, part.offset + part.bytes);
    part.offset = std::min(last_.offset, part.offset);
    part.bytes = end - part.offset;
    if (part.bytes < kWrittenTogether) {
      last_ = std::move(part);
      return before;
    }
    before = std::move(part);
    last_ = Written();
  } else {
    before = std::exchange(last_, std::move(part));
  }
  written_bytes_ += before.bytes;
  if (before.bytes > 0) written_.push_back(before);
  return before;
}

}  // namespace weir
