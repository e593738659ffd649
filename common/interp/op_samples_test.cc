// The tests that every op gets by being listed: they need nothing but its record and its samples.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "common/base/status.h"
#include "common/interp/interpreter.h"
#include "common/ir/builder.h"
#include "common/ir/text.h"
#include "common/ir/verify.h"
#include "common/ops/registry.h"
#include "common/ops/sample_program.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

std::string Where(const OpDef& op, const Sample& sample, size_t index) {
  return StrCat(op.name, " sample ", index, " \"", sample.label, "\"");
}

// The program of a sample: its own, or one node applied to parameters.
// Calls check(op, sample, graph, where) for every sample whose program is sound.
template <class Check>
void ForEachSample(Check&& check) {
  for (const OpDef& op : AllOps()) {
    const std::vector<Sample> samples = op.samples();
    for (size_t i = 0; i < samples.size(); ++i) {
      const std::string where = Where(op, samples[i], i);
      const absl::StatusOr<Graph> graph = ProgramOf(op, samples[i]);
      ASSERT_TRUE(graph.ok()) << where << ": " << graph.status();
      check(op, samples[i], *graph, where);
    }
  }
}

TEST(OpSamplesTest, EveryOpIsComplete) {
  std::set<std::string_view> names;
  for (const OpDef& op : AllOps()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name << " is listed twice";
    EXPECT_FALSE(op.summary.empty()) << op.name;
    EXPECT_NE(op.infer, nullptr) << op.name;
    EXPECT_NE(op.reference, nullptr) << op.name;
    EXPECT_NE(op.pfor != nullptr, !op.no_pfor.empty())
        << op.name << " must have a pfor rule or the reason why not";
    ASSERT_NE(op.samples, nullptr) << op.name;
    EXPECT_FALSE(op.samples().empty()) << op.name;
    EXPECT_EQ(FindOp(op.name), &op);
    for (int operand : op.may_overwrite) EXPECT_LT(operand, op.inputs.max) << op.name;
  }
}

TEST(OpSamplesTest, InferredTypesAreTheEvaluatedOnes) {
  int evaluated = 0;
  ForEachSample(
      [&](const OpDef&, const Sample& sample, const Graph& graph, const std::string& where) {
        const std::vector<Tensor> operands = OperandsOf(sample);
        const absl::StatusOr<std::vector<Tensor>> results = Interpret(graph, operands);
        ASSERT_TRUE(results.ok()) << where << ": " << results.status();
        const Region& body = graph.region(graph.entry().body);
        ASSERT_EQ(results->size(), body.results.size()) << where;
        SymbolBindings symbols;
        for (size_t i = 0; i < operands.size(); ++i) {
          ASSERT_TRUE(
              BindShape(graph.type(body.args[i]).shape, operands[i].extents(), "", &symbols).ok())
              << where;
        }
        for (size_t i = 0; i < results->size(); ++i) {
          const TensorType& type = graph.type(body.results[i]);
          EXPECT_EQ((*results)[i].dtype(), type.dtype) << where;
          const absl::Status fits = BindShape(type.shape, (*results)[i].extents(), where, &symbols);
          EXPECT_TRUE(fits.ok()) << fits;
          ++evaluated;
        }
      });
  EXPECT_GT(evaluated, 500);
}

TEST(OpSamplesTest, EvaluatingLeavesOperandsAloneAndRepeats) {
  ForEachSample(
      [](const OpDef&, const Sample& sample, const Graph& graph, const std::string& where) {
        const std::vector<Tensor> operands = OperandsOf(sample);
        std::vector<Tensor> copies;
        for (const Tensor& operand : operands) copies.push_back(operand.Clone());
        const absl::StatusOr<std::vector<Tensor>> once = Interpret(graph, operands);
        const absl::StatusOr<std::vector<Tensor>> again = Interpret(graph, operands);
        ASSERT_TRUE(once.ok() && again.ok()) << where << ": " << once.status();
        for (size_t i = 0; i < operands.size(); ++i) {
          EXPECT_TRUE(operands[i].BitEquals(copies[i])) << where << " changed operand " << i;
        }
        for (size_t i = 0; i < once->size(); ++i) {
          EXPECT_TRUE((*once)[i].BitEquals((*again)[i])) << where << " result " << i;
        }
      });
}

