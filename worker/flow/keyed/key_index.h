// Numbers for keys: rows of some columns, by bits, each with a number from 0 on that stays until
// it is freed. Rows are hashed and looked up some at a time, so that memory is asked for before it
// is needed. Owned by the state of a vertex; thread-compatible, and neither copied nor moved.
#ifndef WEIR_WORKER_FLOW_KEYED_KEY_INDEX_H_
#define WEIR_WORKER_FLOW_KEYED_KEY_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/flow/record_batch.h"
#include "worker/flow/keyed/stored_column.h"
#include "worker/flow/memory/table_vector.h"

namespace weir {

class KeyIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

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
  struct Source {
    const std::byte* data;
    size_t stride;
  };
  // A row that is looked for.
  struct Probe {
    uint64_t hash;
    const std::vector<Source>* sources;
    int64_t row;
  };
  struct Hash {
    using is_transparent = void;
    const KeyIndex* index;
    size_t operator()(uint32_t number) const { return index->hashes_[number]; }
    size_t operator()(const Probe& probe) const { return probe.hash; }
  };
  struct Equal {
    using is_transparent = void;
    const KeyIndex* index;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(uint32_t number, const Probe& probe) const {
      return index->IsKey(number, probe);
    }
    bool operator()(const Probe& probe, uint32_t number) const {
      return index->IsKey(number, probe);
    }
  };
  static constexpr int64_t kBlock = 64;

  std::vector<Source> SourcesOf(absl::Span<const Tensor> columns) const;
  static void HashRows(const std::vector<Source>& sources, int64_t begin, int64_t end,
                       uint64_t* hashes);
  bool IsKey(uint32_t number, const Probe& probe) const;
  void AddWords(const std::byte* words, int64_t rows, uint32_t* numbers);
  void AddRows(const std::vector<Source>& sources, int64_t rows, uint32_t* numbers);
  // A number that no key has, and its place in columns_.
  uint32_t NewNumber();

  std::vector<StoredColumn> columns_;
  const bool is_word_;  // keys are one column of 8 bytes
  int64_t limit_ = 0;
  TableVector<uint32_t> free_;
  // Of words: the key stands beside its number, where looking for it ends.
  absl::flat_hash_map<uint64_t, uint32_t, absl::Hash<uint64_t>, std::equal_to<uint64_t>,
                      TableAllocator<std::pair<const uint64_t, uint32_t>>>
      words_;
  // Of other keys.
  TableVector<uint64_t> hashes_;  // by number
  absl::flat_hash_set<uint32_t, Hash, Equal, TableAllocator<uint32_t>> numbers_;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_KEY_INDEX_H_
