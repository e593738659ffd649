#include "worker/flow/keyed/key_index.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

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
    : columns_(StoredColumns(type)),
      is_word_(columns_.size() == 1 && columns_[0].stride == sizeof(uint64_t)),
      numbers_(0, Hash{this}, Equal{this}) {}

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

uint32_t KeyIndex::NewNumber() {
  if (!free_.empty()) {
    const uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  for (StoredColumn& column : columns_) column.rows.resize(column.rows.size() + column.stride);
  if (!is_word_) hashes_.push_back(0);
  return static_cast<uint32_t>(limit_++);
}

absl::Status KeyIndex::FindOrAdd(absl::Span<const Tensor> columns, int64_t rows,
                                 std::vector<uint32_t>* numbers) {
  if (limit_ + rows >= kNone) {
    return absl::ResourceExhaustedError(
        StrCat("there are ", limit_, " keys on this worker; up to ", kNone, " are possible"));
  }
  numbers->resize(rows);
  if (is_word_) {
    AddWords(columns[0].raw_data(), rows, numbers->data());
  } else {
    AddRows(SourcesOf(columns), rows, numbers->data());
  }
  return absl::OkStatus();
}

void KeyIndex::AddWords(const std::byte* words, int64_t rows, uint32_t* numbers) {
  for (int64_t begin = 0; begin < rows; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, rows);
    for (int64_t row = begin; row < end; ++row) {
      words_.prefetch(Load<uint64_t>(words + row * sizeof(uint64_t)));
    }
    for (int64_t row = begin; row < end; ++row) {
      const auto word = Load<uint64_t>(words + row * sizeof(uint64_t));
      const auto [found, is_new] = words_.try_emplace(word, kNone);
      if (is_new) {
        found->second = NewNumber();
        std::memcpy(columns_[0].row(found->second), &word, sizeof(word));
      }
      numbers[row] = found->second;
    }
  }
}

void KeyIndex::AddRows(const std::vector<Source>& sources, int64_t rows, uint32_t* numbers) {
  uint64_t hashes[kBlock];
  for (int64_t begin = 0; begin < rows; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, rows);
    HashRows(sources, begin, end, hashes);
    for (int64_t row = begin; row < end; ++row) {
      numbers_.prefetch(Probe{hashes[row - begin], &sources, row});
    }
    for (int64_t row = begin; row < end; ++row) {
      const Probe probe{hashes[row - begin], &sources, row};
      numbers[row] = *numbers_.lazy_emplace(probe, [&](const auto& construct) {
        const uint32_t number = NewNumber();
        hashes_[number] = probe.hash;
        for (size_t i = 0; i < columns_.size(); ++i) {
          const size_t stride = columns_[i].stride;
          std::memcpy(columns_[i].row(number), sources[i].data + row * stride, stride);
        }
        construct(number);
      });
    }
  }
}

void KeyIndex::Find(absl::Span<const Tensor> columns, int64_t rows,
                    std::vector<uint32_t>* numbers) const {
  numbers->resize(rows);
  const std::vector<Source> sources = SourcesOf(columns);
  uint64_t hashes[kBlock];
  for (int64_t begin = 0; begin < rows; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, rows);
    if (!is_word_) HashRows(sources, begin, end, hashes);
    for (int64_t row = begin; row < end; ++row) {
      if (is_word_) {
        const auto found = words_.find(Load<uint64_t>(sources[0].data + row * sizeof(uint64_t)));
        (*numbers)[row] = found == words_.end() ? kNone : found->second;
      } else {
        const auto found = numbers_.find(Probe{hashes[row - begin], &sources, row});
        (*numbers)[row] = found == numbers_.end() ? kNone : *found;
      }
    }
  }
}

void KeyIndex::Free(uint32_t number) {
  if (is_word_) {
    words_.erase(Load<uint64_t>(columns_[0].row(number)));
  } else {
    numbers_.erase(numbers_.find(number));
  }
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
                       numbers_.capacity() * (sizeof(uint32_t) + 1) +
                       words_.capacity() * (sizeof(std::pair<uint64_t, uint32_t>) + 1);
  return BytesOf(columns_) + static_cast<int64_t>(bytes);
}

}  // namespace weir
