// Every case of the ONNX backend test suite (Debian's libonnx-testdata) goes through the importer,
// the reference interpreter and the executor.
//
// A case either passes or is unsupported: its import ends with UNIMPLEMENTED. onnx_unsupported.txt
// lists each reason for that, by operator; a reason that comes or goes fails the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "server/compiler/import/import.h"
#include "tests/conformance/onnx_case.h"
#include "worker/executor/executable.h"

namespace weir {
namespace {

// Of a real run; more is better.
constexpr int kPassing = 696;

struct Outcome {
  enum class Kind { kPassed, kUnsupported, kFailed };
  Kind kind = Kind::kPassed;
  std::string message;
};

// Cases whose outputs may differ by more than usual, and why.
const std::map<std::string, Closeness>& WiderCases() {
  static const auto* const cases = new std::map<std::string, Closeness>{
      // The expected values are cut to sixteen bits; ours are rounded.
      {"node/test_cast_FLOAT_to_BFLOAT16", {.relative = 1.0 / 128}},
  };
  return *cases;
}

// Cases that nothing can pass: the second operand's data have another shape than the model says.
const std::set<std::string>& FaultyCases() {
  static const auto* const cases = new std::set<std::string>{
      "node/test_castlike_BFLOAT16_to_FLOAT", "node/test_castlike_BFLOAT16_to_FLOAT_expanded",
      "node/test_castlike_FLOAT_to_BFLOAT16", "node/test_castlike_FLOAT_to_BFLOAT16_expanded"};
  return *cases;
}

Closeness ClosenessOf(const OnnxCase& onnx_case) {
  auto it = WiderCases().find(onnx_case.name);
  return it == WiderCases().end() ? Closeness() : it->second;
}

// "Operator: why", without the names that a case gives to its nodes and values.
std::string ReasonOf(const absl::Status& status) {
  std::string text(ToStd(status.message()));
  text = std::regex_replace(text, std::regex("model\\.onnx: (operator )?"), "");
  text = std::regex_replace(text, std::regex(" \\(node \"[^\"]*\", opset [0-9]+\\)"), "");
  return std::regex_replace(text, std::regex(" '[^']*'"), "");
}

// Test data of bf16 come as their bits, typed as u16.
Tensor TypedAs(DType dtype, const Tensor& tensor) {
  if (dtype != DType::kBF16 || tensor.dtype() != DType::kU16) return tensor;
  return Tensor(dtype, tensor.extents(), tensor.strides(), tensor.offset(), tensor.buffer());
}

absl::Status Compare(const std::vector<Tensor>& got, const std::vector<Tensor>& want,
                     const Closeness& closeness, std::string_view who) {
  if (got.size() != want.size()) {
    return InvalidArgument(who, " gives ", got.size(), " outputs, not ", want.size());
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string difference = FarElement(got[i], TypedAs(got[i].dtype(), want[i]), closeness);
    if (!difference.empty()) return InvalidArgument(who, ", output ", i, ": ", difference);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> Execute(std::shared_ptr<const Graph> graph,
                                            const std::vector<Tensor>& inputs) {
  const Function& entry = graph->entry();
  const Region& body = graph->region(entry.body);
  SymbolBindings symbols;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& argument = graph->value(body.args[i]);
    WEIR_RETURN_IF_ERROR(
        BindShape(argument.type.shape, inputs[i].extents(), argument.name, &symbols));
  }
  WEIR_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable,
                        Executable::Create(graph, entry.name));
  std::vector<Tensor> outputs(body.results.size());
  Workspace workspace;
  RunStats stats;
  WEIR_RETURN_IF_ERROR(
      executable->Run(symbols, inputs, absl::MakeSpan(outputs), &workspace, &stats));
  return outputs;
}

absl::Status RunImported(const OnnxCase& onnx_case, Graph imported) {
  WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, ReadCaseTensors(onnx_case, "input"));
  WEIR_ASSIGN_OR_RETURN(std::vector<Tensor> wanted, ReadCaseTensors(onnx_case, "output"));
  auto graph = std::make_shared<const Graph>(std::move(imported));
  const std::vector<ValueId>& args = graph->region(graph->entry().body).args;
  if (inputs.size() != args.size()) {
    return InvalidArgument("takes ", args.size(), " inputs, not ", inputs.size());
  }
  for (size_t i = 0; i < args.size(); ++i) {
    inputs[i] = TypedAs(graph->type(args[i]).dtype, inputs[i]);
  }
  const Closeness closeness = ClosenessOf(onnx_case);
  absl::StatusOr<std::vector<Tensor>> interpreted = Interpret(*graph, inputs);
  WEIR_RETURN_IF_ERROR(Annotate(interpreted.status(), "interpreter"));
  WEIR_RETURN_IF_ERROR(Compare(*interpreted, wanted, closeness, "interpreter"));
  absl::StatusOr<std::vector<Tensor>> executed = Execute(graph, inputs);
  WEIR_RETURN_IF_ERROR(Annotate(executed.status(), "executor"));
  return Compare(*executed, *interpreted, closeness, "executor");
}

Outcome RunCase(const OnnxCase& onnx_case) {
  absl::StatusOr<std::string> bytes = ReadBytes(onnx_case.folder + "/model.onnx");
  if (!bytes.ok()) return {Outcome::Kind::kFailed, std::string(bytes.status().message())};
  absl::StatusOr<Graph> graph = ImportOnnx(*bytes, "model.onnx");
  if (absl::IsUnimplemented(graph.status())) {
    return {Outcome::Kind::kUnsupported, ReasonOf(graph.status())};
  }
  const absl::Status status =
      graph.ok() ? RunImported(onnx_case, *std::move(graph)) : graph.status();
  if (!status.ok()) return {Outcome::Kind::kFailed, status.ToString()};
  return {};
}

class OnnxNodes : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!outcomes_.empty()) return;
    for (const OnnxCase& onnx_case : AllOnnxCases()) {
      if (FaultyCases().contains(onnx_case.name)) continue;
      outcomes_[onnx_case.name] = RunCase(onnx_case);
    }
  }

  static std::vector<std::string> CasesThat(Outcome::Kind kind) {
    std::vector<std::string> lines;
    for (const auto& [name, outcome] : outcomes_) {
      if (outcome.kind == kind) lines.push_back(StrCat(name, "  ", outcome.message));
    }
    return lines;
  }

  static std::map<std::string, Outcome> outcomes_;
};

