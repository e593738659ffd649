// Where seeds come from: files of the repository, the ONNX test data of the system, and the samples
// of the ops. Stateless; used by one thread.
#ifndef WEIR_TESTS_FUZZ_SEEDS_H_
#define WEIR_TESTS_FUZZ_SEEDS_H_

#include <string>
#include <string_view>
#include <vector>

namespace weir {

// The files below `folder` (from tests/) whose names end so, in the order of their paths. Those of
// more than 64 KiB are left out.
std::vector<std::string> FilesOf(const std::string& folder, std::string_view ending);

// Programs in text form: those of tests/fuzz/corpus, and every sample of every op.
std::vector<std::string> ProgramTexts();
// Names of ops and attributes, punctuation and numbers of the text form.
std::vector<std::string> ProgramWords();

// Models of tests/data, those of tests/fuzz/corpus that broke something once, and the ONNX test
// suite where it is installed.
std::vector<std::string> OnnxModels();

}  // namespace weir

#endif  // WEIR_TESTS_FUZZ_SEEDS_H_
