// The scalar library: every function that an element-wise op applies to one element. Pure
// functions; usable from any thread.
//
//   float y = scalar::Tanh(scalar::Exp(x));
#ifndef WEIR_COMMON_OPS_SCALAR_SCALAR_H_
#define WEIR_COMMON_OPS_SCALAR_SCALAR_H_

#include "common/ops/scalar/arithmetic.h"
#include "common/ops/scalar/complex.h"
#include "common/ops/scalar/convert.h"
#include "common/ops/scalar/erf.h"
#include "common/ops/scalar/exp.h"
#include "common/ops/scalar/gamma.h"
#include "common/ops/scalar/hyperbolic.h"
#include "common/ops/scalar/integer.h"
#include "common/ops/scalar/inverse_trig.h"
#include "common/ops/scalar/log.h"
#include "common/ops/scalar/power.h"
#include "common/ops/scalar/rounding.h"
#include "common/ops/scalar/trig.h"

#endif  // WEIR_COMMON_OPS_SCALAR_SCALAR_H_
