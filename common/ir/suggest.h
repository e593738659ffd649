// "Did you mean ...?" for misspelt words. Stateless; usable from any thread.
#ifndef WEIR_COMMON_IR_SUGGEST_H_
#define WEIR_COMMON_IR_SUGGEST_H_

#include <string_view>
#include <vector>

namespace weir {

// Returns: the known word with the fewest edits to `word`, or nothing if none is near (at most half
// of the letters and at most three edits).
std::string_view Closest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace weir

#endif  // WEIR_COMMON_IR_SUGGEST_H_
