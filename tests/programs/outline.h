// Makes random programs recursive. Stateless; usable from any thread.
#ifndef WEIR_TESTS_PROGRAMS_OUTLINE_H_
#define WEIR_TESTS_PROGRAMS_OUTLINE_H_

#include "tests/programs/generator.h"

namespace weir {

// Puts a node of the program, with the branches and loops inside of it, into a function that calls
// itself up to two calls deep: inside of those, and behind the node. Returns: false for a program
// without a node that can be in a function.
bool OutlineRecursively(RandomProgram* program);

}  // namespace weir

#endif  // WEIR_TESTS_PROGRAMS_OUTLINE_H_
