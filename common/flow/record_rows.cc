#include "common/flow/record_rows.h"

#include <cstring>

#include "common/flow/key_hashes.h"

namespace weir {
namespace {

// FNV-1a over 64-bit words with a finalizer (public domain: Fowler, Noll, Vo; mixing as in
// MurmurHash3's fmix64).
constexpr uint64_t kBasis = 0xcbf29ce484222325;
constexpr uint64_t kPrime = 0x100000001b3;

inline uint64_t AddWord(uint64_t hash, const std::byte* data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof(word));
  hash = (hash ^ word) * kPrime;
  return hash ^ (hash >> 29);
}

uint64_t Add(uint64_t hash, const std::byte* data, size_t size) {
  while (size >= sizeof(uint64_t)) {
    hash = AddWord(hash, data);
    data += sizeof(uint64_t);
    size -= sizeof(uint64_t);
  }
  for (size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<uint64_t>(data[i])) * kPrime;
  return hash;
}

inline uint64_t Finish(uint64_t hash) {
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccd;
  hash ^= hash >> 33;
  hash *= 0xc4ceb9fe1a85ec53;
  return hash ^ (hash >> 33);
}

// Of keys that are one word each: the same loop for what processors have, as it is all products of
// 64 bits.
using HashWordsFn = void (*)(const std::byte* words, uint64_t* out, size_t count);
#define WEIR_HASH_WORDS(Name, TARGET)                                     \
  TARGET void Name(const std::byte* words, uint64_t* out, size_t count) { \
    for (size_t i = 0; i < count; ++i) {                                  \
      out[i] = Finish(AddWord(kBasis, words + i * sizeof(uint64_t)));     \
    }                                                                     \
  }

WEIR_HASH_WORDS(HashWords, )
#if defined(__x86_64__)
WEIR_HASH_WORDS(HashWordsAvx512,
                __attribute__((target("avx512f,avx512dq,prefer-vector-width=512"))))
#endif
#undef WEIR_HASH_WORDS

HashWordsFn PickHashWords() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    return &HashWordsAvx512;
  }
#endif
  return &HashWords;
}

}  // namespace

uint64_t HashOfOrigin(int64_t origin) {
  return Finish(kBasis ^ (static_cast<uint64_t>(origin) * kPrime));
}

RecordRows::RecordRows(const RecordBatch& batch, int columns) {
  for (int i = 0; i < columns; ++i) {
    const Tensor& column = batch.columns[i];
    const int64_t rows = column.extent(0);
    const size_t stride = rows == 0 ? 0 : static_cast<size_t>(column.num_bytes() / rows);
    columns_.push_back({column.raw_data(), stride});
  }
}

uint64_t RecordRows::Hash(int64_t row) const {
  uint64_t hash = kBasis;
  for (const Column& column : columns_) {
    hash = Add(hash, column.data + row * column.stride, column.stride);
  }
  return Finish(hash);
}

int RecordRows::Compare(int64_t row, const RecordRows& other, int64_t other_row) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& a = columns_[i];
    const Column& b = other.columns_[i];
    const int order = std::memcmp(a.data + row * a.stride, b.data + other_row * b.stride, a.stride);
    if (order != 0) return order;
  }
  return 0;
}

std::string RecordRows::Bytes(int64_t row) const {
  std::string bytes;
  for (const Column& column : columns_) {
    bytes.append(reinterpret_cast<const char*>(column.data) + row * column.stride, column.stride);
  }
  return bytes;
}

void HashKeys(const RecordBatch& batch, int keys, int64_t begin, absl::Span<uint64_t> out) {
  const bool is_one_word = keys == 1 && batch.columns[0].rank() == 1 &&
                           SizeOf(batch.columns[0].dtype()) == sizeof(uint64_t);
  if (is_one_word) {
    static const HashWordsFn hash_words = PickHashWords();
    return hash_words(batch.columns[0].raw_data() + begin * sizeof(uint64_t), out.data(),
                      out.size());
  }
  const RecordRows rows(batch, keys);
  for (uint64_t& hash : out) hash = rows.Hash(begin++);
}

}  // namespace weir
