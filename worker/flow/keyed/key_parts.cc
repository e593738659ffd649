#include "worker/flow/keyed/key_parts.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/flow/record_rows.h"
#include "common/flow/vertex_kind.h"

namespace weir {
namespace {

// Of each some records are in memory until they are worth a place on disk.
constexpr int kMostPartsBits = 8;
constexpr int64_t kMostParts = int64_t{1} << kMostPartsBits;
// What is too large after that has few keys.
constexpr int kMostLevels = 3;

// Other bits than those by which keys go to workers, and others for each level.
size_t PartOf(uint64_t hash, int level, size_t parts) {
  return (hash >> (32 + level * kMostPartsBits)) % parts;
}

int64_t BytesOf(const std::vector<KeptRecords>& inputs) {
  int64_t bytes = 0;
  for (const KeptRecords& records : inputs) bytes += records.bytes() + records.spilled_bytes();
  return bytes;
}

}  // namespace

bool KeyParts::CanCut(const FlowVertex& vertex) {
  for (int input = 0; input < static_cast<int>(vertex.inputs.size()); ++input) {
    const Routing routing = RouteOf(vertex, input);
    if (routing.to != Routing::To::kKey || routing.keys == 0) return false;
  }
  return true;
}

KeyParts::KeyParts(const FlowVertex& vertex, std::vector<KeptRecords> all, int64_t total_bytes,
                   int64_t part_bytes, int level)
    : vertex_(vertex),
      total_bytes_(total_bytes),
      part_bytes_(part_bytes),
      level_(level),
      left_(std::move(all)) {
  parts_.resize(std::clamp<int64_t>(total_bytes / part_bytes + 1, 2, kMostParts));
  for (std::vector<KeptRecords>& part : parts_) part.resize(left_.size());
}

// A part that has most of the records has one key that has them.
bool KeyParts::IsWorthCutting(int64_t bytes) const {
  return bytes > 2 * part_bytes_ && bytes < total_bytes_ / 2 && level_ + 1 < kMostLevels;
}

bool KeyParts::is_cut() const {
  if (inner_ != nullptr) return inner_->is_cut();
  return std::all_of(left_.begin(), left_.end(),
                     [](const KeptRecords& records) { return records.empty(); });
}

absl::Status KeyParts::CutSome(int64_t most_bytes) {
  if (inner_ != nullptr) return inner_->CutSome(most_bytes);
  int64_t bytes = 0;
  for (size_t input = 0; input < left_.size(); ++input) {
    while (bytes < most_bytes && !left_[input].empty()) {
      WEIR_ASSIGN_OR_RETURN(const RecordBatch batch,
                            left_[input].TakeOne(vertex_.input_types[input]));
      bytes += batch.bytes();
      WEIR_RETURN_IF_ERROR(Cut(static_cast<int>(input), batch));
    }
  }
  return absl::OkStatus();
}

absl::Status KeyParts::Cut(int input, const RecordBatch& batch) {
  const RecordRows keys(batch, RouteOf(vertex_, input).keys);
  std::vector<std::vector<int64_t>> rows(parts_.size());
  for (int64_t row = 0; row < batch.size(); ++row) {
    rows[PartOf(keys.Hash(row), level_, parts_.size())].push_back(row);
  }
  for (size_t part = 0; part < parts_.size(); ++part) {
    if (rows[part].empty()) continue;
    WEIR_RETURN_IF_ERROR(
        parts_[part][input].Add(SelectRows(batch, rows[part]), vertex_.input_types[input]));
  }
  return absl::OkStatus();
}

// In memory, but what is more than a part should be: keys may be few.
absl::StatusOr<std::vector<RecordBatch>> KeyParts::TakeAll(int input, KeptRecords* records) const {
  const RecordType& type = vertex_.input_types[input];
  if (records->spilled_bytes() > 2 * part_bytes_) return records->Take(type);
  std::vector<RecordBatch> all;
  while (!records->empty()) {
    WEIR_ASSIGN_OR_RETURN(RecordBatch batch, records->TakeOne(type));
    all.push_back(std::move(batch));
  }
  return all;
}

absl::StatusOr<std::vector<std::vector<RecordBatch>>> KeyParts::TakeNext() {
  if (inner_ != nullptr) {
    WEIR_ASSIGN_OR_RETURN(std::vector<std::vector<RecordBatch>> inputs, inner_->TakeNext());
    if (!inputs.empty() || !inner_->done()) return inputs;
    inner_ = nullptr;
  }
  while (next_ < parts_.size()) {
    std::vector<KeptRecords>& part = parts_[next_++];
    std::vector<std::vector<RecordBatch>> inputs;
    if (const int64_t bytes = BytesOf(part); IsWorthCutting(bytes)) {
      inner_.reset(new KeyParts(vertex_, std::move(part), bytes, part_bytes_, level_ + 1));
      return inputs;
    }
    bool any = false;
    for (size_t input = 0; input < part.size(); ++input) {
      WEIR_ASSIGN_OR_RETURN(std::vector<RecordBatch> all,
                            TakeAll(static_cast<int>(input), &part[input]));
      inputs.push_back(std::move(all));
      any = any || !inputs.back().empty();
    }
    if (any) return inputs;
  }
  return std::vector<std::vector<RecordBatch>>();
}

int64_t KeyParts::bytes() const {
  int64_t bytes = inner_ == nullptr ? 0 : inner_->bytes();
  for (const KeptRecords& records : left_) bytes += records.bytes();
  for (const auto& part : parts_) {
    for (const KeptRecords& records : part) bytes += records.bytes();
  }
  return bytes;
}

int64_t KeyParts::spilled_bytes() const {
  int64_t bytes = inner_ == nullptr ? 0 : inner_->spilled_bytes();
  for (const KeptRecords& records : left_) bytes += records.spilled_bytes();
  for (const auto& part : parts_) {
    for (const KeptRecords& records : part) bytes += records.spilled_bytes();
  }
  return bytes;
}

}  // namespace weir
