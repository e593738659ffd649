#include "common/base/version.h"

namespace weir {

const char kVersion[] = WEIR_VERSION;
const char kGitRevision[] = WEIR_GIT_REVISION;

}  // namespace weir
