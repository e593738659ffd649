// Random numbers for state machines: where to place, whom to ask, how long to wait.
//
// A generator is counter-based: its n-th number is a pure function of (seed, stream, n), so a run
// is repeated by repeating the seed, and forked streams do not disturb each other. Not for tensors
// (their numbers are an op) and not for secrets. Thread-compatible.
#ifndef WEIR_COMMON_BASE_RANDOM_H_
#define WEIR_COMMON_BASE_RANDOM_H_

#include <cstdint>
#include <string>

namespace weir {

class Random {
 public:
  virtual ~Random() = default;

  // Returns: 64 uniform bits.
  virtual uint64_t Next() = 0;

  // Returns: a uniform number in [0, bound). REQUIRES: bound > 0.
  uint64_t Below(uint64_t bound);
  // Returns: a uniform number in [0, 1) with 53 random bits.
  double Unit();
  // Returns: true with this probability; 0 is never and 1 is always.
  bool Chance(double probability) { return Unit() < probability; }
};

class SeededRandom : public Random {
 public:
  explicit SeededRandom(uint64_t seed, uint64_t stream = 0);
  uint64_t Next() override;

  // Returns: a generator of its own for `stream`; the same one however many numbers were drawn
  // here.
  SeededRandom Fork(uint64_t stream) const;

 private:
  uint64_t key_;
  uint64_t counter_ = 0;
};

// Returns: a seed from the operating system.
uint64_t SystemSeed();

// Returns: a name that no other call on any machine returns: `prefix` and 16 random hexadecimal
// digits.
std::string UniqueName(const std::string& prefix);

}  // namespace weir

#endif  // WEIR_COMMON_BASE_RANDOM_H_
