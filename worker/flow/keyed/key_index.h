// Numbers for keys: rows of some columns, by bits, each with a number from 0 on that stays until
// it is freed. Rows are hashed and looked up some at a time, so that memory is asked for before it
// is needed; those that come part by part (key_order.h) find it near. Owned by the state of a
// vertex; thread-compatible, and neither copied nor moved.
#ifndef WEIR_WORKER_FLOW_KEYED_KEY_INDEX_H_
#define WEIR_WORKER_FLOW_KEYED_KEY_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/flow/record_batch.h"
#include "worker/flow/keyed/key_hash.h"
#include "worker/flow/keyed/key_table.h"
#include "worker/flow/keyed/stored_column.h"
#include "worker/flow/memory/table_vector.h"

namespace weir {

class KeyIndex {
 public:
  static constexpr uint32_t kNone = KeyTable::kNone;

  // Keys have these columns, perhaps none.
  explicit KeyIndex(const RecordType& type);
  KeyIndex(const KeyIndex&) = delete;
  KeyIndex& operator=(const KeyIndex&) = delete;

  // (*numbers)[i] becomes the number of row i of the first columns; a key that is new gets one.
  // Errors: RESOURCE_EXHAUSTED, there are 2^32 - 1 keys.
  absl::Status FindOrAdd(absl::Span<const Tensor> columns, int64_t rows,
                         std::vector<uint32_t>* numbers);
  // The same, but a key that is new gets none: its number is kNone.
  void Find(absl::Span<const Tensor> columns, int64_t rows, std::vector<uint32_t>* numbers) const;
  // The number may be that of another key from now on. REQUIRES: it is one.
  void Free(uint32_t number);

  // All numbers are below.
  int64_t limit() const { return limit_; }
  // The columns of the keys with these numbers.
  std::vector<Tensor> Keys(absl::Span<const uint32_t> numbers) const {
    return Gather(columns_, numbers);
  }
  const std::byte* Value(int column, uint32_t number) const { return columns_[column].row(number); }
  // An order of keys, by bytes: below, at or above zero.
  int Compare(uint32_t a, uint32_t b) const;
  int64_t bytes() const;

 private:
  static constexpr int64_t kBlock = 64;

  // Some rows that are looked for, and their hashes and tags.
  struct Block {
    Block(const KeyRows& rows, int64_t begin, int64_t size)
        : rows(rows), begin(begin), size(static_cast<size_t>(size)) {}

    const KeyRows& rows;
    const int64_t begin;
    const size_t size;
    uint64_t hashes[kBlock];
    uint64_t tags[kBlock];
  };

  void Read(Block* block) const;
  // Whether an entry is that of a row of the block.
  auto IsRow(const Block& block, size_t i) const {
    return [this, &block, i](const KeyTable::Entry& entry) {
      return entry.tag == block.tags[i] &&
             (are_words_ || IsKey(entry.number, block.rows, block.begin + static_cast<int64_t>(i)));
    };
  }
  auto HashOfEntry() const {
    return [this](const KeyTable::Entry& e) { return are_words_ ? HashOfWord(e.tag) : e.tag; };
  }
  bool IsKey(uint32_t number, const KeyRows& rows, int64_t row) const;
  void AddBlock(const Block& block, uint32_t* numbers);
  // A number that no key has, and its place in columns_.
  uint32_t NewNumber();

  std::vector<StoredColumn> columns_;
  const bool are_words_;  // a key is one value of at most 8 bytes
  int64_t limit_ = 0;
  TableVector<uint32_t> free_;
  KeyTable table_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_KEY_INDEX_H_