// Views as operands: every operand laid out with its axes in reverse order.
TEST(OpSamplesTest, StridesOfOperandsDoNotMatter) {
  ForEachSample(
      [](const OpDef&, const Sample& sample, const Graph& graph, const std::string& where) {
        const std::vector<Tensor> operands = OperandsOf(sample);
        std::vector<Tensor> views;
        for (const Tensor& operand : operands) {
          std::vector<int> reversed(operand.rank());
          for (int axis = 0; axis < operand.rank(); ++axis)
            reversed[axis] = operand.rank() - 1 - axis;
          views.push_back(operand.Transpose(reversed).Clone().Transpose(reversed));
        }
        const absl::StatusOr<std::vector<Tensor>> dense = Interpret(graph, operands);
        const absl::StatusOr<std::vector<Tensor>> strided = Interpret(graph, views);
        ASSERT_TRUE(dense.ok() && strided.ok()) << where << ": " << strided.status();
        for (size_t i = 0; i < dense->size(); ++i) {
          EXPECT_TRUE((*dense)[i].BitEquals((*strided)[i])) << where << " result " << i;
        }
      });
}

TEST(OpSamplesTest, ProgramsSurviveTheTextForm) {
  ForEachSample(
      [](const OpDef&, const Sample& sample, const Graph& graph, const std::string& where) {
        // Locations say where in the text something stands, so they differ at first.
        const std::string text = Print(graph);
        const absl::StatusOr<Graph> parsed = Parse(text, Ops());
        ASSERT_TRUE(parsed.ok()) << where << ": " << parsed.status() << "\n" << text;
        const std::string again = Print(*parsed);
        const absl::StatusOr<Graph> reparsed = Parse(again, Ops());
        ASSERT_TRUE(reparsed.ok()) << where << ": " << reparsed.status() << "\n" << again;
        EXPECT_EQ(Print(*reparsed), again) << where;
        const std::vector<Tensor> operands = OperandsOf(sample);
        const absl::StatusOr<std::vector<Tensor>> before = Interpret(graph, operands);
        const absl::StatusOr<std::vector<Tensor>> after = Interpret(*parsed, operands);
        ASSERT_TRUE(before.ok() && after.ok()) << where << ": " << after.status();
        for (size_t i = 0; i < before->size(); ++i) {
          EXPECT_TRUE((*before)[i].BitEquals((*after)[i])) << where << " result " << i;
        }
      });
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::set<std::string> Matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    found.insert((*it)[1]);
  }
  return found;
}

// A file that is not listed would be linked and never found.
TEST(OpSamplesTest, EveryOpFileIsListed) {
  const std::filesystem::path folder =
      std::filesystem::path(WEIR_TEST_DATA).parent_path().parent_path() / "common" / "ops";
  const std::set<std::string> listed =
      Matches(ReadFile(folder / "list.inc"), std::regex(R"(WEIR_OP\((\w+)\))"));
  std::set<std::string> defined;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cc") continue;
    defined.merge(Matches(ReadFile(entry.path()), std::regex(R"(\nOpDef (\w+)Op\(\))")));
  }
  // list.inc explains itself with a line for an op called Name.
  std::set<std::string> ops = listed;
  ops.erase("Name");
  EXPECT_EQ(defined, ops);
  EXPECT_EQ(ops.size(), AllOps().size());
}

TEST(OpSamplesTest, OpsLiveInFilesOfTheirName) {
  const std::filesystem::path folder =
      std::filesystem::path(WEIR_TEST_DATA).parent_path().parent_path() / "common" / "ops";
  std::set<std::string> stems;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    stems.insert(entry.path().stem().string());
  }
  for (const OpDef& op : AllOps()) EXPECT_TRUE(stems.count(std::string(op.name)) > 0) << op.name;
}

}  // namespace
}  // namespace weir
