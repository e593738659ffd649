// StrCat and StrAppend over std::string_view. Stateless; usable from any thread.
//
// Debian builds Abseil with its own absl::string_view, to which std::string_view does not convert.
#ifndef WEIR_COMMON_BASE_STRINGS_H_
#define WEIR_COMMON_BASE_STRINGS_H_

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace weir {

inline absl::string_view ToAbsl(std::string_view s) { return {s.data(), s.size()}; }
inline std::string_view ToStd(absl::string_view s) { return {s.data(), s.size()}; }

namespace strings_internal {
template <class T>
decltype(auto) Adapt(const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return ToAbsl(value);
  } else {
    return static_cast<const T&>(value);
  }
}
}  // namespace strings_internal

template <class... Args>
std::string StrCat(const Args&... args) {
  return absl::StrCat(strings_internal::Adapt(args)...);
}

template <class... Args>
void StrAppend(std::string* out, const Args&... args) {
  absl::StrAppend(out, strings_internal::Adapt(args)...);
}

}  // namespace weir

#endif  // WEIR_COMMON_BASE_STRINGS_H_
