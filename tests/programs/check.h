// Runs a program in every way that there is and compares. Stateless.
#ifndef WEIR_TESTS_PROGRAMS_CHECK_H_
#define WEIR_TESTS_PROGRAMS_CHECK_H_

#include <cstdint>
#include <string>

#include "tests/programs/generator.h"

namespace weir {

// Compares, bit by bit but for NaN: in the interpreter the program as it is, one iteration after
// the other, with the compiled one, whole and cut into ranges; in the executor the loop with the
// vectorized form. Returns: empty, or what disagrees and for which n.
std::string Disagreement(const RandomProgram& program);

// Returns: a smaller program that still disagrees: nodes become constants and results go as long
// as that is so.
RandomProgram Reduced(RandomProgram program);

}  // namespace weir

#endif  // WEIR_TESTS_PROGRAMS_CHECK_H_
