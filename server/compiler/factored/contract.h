// Makes what factored values stand for, two operands at a time, in the order that takes the fewest
// multiplications. Stateless.
#ifndef WEIR_SERVER_COMPILER_FACTORED_CONTRACT_H_
#define WEIR_SERVER_COMPILER_FACTORED_CONTRACT_H_

#include "server/compiler/factored/terms.h"

namespace weir::factored {

// More operands than this have too many orders.
inline constexpr size_t kMostOperands = 5;

// Multiplications that Contracted takes, and elements that it reads and writes. REQUIRES: at most
// kMostOperands after Folded.
double CostOf(const Term& term, const Axes& out);
double CostOf(const Factored& value);
// Appends what makes the value, with its axes.
ValueId Contracted(Builder& b, const Factored& value);

// The operand as ordinary numbers: rows by index compared, windows unfolded.
Operand Dense(Builder& b, const Operand& operand, DType dtype);

// The product of two operands, summed over axes that are not in `keep` (others may be left over).
// Plain ones: a dot_general, or a multiply if one has all axes.
Operand JoinDense(Builder& b, const Operand& x, const Operand& y, const Axes& keep);
// One at least has a hot axis (one_hot.cc), or windows (windows.cc), perhaps both.
Operand JoinHot(Builder& b, const Operand& x, const Operand& y, const Axes& keep, DType dtype);
Operand JoinWindows(Builder& b, const Operand& x, const Operand& y, const Axes& keep, DType dtype);
Operand Unfolded(Builder& b, const Operand& operand);

}  // namespace weir::factored

#endif  // WEIR_SERVER_COMPILER_FACTORED_CONTRACT_H_