std::map<std::string, Outcome> OnnxNodes::outcomes_;

TEST_F(OnnxNodes, NoCaseFails) {
  ASSERT_FALSE(outcomes_.empty()) << "install the Debian package libonnx-testdata";
  for (const std::string& line : CasesThat(Outcome::Kind::kFailed)) ADD_FAILURE() << line;
}

TEST_F(OnnxNodes, AsManyCasesPassAsEver) {
  const size_t passing = CasesThat(Outcome::Kind::kPassed).size();
  std::cout << passing << " of " << outcomes_.size() << " cases pass\n";
  EXPECT_GE(passing, static_cast<size_t>(kPassing));
}

TEST_F(OnnxNodes, TheListOfWhatIsUnsupportedIsExact) {
  std::set<std::string> found;
  for (const auto& [name, outcome] : outcomes_) {
    if (outcome.kind == Outcome::Kind::kUnsupported) found.insert(outcome.message);
  }
  absl::StatusOr<std::string> text =
      ReadBytes(WEIR_TEST_DATA "/../conformance/onnx_unsupported.txt");
  ASSERT_TRUE(text.ok()) << text.status();
  std::set<std::string> listed;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#') listed.insert(line);
  }
  EXPECT_EQ(found, listed) << "unsupported now:\n"
                           << [&] {
                                std::string all;
                                for (const std::string& reason : found)
                                  StrAppend(&all, reason, "\n");
                                return all;
                              }();
}

}  // namespace
}  // namespace weir
