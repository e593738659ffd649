#include "worker/flow/keyed/key_index.h"

#include <algorithm>
#include <cstring>

#include "common/base/status.h"

namespace weir {

KeyIndex::KeyIndex(const RecordType& type)
    : columns_(StoredColumns(type)),
      are_words_(columns_.size() == 1 && KeyRows::IsWord(columns_[0].stride)) {}

void KeyIndex::Read(Block* block) const {
  const auto tags = absl::MakeSpan(block->tags, block->size);
  if (!are_words_) {
    block->rows.Hashes(block->begin, tags);
    std::copy(tags.begin(), tags.end(), block->hashes);
  } else {
    block->rows.Words(block->begin, tags);
    std::transform(tags.begin(), tags.end(), block->hashes, HashOfWord);
  }
  for (size_t i = 0; i < block->size; ++i) table_.Prefetch(block->hashes[i]);
}

bool KeyIndex::IsKey(uint32_t number, const KeyRows& rows, int64_t row) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const StoredColumn& column = columns_[i];
    if (std::memcmp(column.row(number), rows.row(i, row), column.stride) != 0) return false;
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
  return static_cast<uint32_t>(limit_++);
}

absl::Status KeyIndex::FindOrAdd(absl::Span<const Tensor> columns, int64_t rows,
                                 std::vector<uint32_t>* numbers) {
  if (limit_ + rows >= kNone) {
    return absl::ResourceExhaustedError(
        StrCat("there are ", limit_, " keys on this worker; up to ", kNone, " are possible"));
  }
  numbers->resize(rows);
  const KeyRows keys(columns, static_cast<int64_t>(columns_.size()), rows);
  for (int64_t begin = 0; begin < rows; begin += kBlock) {
    Block block(keys, begin, std::min(kBlock, rows - begin));
    Read(&block);
    AddBlock(block, numbers->data() + begin);
  }
  return absl::OkStatus();
}

void KeyIndex::AddBlock(const Block& block, uint32_t* numbers) {
  for (size_t i = 0; i < block.size; ++i) {
    KeyTable::Entry& entry = table_.Find(block.hashes[i], IsRow(block, i));
    uint32_t number = entry.number;
    if (number == kNone) {
      number = NewNumber();
      for (size_t c = 0; c < columns_.size(); ++c) {
        const std::byte* row = block.rows.row(c, block.begin + static_cast<int64_t>(i));
        std::memcpy(columns_[c].row(number), row, columns_[c].stride);
      }
      table_.Fill(&entry, block.hashes[i], {block.tags[i], number}, HashOfEntry());
    }
    numbers[i] = number;
  }
}

void KeyIndex::Find(absl::Span<const Tensor> columns, int64_t rows,
                    std::vector<uint32_t>* numbers) const {
  numbers->resize(rows);
  const KeyRows keys(columns, static_cast<int64_t>(columns_.size()), rows);
  for (int64_t begin = 0; begin < rows; begin += kBlock) {
    Block block(keys, begin, std::min(kBlock, rows - begin));
    Read(&block);
    uint32_t* const found = numbers->data() + begin;
    for (size_t i = 0; i < block.size; ++i) {
      found[i] = table_.Find(block.hashes[i], IsRow(block, i)).number;
    }
  }
}

void KeyIndex::Free(uint32_t number) {
  KeyRows key;
  for (const StoredColumn& column : columns_) key.Add({column.row(number), column.stride});
  Block block(key, 0, 1);
  Read(&block);
  const uint64_t hash = block.hashes[0];
  table_.Erase(&table_.Find(hash, IsRow(block, 0)), hash, HashOfEntry());
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
  return BytesOf(columns_) + table_.bytes() +
         static_cast<int64_t>(free_.capacity() * sizeof(uint32_t));
}

}  // namespace weir
