#include "worker/flow/owned_rows.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weir {
namespace {

uint64_t WordAt(const std::byte* words, size_t row) {
  uint64_t word;
  std::memcpy(&word, words + row * sizeof(word), sizeof(word));
  return word;
}

// Writes what each row gives and goes on only behind those that are owned: no branch depends on the
// owners.
template <class Out, class Of>
void TakeOneByOne(absl::Span<const uint16_t> owners, uint16_t owner, size_t row, Of of,
                  absl::Span<Out> out) {
  for (size_t end = 0; end < out.size(); ++row) {
    out[end] = of(row);
    end += owners[row] == owner ? 1 : 0;
  }
}

#if defined(__x86_64__)

#define WEIR_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))
constexpr size_t kLanes = 32;  // owners of one comparison

bool HasAvx512() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl");
  return has;
}

WEIR_AVX512 uint32_t MaskOf(const uint16_t* owners, __m512i owner) {
  return _mm512_cmpeq_epi16_mask(_mm512_loadu_si512(owners), owner);
}

WEIR_AVX512 size_t CountWide(absl::Span<const uint16_t> owners, uint16_t owner) {
  const __m512i wanted = _mm512_set1_epi16(static_cast<int16_t>(owner));
  size_t count = 0;
  size_t row = 0;
  for (; row + kLanes <= owners.size(); row += kLanes) {
    count += static_cast<size_t>(__builtin_popcount(MaskOf(owners.data() + row, wanted)));
  }
  for (; row < owners.size(); ++row) count += owners[row] == owner ? 1 : 0;
  return count;
}

// Both return from which row on what is left goes one by one, and how many are done: a store of a
// whole vector needs room for it.
struct Done {
  size_t row = 0;
  size_t taken = 0;
};

WEIR_AVX512 Done ListWide(absl::Span<const uint16_t> owners, uint16_t owner,
                          absl::Span<uint32_t> out) {
  const __m512i wanted = _mm512_set1_epi16(static_cast<int16_t>(owner));
  __m512i rows = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i step = _mm512_set1_epi32(16);
  Done done;
  for (; done.row + kLanes <= owners.size() && done.taken + kLanes <= out.size();
       done.row += kLanes) {
    uint32_t mask = MaskOf(owners.data() + done.row, wanted);
    for (int half = 0; half < 2; ++half, mask >>= 16) {
      const auto part = static_cast<__mmask16>(mask);
      _mm512_storeu_si512(out.data() + done.taken, _mm512_maskz_compress_epi32(part, rows));
      done.taken += static_cast<size_t>(__builtin_popcount(part));
      rows = _mm512_add_epi32(rows, step);
    }
  }
  return done;
}

WEIR_AVX512 Done TakeWide(absl::Span<const uint16_t> owners, uint16_t owner, const std::byte* words,
                          absl::Span<uint64_t> out) {
  const __m512i wanted = _mm512_set1_epi16(static_cast<int16_t>(owner));
  Done done;
  for (; done.row + kLanes <= owners.size() && done.taken + kLanes <= out.size();
       done.row += kLanes) {
    uint32_t mask = MaskOf(owners.data() + done.row, wanted);
    for (size_t part = 0; part < kLanes / 8; ++part, mask >>= 8) {
      const auto some = static_cast<__mmask8>(mask);
      const __m512i in = _mm512_loadu_si512(words + (done.row + 8 * part) * sizeof(uint64_t));
      _mm512_storeu_si512(out.data() + done.taken, _mm512_maskz_compress_epi64(some, in));
      done.taken += static_cast<size_t>(__builtin_popcount(some));
    }
  }
  return done;
}

#endif

}  // namespace

size_t CountOwned(absl::Span<const uint16_t> owners, uint16_t owner) {
#if defined(__x86_64__)
  if (HasAvx512()) return CountWide(owners, owner);
#endif
  return static_cast<size_t>(std::count(owners.begin(), owners.end(), owner));
}

void ListOwned(absl::Span<const uint16_t> owners, uint16_t owner, absl::Span<uint32_t> out) {
  size_t row = 0;
#if defined(__x86_64__)
  if (HasAvx512()) {
    const Done done = ListWide(owners, owner, out);
    row = done.row;
    out.remove_prefix(done.taken);
  }
#endif
  const auto number = [](size_t i) { return static_cast<uint32_t>(i); };
  TakeOneByOne(owners, owner, row, number, out);
}

void TakeOwned(absl::Span<const uint16_t> owners, uint16_t owner, const std::byte* words,
               absl::Span<uint64_t> out) {
  size_t row = 0;
#if defined(__x86_64__)
  if (HasAvx512()) {
    const Done done = TakeWide(owners, owner, words, out);
    row = done.row;
    out.remove_prefix(done.taken);
  }
#endif
  const auto word = [words](size_t i) { return WordAt(words, i); };
  TakeOneByOne(owners, owner, row, word, out);
}

}  // namespace weir
