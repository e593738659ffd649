#include "worker/flow/frame_split.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "common/flow/key_hashes.h"
#include "common/flow/record_rows.h"

namespace weir {
namespace {

void AddFrames(RecordBatch batch, int rank, int64_t max_bytes, std::vector<FramePart>* parts) {
  const int64_t records = batch.size();
  if (records == 0) return;
  const int64_t bytes = batch.bytes();
  if (bytes <= max_bytes || records == 1) {
    parts->push_back({rank, std::move(batch)});
    return;
  }
  const int64_t most = std::max<int64_t>(1, max_bytes / std::max<int64_t>(1, bytes / records));
  for (int64_t begin = 0; begin < records; begin += most) {
    parts->push_back({rank, SliceRows(batch, begin, std::min(records, begin + most))});
  }
}

// Which worker each record of a batch goes to.
class Owners {
 public:
  // `hashes_of(begin, out)` gives the hashes of rows from `begin` on.
  template <class HashesOf>
  Owners(int64_t records, int workers, HashesOf hashes_of)
      : owners_(static_cast<size_t>(records)), counts_(static_cast<size_t>(workers), 0) {
    std::array<uint16_t, kKeyGroups> owner_of;
    for (int group = 0; group < kKeyGroups; ++group) {
      owner_of[group] = static_cast<uint16_t>(WorkerOfGroup(group, workers));
    }
    std::array<uint64_t, 256> hashes;
    for (size_t begin = 0; begin < owners_.size(); begin += hashes.size()) {
      const size_t count = std::min(hashes.size(), owners_.size() - begin);
      hashes_of(static_cast<int64_t>(begin), absl::MakeSpan(hashes.data(), count));
      for (size_t i = 0; i < count; ++i) {
        const uint16_t owner = owner_of[KeyGroupOf(hashes[i])];
        owners_[begin + i] = owner;
        ++counts_[owner];
      }
    }
  }

  // The rows of each worker, in their order.
  std::vector<Tensor> Part(const Tensor& column) const {
    const int64_t bytes = column.num_bytes() / column.extent(0);
    if (bytes == 8) return PartAs<Word<8>>(column);
    if (bytes == 4) return PartAs<Word<4>>(column);
    std::vector<Tensor> parts = Allocated(column);
    std::vector<std::byte*> ends = Begins<std::byte>(&parts);
    const std::byte* in = column.raw_data();
    for (const uint16_t owner : owners_) {
      std::memcpy(ends[owner], in, bytes);
      ends[owner] += bytes;
      in += bytes;
    }
    return parts;
  }

 private:
  template <int kBytes>
  struct Word {
    std::byte bytes[kBytes];
  };

  std::vector<Tensor> Allocated(const Tensor& column) const {
    std::vector<Tensor> parts;
    Extents extents(column.extents().begin(), column.extents().end());
    for (const int64_t count : counts_) {
      extents[0] = count;
      parts.push_back(Tensor(column.dtype(), extents));
    }
    return parts;
  }

  template <class Element>
  std::vector<Element*> Begins(std::vector<Tensor>* parts) const {
    std::vector<Element*> begins;
    for (Tensor& part : *parts) {
      begins.push_back(reinterpret_cast<Element*>(part.raw_mutable_data()));
    }
    return begins;
  }

  template <class Element>
  std::vector<Tensor> PartAs(const Tensor& column) const {
    std::vector<Tensor> parts = Allocated(column);
    std::vector<Element*> ends = Begins<Element>(&parts);
    const auto* in = reinterpret_cast<const Element*>(column.raw_data());
    for (const uint16_t owner : owners_) *ends[owner]++ = *in++;
    return parts;
  }

  std::vector<uint16_t> owners_;  // by row
  std::vector<int64_t> counts_;   // by worker
};

template <class HashesOf>
void AddByHash(const RecordBatch& batch, int workers, int64_t max_bytes, HashesOf hashes_of,
               std::vector<FramePart>* parts) {
  if (workers == 1 || batch.empty()) return AddFrames(batch, 0, max_bytes, parts);
  const Owners owners(batch.size(), workers, hashes_of);
  std::vector<RecordBatch> batches(static_cast<size_t>(workers));
  for (const Tensor& column : batch.columns) {
    std::vector<Tensor> columns = owners.Part(column);
    for (int r = 0; r < workers; ++r) batches[r].columns.push_back(std::move(columns[r]));
  }
  std::vector<Tensor> origins = owners.Part(batch.origins);
  for (int r = 0; r < workers; ++r) batches[r].origins = std::move(origins[r]);
  if (batch.weights) {
    std::vector<Tensor> weights = owners.Part(*batch.weights);
    for (int r = 0; r < workers; ++r) batches[r].weights = std::move(weights[r]);
  }
  for (int r = 0; r < workers; ++r) AddFrames(std::move(batches[r]), r, max_bytes, parts);
}

}  // namespace

std::vector<FramePart> SplitFrame(const RecordBatch& batch, const Routing& routing, int rank,
                                  int workers, int64_t max_bytes) {
  std::vector<FramePart> parts;
  switch (routing.to) {
    case Routing::To::kSelf:
      AddFrames(batch, rank, max_bytes, &parts);
      break;
    case Routing::To::kRoot:
      AddFrames(batch, 0, max_bytes, &parts);
      break;
    case Routing::To::kAll:
      for (int r = 0; r < workers; ++r) AddFrames(batch, r, max_bytes, &parts);
      break;
    case Routing::To::kKey: {
      const auto hashes_of = [&](int64_t begin, absl::Span<uint64_t> out) {
        HashKeys(batch, routing.keys, begin, out);
      };
      AddByHash(batch, workers, max_bytes, hashes_of, &parts);
      break;
    }
    case Routing::To::kOrigin: {
      const auto hashes_of = [&](int64_t begin, absl::Span<uint64_t> out) {
        for (uint64_t& hash : out) hash = HashOfOrigin(batch.origin(begin++));
      };
      AddByHash(batch, workers, max_bytes, hashes_of, &parts);
      break;
    }
  }
  return parts;
}

}  // namespace weir
