// The inverse of the normal distribution function. Pure functions; usable from any thread.
//
// In the middle by the inverse of erf; in the tails by Chebyshev interpolation in the root of the
// logarithm of the probability. Computes in double; float results are rounded from that.
#ifndef WEIR_COMMON_OPS_SCALAR_NORMAL_H_
#define WEIR_COMMON_OPS_SCALAR_NORMAL_H_

#include "common/ops/scalar/base.h"
#include "common/ops/scalar/erf.h"
#include "common/ops/scalar/log.h"

namespace weir::scalar {

// For r = sqrt(-log(p)), p <= 1/50.
WEIR_ALWAYS_INLINE double NormalTail(double r) {
  const double near = AtMost(r, 5.5), far = AtLeast(r, 5.5);
  const double low = Poly(
      (2 * near - 7.46) / 3.54, 0x1.3179f20e70560p+2, 0x1.54410be591357p+1, -0x1.c663b96c7f5dap-5,
      0x1.589d44b1fc2a2p-6, -0x1.0e0135fc6f87ep-7, 0x1.b0427adaf188bp-9, -0x1.5f86820ab700cp-10,
      0x1.21872188b540dp-11, -0x1.e223c7f683860p-13, 0x1.95575bf0ec41ap-14, -0x1.57c745185b830p-15,
      0x1.25e9892c29062p-16, -0x1.fa4678cb62196p-18, 0x1.b729871a0ff0ep-19, -0x1.7f36af07272d9p-20,
      0x1.4e4b387018311p-21, -0x1.25fe839f68326p-22, 0x1.122e9c23724e9p-23, -0x1.ef53cfe5be0bcp-25,
      0x1.2b64af73dd24fp-26, -0x1.de121c6b5ac35p-28, 0x1.651562d1cf87cp-27, -0x1.63f8eac26cdfdp-28,
      -0x1.ef19f5a355c4ap-30, 0x1.0ff0534d8ce66p-30, 0x1.ffe811a84938bp-31, -0x1.ee3ba7ddc3b21p-32);
  const double high =
      far * Poly((302.5 / far - 33) / 22, 0x1.627e35f555a30p+0, -0x1.154dadbddd549p-5,
                 -0x1.f98e56fe51631p-8, 0x1.897f1d63403efp-11, -0x1.22b0e279adc5bp-13,
                 0x1.3a29961b52808p-15, -0x1.a2f4dd4b4abd3p-17, 0x1.3e2e02e697b77p-18,
                 -0x1.086165d0474ecp-19, 0x1.d522a47e352c3p-21, -0x1.b55c1f9837117p-22,
                 0x1.a689654ffec2fp-23, -0x1.a4f6d4b9ae239p-24, 0x1.c1fb507b2b546p-25,
                 -0x1.e65867158bf04p-26, 0x1.41f399d1902f2p-27, -0x1.c7970c8d8051bp-29,
                 0x1.aaedcbcc48825p-27, -0x1.401d22a0cc26dp-27, -0x1.2124c8baff2adp-27,
                 0x1.e15d2e87a0563p-28, 0x1.1144f3b4d9120p-27, -0x1.96780fe4688e3p-28,
                 -0x1.d000ad7f964dep-29, 0x1.4e868cc48c6e6p-29, 0x1.ce025db97d6edp-31,
                 -0x1.37c2afcf4d91fp-31);
  return Select(r < 5.5, low, high);
}

// -inf at 0, inf at 1, NaN beyond.
WEIR_ALWAYS_INLINE double Ndtri(double p) {
  const bool upper = p > 0.5;
  const double tail = NormalTail(Sqrt(-Log(Select(upper, 1 - p, p))));
  const double middle = ErfInv(2 * p - 1) * 0x1.6a09e667f3bcdp+0;
  return Select(p >= 0.02 && p <= 0.98, middle, Select(upper, tail, -tail));
}
WEIR_ALWAYS_INLINE float Ndtri(float p) { return static_cast<float>(Ndtri(double{p})); }

}  // namespace weir::scalar

#endif  // WEIR_COMMON_OPS_SCALAR_NORMAL_H_
