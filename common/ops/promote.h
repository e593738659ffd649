// Which element type an operation on two element types has: the type promotion lattice that JAX
// publishes ("Type promotion semantics"). Only builders use it, to insert `convert`; the IR
// promotes nothing. Pure functions; usable from any thread.
//
//   Promote(DType::kI32, DType::kF16);              // f16
//   Promote(DType::kF32, ScalarKind::kInt);         // f32: a literal bends to the tensor
#ifndef WEIR_COMMON_OPS_PROMOTE_H_
#define WEIR_COMMON_OPS_PROMOTE_H_

#include "common/tensor/dtype.h"

namespace weir {

// A literal of the host language, which has a kind but no width (a "weak" type).
enum class ScalarKind { kInt, kFloat, kComplex };

// Integers that no integer type holds (u64 with a signed one) meet in the weak float; with f64
// around that is f64.
DType Promote(DType a, DType b);
// A literal of a wider kind than the tensor takes the tensor into the 64-bit type of its kind
// (c128 for complex), except that a float or complex literal keeps the width of a float.
DType Promote(DType tensor, ScalarKind literal);

}  // namespace weir

#endif  // WEIR_COMMON_OPS_PROMOTE_H_
