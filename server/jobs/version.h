// What this program is. WEIR_GIT_REVISION may be defined by the build.
#ifndef WEIR_SERVER_JOBS_VERSION_H_
#define WEIR_SERVER_JOBS_VERSION_H_

namespace weir {

inline constexpr char kVersion[] = "0.1.0";
#ifdef WEIR_GIT_REVISION
inline constexpr char kGitRevision[] = WEIR_GIT_REVISION;
#else
inline constexpr char kGitRevision[] = "unknown";
#endif

}  // namespace weir

#endif  // WEIR_SERVER_JOBS_VERSION_H_
