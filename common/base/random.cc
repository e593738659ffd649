#include "common/base/random.h"

#include <sys/random.h>

#include <random>

#include "absl/strings/str_format.h"

namespace weir {
namespace {

// The finalizer of SplitMix64: a bijection of 64 bits in which every input bit moves every output
// bit.
uint64_t Mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;

}  // namespace

uint64_t Random::Below(uint64_t bound) {
  // Numbers below `rejected` (2^64 modulo bound) would make the low results likelier.
  const uint64_t rejected = -bound % bound;
  uint64_t x = Next();
  while (x < rejected) x = Next();
  return x % bound;
}

double Random::Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

SeededRandom::SeededRandom(uint64_t seed, uint64_t stream)
    : key_(Mix(Mix(seed + kGolden) + Mix(stream ^ kGolden))) {}

uint64_t SeededRandom::Next() { return Mix(key_ + ++counter_ * kGolden); }

SeededRandom SeededRandom::Fork(uint64_t stream) const { return SeededRandom(key_, stream); }

uint64_t SystemSeed() {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof(seed), 0) == sizeof(seed)) return seed;
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

std::string UniqueName(const std::string& prefix) {
  return absl::StrFormat("%s%016x", prefix, SystemSeed());
}

}  // namespace weir
