#include "worker/flow/keyed/key_hash.h"

#include <algorithm>
#include <cstring>

namespace weir {
namespace {

template <class Value>
void ReadWords(const std::byte* data, absl::Span<uint64_t> words) {
  for (size_t i = 0; i < words.size(); ++i) {
    Value value;
    std::memcpy(&value, data + i * sizeof(Value), sizeof(Value));
    words[i] = value;
  }
}

void ReadColumn(const std::byte* data, size_t stride, absl::Span<uint64_t> words) {
  switch (stride) {
    case 1:
      return ReadWords<uint8_t>(data, words);
    case 2:
      return ReadWords<uint16_t>(data, words);
    case 4:
      return ReadWords<uint32_t>(data, words);
    default:
      return ReadWords<uint64_t>(data, words);
  }
}

uint64_t HashOfBytes(uint64_t hash, const std::byte* data, size_t size) {
  for (; size > 0; data += sizeof(uint64_t)) {
    uint64_t word = 0;
    const size_t bytes = std::min(size, sizeof(word));
    std::memcpy(&word, data, bytes);
    hash = HashOfWord(hash ^ word);
    size -= bytes;
  }
  return hash;
}

}  // namespace

KeyRows::KeyRows(absl::Span<const Tensor> columns, int64_t count, int64_t rows) {
  for (int64_t i = 0; i < count; ++i) {
    const size_t stride = rows == 0 ? 0 : static_cast<size_t>(columns[i].num_bytes() / rows);
    columns_.push_back({columns[i].raw_data(), stride});
  }
}

void KeyRows::Words(int64_t begin, absl::Span<uint64_t> words) const {
  ReadColumn(row(0, begin), columns_[0].stride, words);
}

void KeyRows::Hashes(int64_t begin, absl::Span<uint64_t> hashes) const {
  constexpr size_t kBlock = 64;
  uint64_t words[kBlock];
  for (size_t at = 0; at < hashes.size(); at += kBlock) {
    const absl::Span<uint64_t> block = hashes.subspan(at, kBlock);
    std::fill(block.begin(), block.end(), 0);
    for (const Column& column : columns_) {
      const std::byte* data =
          column.data + (begin + static_cast<int64_t>(at)) * static_cast<int64_t>(column.stride);
      if (IsWord(column.stride)) {
        ReadColumn(data, column.stride, absl::MakeSpan(words, block.size()));
        for (size_t i = 0; i < block.size(); ++i) block[i] = HashOfWord(block[i] ^ words[i]);
      } else {
        for (size_t i = 0; i < block.size(); ++i) {
          block[i] = HashOfBytes(block[i], data + i * column.stride, column.stride);
        }
      }
    }
  }
}

}  // namespace weir
