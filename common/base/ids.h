// Strong integer ids: a NodeId is no ValueId. Immutable values; usable from any thread.
#ifndef WEIR_COMMON_BASE_IDS_H_
#define WEIR_COMMON_BASE_IDS_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <utility>

namespace weir {

// An id of one kind of thing; Tag only tells kinds apart. -1 (the default) means "none".
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(int64_t value) : value_(value) {}
  constexpr int64_t value() const { return value_; }
  constexpr bool valid() const { return value_ >= 0; }
  friend constexpr auto operator<=>(Id, Id) = default;

  template <class H>
  friend H AbslHashValue(H h, Id id) {
    return H::combine(std::move(h), id.value_);
  }

 private:
  int64_t value_ = -1;
};

}  // namespace weir

template <class Tag>
struct std::hash<weir::Id<Tag>> {
  size_t operator()(weir::Id<Tag> id) const { return std::hash<int64_t>()(id.value()); }
};

#endif  // WEIR_COMMON_BASE_IDS_H_
