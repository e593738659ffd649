#include "worker/flow/keyed/key_index.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "absl/hash/hash.h"
#include "common/base/status.h"

namespace weir {
namespace {

template <class Word>
Word Load(const std::byte* data) {
  Word word;
  std::memcpy(&word, data, sizeof(word));
  return word;
}

template <class Word>
void HashWords(const std::byte* data, int64_t rows, uint64_t* hashes) {
  for (int64_t row = 0; row < rows; ++row) {
    hashes[row] = absl::HashOf(hashes[row], Load<Word>(data + row * sizeof(Word)));
  }
}

}  // namespace

KeyIndex::KeyIndex(const RecordType& type)
    : columns_(StoredColumns(type)), numbers_(0, Hash{this}, Equal{this}) {}

std::vector<KeyIndex::Source> KeyIndex::SourcesOf(absl::Span<const Tensor> columns) const {
  std::vector<Source> sources;
  for (size_t i = 0; i < columns_.size(); ++i) {
    sources.push_back({columns[i].raw_data(), columns_[i].stride});
  }
  return sources;
}

void KeyIndex::HashRows(const std::vector<Source>& sources, int64_t begin, int64_t end,
                        uint64_t* hashes) {
  std::fill_n(hashes, end - begin, 0);
  for (const Source& source : sources) {
    const std::byte* data = source.data + begin * source.stride;
    if (source.stride == sizeof(uint64_t)) {
      HashWords<uint64_t>(data, end - begin, hashes);
    } else if (source.stride == sizeof(uint32_t)) {
      HashWords<uint32_t>(data, end - begin, hashes);
    } else {
      for (int64_t row = 0; row < end - begin; ++row) {
        const auto* bytes = reinterpret_cast<const char*>(data + row * source.stride);
        hashes[row] = absl::HashOf(hashes[row], std::string_view(bytes, source.stride));
      }
    }
  }
}

bool KeyIndex::IsKey(uint32_t number, const Probe& probe) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const size_t stride = columns_[i].stride;
    const std::byte* key = columns_[i].row(number);
    const std::byte* row = (*probe.sources)[i].data + probe.row * stride;
    if (stride == sizeof(uint64_t)) {
      if (Load<uint64_t>(key) != Load<uint64_t>(row)) return false;
    } else if (std::memcmp(key, row, stride) != 0) {
      return false;
    }
  }
  return true;
}

uint32_t KeyIndex::Add(const Probe& probe) {
  uint32_t number = static_cast<uint32_t>(hashes_.size());
  if (free_.empty()) {
    hashes_.push_back(probe.hash);
    for (StoredColumn& column : columns_) column.rows.resize(column.rows.size() + column.stride);
  } else {
    number = free_.back();
    free_.pop_back();
    hashes_[number] = probe.hash;
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    const size_t stride = columns_[i].stride;
    std::byte* key = columns_[i].row(number);
    const std::byte* row = (*probe.sources)[i].data + probe.row * stride;
    if (stride == sizeof(uint64_t)) {
      std::memcpy(key, row, sizeof(uint64_t));
    } else {
      std::memcpy(key, row, stride);
    }
  }
  return number;
}

absl::Status KeyIndex::FindOrAdd(absl::Span<const Tensor> columns, int64_t rows,
                                 std::vector<uint32_t>* numbers) {
  if (hashes_.size() + static_cast<size_t>(rows) >= kNone) {
    return absl::ResourceExhaustedError(StrCat(
        "there are ", numbers_.size(), " keys on this worker; up to ", kNone, " are possible"));
  }
  numbers->resize(rows);
  const std::vector<Source> sources = SourcesOf(columns);
  uint64_t hashes[kBlock];
  for (int64_t begin = 0; begin < rows; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, rows);
    HashRows(sources, begin, end, hashes);
    for (int64_t row = begin; row < end; ++row) {
      numbers_.prefetch(Probe{hashes[row - begin], &sources, row});
    }
    for (int64_t row = begin; row < end; ++row) {
      const Probe probe{hashes[row - begin], &sources, row};
      (*numbers)[row] =
          *numbers_.lazy_emplace(probe, [&](const auto& construct) { construct(Add(probe)); });
    }
  }
  return absl::OkStatus();
}

void KeyIndex::Find(absl::Span<const Tensor> columns, int64_t rows,
                    std::vector<uint32_t>* numbers) const {
  numbers->resize(rows);
  const std::vector<Source> sources = SourcesOf(columns);
  uint64_t hashes[kBlock];
  for (int64_t begin = 0; begin < rows; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, rows);
    HashRows(sources, begin, end, hashes);
    for (int64_t row = begin; row < end; ++row) {
      numbers_.prefetch(Probe{hashes[row - begin], &sources, row});
    }
    for (int64_t row = begin; row < end; ++row) {
      const auto found = numbers_.find(Probe{hashes[row - begin], &sources, row});
      (*numbers)[row] = found == numbers_.end() ? kNone : *found;
    }
  }
}

void KeyIndex::Free(uint32_t number) {
  numbers_.erase(numbers_.find(number));
  free_.push_back(number);
}

int KeyIndex::Compare(uint32_t a, uint32_t b) const {
  for (const StoredColumn& column : columns_) {
    const int order = std::memcmp(column.row(a), column.row(b), column.stride);
    if (order != 0) return order;
  }
  return 0;
}

int64_t KeyIndex::bytes() const {
  const size_t bytes = hashes_.capacity() * sizeof(uint64_t) + free_.capacity() * sizeof(uint32_t) +
                       numbers_.capacity() * (sizeof(uint32_t) + 1);
  return BytesOf(columns_) + static_cast<int64_t>(bytes);
}

}  // namespace weir
