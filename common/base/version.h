// What this build is; set by the root CMakeLists.txt.
#ifndef WEIR_COMMON_BASE_VERSION_H_
#define WEIR_COMMON_BASE_VERSION_H_

namespace weir {

extern const char kVersion[];
// The first 12 digits of the commit; "unknown" outside a git checkout.
extern const char kGitRevision[];

}  // namespace weir

#endif  // WEIR_COMMON_BASE_VERSION_H_
