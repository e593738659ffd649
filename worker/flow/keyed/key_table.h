// Numbers by the hashes of their keys: the table behind a KeyIndex. Once it has many entries it is
// in parts (KeyPartOf), each of which grows by itself, so that keys may come part by part. A tag
// stands beside each number: the key itself if it fits, else its hash. Owned by a KeyIndex;
// thread-compatible.
#ifndef WEIR_WORKER_FLOW_KEYED_KEY_TABLE_H_
#define WEIR_WORKER_FLOW_KEYED_KEY_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "worker/flow/keyed/key_hash.h"
#include "worker/flow/memory/table_vector.h"

namespace weir {

class KeyTable {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  struct Entry {
    uint64_t tag = 0;
    uint32_t number = kNone;  // kNone: nothing is here
  };

  KeyTable() : parts_(1) {}

  // Asks memory for where the search for a hash begins.
  void Prefetch(uint64_t hash) const {
    const Part& part = PartFor(hash);
    __builtin_prefetch(&part.entries[part.Home(hash)]);
  }
  // Returns: the entry of this hash that is_it(entry) is true of, or the empty one where it would
  // be.
  template <class IsIt>
  const Entry& Find(uint64_t hash, IsIt is_it) const {
    const Part& part = PartFor(hash);
    return part.entries[part.Seek(hash, is_it)];
  }
  template <class IsIt>
  Entry& Find(uint64_t hash, IsIt is_it) {
    Part& part = PartFor(hash);
    return part.entries[part.Seek(hash, is_it)];
  }
  // REQUIRES: Find gave the entry for this hash, and it is empty. hash_of(entry) is the hash that
  // an entry was filled with. Entries move.
  template <class HashOf>
  void Fill(Entry* entry, uint64_t hash, Entry content, HashOf hash_of) {
    Part& part = PartFor(hash);
    if (!part.IsFull()) {
      *entry = content;
      ++part.size;
      return;
    }
    if (parts_.size() == 1 && part.entries.size() == kMostTogether) {
      CutIntoParts(hash_of);
    } else {
      part.Grow(hash_of);
    }
    Insert(hash, content, hash_of);
  }
  // REQUIRES: Find gave the entry for this hash, and it is filled. Entries move.
  template <class HashOf>
  void Erase(Entry* entry, uint64_t hash, HashOf hash_of) {
    PartFor(hash).Erase(static_cast<size_t>(entry - PartFor(hash).entries.data()), hash_of);
  }

  int64_t bytes() const {
    size_t entries = 0;
    for (const Part& part : parts_) entries += part.entries.capacity();
    return static_cast<int64_t>(entries * sizeof(Entry) + parts_.capacity() * sizeof(Part));
  }

 private:
  static constexpr size_t kFirstEntries = 16;
  static constexpr size_t kMostTogether = size_t{32} << 10;

  struct Part {
    // Behind the bits that say which part it is.
    size_t Home(uint64_t hash) const { return (hash << kKeyPartBits) >> shift; }
    size_t mask() const { return entries.size() - 1; }
    bool IsFull() const { return (size + 1) * 8 > entries.size() * 5; }

    template <class IsIt>
    size_t Seek(uint64_t hash, IsIt is_it) const {
      size_t at = Home(hash);
      while (entries[at].number != kNone && !is_it(entries[at])) at = (at + 1) & mask();
      return at;
    }
    template <class HashOf>
    void Grow(HashOf hash_of) {
      TableVector<Entry> before(entries.size() * 2, Entry(), entries.get_allocator());
      before.swap(entries);
      --shift;
      for (const Entry& entry : before) {
        if (entry.number == kNone) continue;
        entries[Seek(hash_of(entry), [](const Entry&) { return false; })] = entry;
      }
    }
    template <class HashOf>
    void Erase(size_t gap, HashOf hash_of) {
      // What stands behind the gap moves into it, unless that is before its own place.
      for (size_t at = (gap + 1) & mask(); entries[at].number != kNone; at = (at + 1) & mask()) {
        const size_t home = Home(hash_of(entries[at]));
        if (((at - home) & mask()) < ((at - gap) & mask())) continue;
        entries[gap] = entries[at];
        gap = at;
      }
      entries[gap] = Entry();
      --size;
    }

    TableVector<Entry> entries = TableVector<Entry>(kFirstEntries);  // a power of 2
    int shift = 60;                                                  // 64 - log2(entries.size())
    size_t size = 0;                                                 // of them are filled
  };

  const Part& PartFor(uint64_t hash) const {
    return parts_[parts_.size() == 1 ? 0 : KeyPartOf(hash)];
  }
  Part& PartFor(uint64_t hash) { return parts_[parts_.size() == 1 ? 0 : KeyPartOf(hash)]; }

  template <class HashOf>
  void Insert(uint64_t hash, Entry content, HashOf hash_of) {
    Part& part = PartFor(hash);
    if (part.IsFull()) part.Grow(hash_of);
    part.entries[part.Seek(hash, [](const Entry&) { return false; })] = content;
    ++part.size;
  }
  template <class HashOf>
  void CutIntoParts(HashOf hash_of) {
    const Part whole = std::move(parts_[0]);
    parts_ = std::vector<Part>(kKeyParts);
    for (const Entry& entry : whole.entries) {
      if (entry.number != kNone) Insert(hash_of(entry), entry, hash_of);
    }
  }

  std::vector<Part> parts_;  // one, or kKeyParts
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_KEY_TABLE_H_
