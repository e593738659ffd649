// StrCat and StrAppend that also take std::string_view, which Debian's Abseil does not convert to
// its own view type. Stateless; usable from any thread.
//
//   StrCat("axis ", axis, " of ", DTypeName(dtype));
#ifndef WEIR_COMMON_BASE_STR_CAT_H_
#define WEIR_COMMON_BASE_STR_CAT_H_

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace weir {

inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view ToStd(absl::string_view text) { return {text.data(), text.size()}; }

// What absl::StrCat accepts in place of `value`.
template <class T>
decltype(auto) StrCatArgument(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return ToAbsl(value);
  } else {
    return (value);
  }
}

template <class... Args>
std::string StrCat(const Args&... args) {
  return absl::StrCat(StrCatArgument(args)...);
}

template <class... Args>
void StrAppend(std::string* out, const Args&... args) {
  absl::StrAppend(out, StrCatArgument(args)...);
}

}  // namespace weir

#endif  // WEIR_COMMON_BASE_STR_CAT_H_
