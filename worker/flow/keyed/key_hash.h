// Hashes of keys for tables of one worker. Their upper bits say which part of a table a key is in:
// whoever takes keys part by part has the rest of the table out of the way. Not those by which keys
// go to workers, so that the keys of one worker are spread over all parts. Stateless; usable from
// any thread.
#ifndef WEIR_WORKER_FLOW_KEYED_KEY_HASH_H_
#define WEIR_WORKER_FLOW_KEYED_KEY_HASH_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "common/tensor/tensor.h"

namespace weir {

// Both halves of a product, so that each bit of a word counts in all of them.
inline uint64_t Folded(uint64_t word, uint64_t factor) {
  const auto product = static_cast<unsigned __int128>(word) * factor;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
// Twice, as keys at equal distances come back at equal distances from one product.
inline uint64_t HashOfWord(uint64_t word) {
  return Folded(Folded(word ^ 0xa0761d6478bd642f, 0xe7037ed1a0b428db) ^ 0x8ebc6af09c88c6e3,
                0x9e3779b97f4a7c15);
}

// Of a table of a few million keys a part fits into the cache.
inline constexpr int kKeyPartBits = 7;
inline constexpr size_t kKeyParts = size_t{1} << kKeyPartBits;
inline size_t KeyPartOf(uint64_t hash) { return hash >> (64 - kKeyPartBits); }

// The columns of keys, read row by row.
class KeyRows {
 public:
  struct Column {
    const std::byte* data;
    size_t stride;  // bytes of a row
  };

  KeyRows() = default;
  // The first `count` columns, with `rows` rows each. REQUIRES: they are row-major and outlive
  // this.
  KeyRows(absl::Span<const Tensor> columns, int64_t count, int64_t rows);

  void Add(Column column) { columns_.push_back(column); }

  const std::byte* row(size_t column, int64_t row) const {
    return columns_[column].data + row * columns_[column].stride;
  }
  // Whether a value of so many bytes fits a word.
  static bool IsWord(size_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }
  // The values of the only column in rows from `begin` on, filled up with zeros. REQUIRES: they fit
  // words.
  void Words(int64_t begin, absl::Span<uint64_t> words) const;
  // The hashes of rows from `begin` on; of words HashOfWord.
  void Hashes(int64_t begin, absl::Span<uint64_t> hashes) const;

 private:
  absl::InlinedVector<Column, 4> columns_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_KEY_HASH_H_
