#include "tests/fuzz/seeds.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "common/base/str_cat.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "common/ops/sample_program.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMaxSeedBytes = uintmax_t{64} << 10;
constexpr char kOnnxTestData[] = "/usr/share/libonnx-testdata/data/node";

std::vector<std::string> FilesBelow(const fs::path& root, std::string_view ending) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root, error)) {
    if (!entry.is_regular_file() || entry.file_size() > kMaxSeedBytes) continue;
    if (entry.path().native().ends_with(ending)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> contents;
  for (const fs::path& path : paths) {
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    contents.push_back(bytes.str());
  }
  return contents;
}

std::string TextOf(const OpDef& op, const Sample& sample) {
  if (!sample.program.empty()) return sample.program;
  const absl::StatusOr<Graph> graph = ProgramOf(op, sample);
  return graph.ok() ? Print(*graph) : "";
}

}  // namespace

std::vector<std::string> FilesOf(const std::string& folder, std::string_view ending) {
  return FilesBelow(fs::path(WEIR_TESTS) / folder, ending);
}

std::vector<std::string> ProgramTexts() {
  std::vector<std::string> texts = FilesOf("fuzz/corpus", ".weir");
  for (const OpDef& op : AllOps()) {
    for (const Sample& sample : op.samples()) {
      std::string text = TextOf(op, sample);
      if (!text.empty()) texts.push_back(std::move(text));
    }
  }
  return texts;
}

std::vector<std::string> ProgramWords() {
  std::vector<std::string> words = {"func @main",
                                    "func @f",
                                    "return ",
                                    "yield ",
                                    "%",
                                    "%x",
                                    "%0",
                                    "!0",
                                    "@f",
                                    "{",
                                    "}",
                                    "(",
                                    ")",
                                    "[",
                                    "]",
                                    "->",
                                    ":",
                                    "=",
                                    ",",
                                    "?",
                                    "n",
                                    "n//2",
                                    "n%2",
                                    "min(n,3)",
                                    "max(n,-1)",
                                    "extent = (n)",
                                    "after(%x)",
                                    "after(!0)",
                                    "name(\"a\")",
                                    "\"",
                                    "loc(\"f\":1:2)",
                                    "blob \"a\"",
                                    "value = ",
                                    "shape = (2)",
                                    "axes = [0]",
                                    "nan",
                                    "-inf",
                                    "1e400",
                                    "-0x1p-3",
                                    "true",
                                    "// x\n",
                                    "\\x00",
                                    "f32[]",
                                    "i64[2,3]",
                                    "bf16[n]",
                                    "c64[0]",
                                    "bool[]",
                                    "9223372036854775807",
                                    "-9223372036854775808",
                                    "99999999999999999999"};
  for (const OpDef& op : AllOps()) words.push_back(StrCat(op.name, "("));
  return words;
}

std::vector<std::string> OnnxModels() {
  std::vector<std::string> models = FilesOf("data", ".onnx");
  std::vector<std::string> corpus = FilesOf("fuzz/corpus", ".onnx");
  std::vector<std::string> suite = FilesBelow(kOnnxTestData, ".onnx");
  models.insert(models.end(), std::make_move_iterator(corpus.begin()),
                std::make_move_iterator(corpus.end()));
  models.insert(models.end(), std::make_move_iterator(suite.begin()),
                std::make_move_iterator(suite.end()));
  return models;
}

}  // namespace weir
