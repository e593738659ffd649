#include "server/jobs/program_loader.h"

#include <string>

#include "common/base/status.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "server/compiler/import/import.h"

namespace weir {
namespace {

using Loader = absl::StatusOr<Graph> (*)(const v1::Program& program);

absl::StatusOr<Graph> LoadText(const v1::Program& program) {
  ParseOptions options;
  if (!program.name().empty()) options.file = program.name();
  return Parse(program.source(), Ops(), options);
}

absl::StatusOr<Graph> LoadOnnx(const v1::Program& program) {
  return ImportOnnx(program.source(), program.name());
}

struct Format {
  v1::Program::Format format;
  Loader load;
};

constexpr Format kFormats[] = {
    {v1::Program::FORMAT_TEXT, &LoadText},
    {v1::Program::FORMAT_ONNX, &LoadOnnx},
};

}  // namespace

absl::StatusOr<Graph> LoadProgram(const v1::Program& program) {
  for (const Format& format : kFormats) {
    if (format.format == program.format()) return format.load(program);
  }
  return InvalidArgument("program '", program.name(), "' has a format that is not known here: ",
                         static_cast<int>(program.format()));
}

}  // namespace weir
