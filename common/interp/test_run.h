// Runs program text in tests. Only tests include this; stateless.
#ifndef WEIR_COMMON_INTERP_TEST_RUN_H_
#define WEIR_COMMON_INTERP_TEST_RUN_H_

#include <string>
#include <string_view>
#include <vector>

#include "common/interp/interpreter.h"
#include "common/ir/text.h"
#include "common/ops/registry.h"
#include "gtest/gtest.h"

namespace weir {

inline Graph MustParse(std::string_view text) {
  absl::StatusOr<Graph> graph = Parse(text, Ops());
  EXPECT_TRUE(graph.ok()) << graph.status() << "\n" << text;
  return graph.ok() ? *std::move(graph) : Graph();
}

inline absl::StatusOr<std::vector<Tensor>> TryRun(std::string_view text,
                                                  const std::vector<Tensor>& inputs,
                                                  const InterpretOptions& options = {}) {
  return Interpret(MustParse(text), inputs, options);
}

inline std::vector<Tensor> MustRun(std::string_view text, const std::vector<Tensor>& inputs,
                                   const InterpretOptions& options = {}) {
  absl::StatusOr<std::vector<Tensor>> results = TryRun(text, inputs, options);
  EXPECT_TRUE(results.ok()) << results.status() << "\n" << text;
  return results.ok() ? *std::move(results) : std::vector<Tensor>();
}

inline std::string Message(const absl::Status& status) { return std::string(status.message()); }

// The text of each tensor, which says dtype, extents and elements.
inline std::vector<std::string> Texts(const std::vector<Tensor>& tensors) {
  std::vector<std::string> texts;
  for (const Tensor& tensor : tensors) texts.push_back(tensor.ToString(1000));
  return texts;
}

// What is wrong with a program that does not parse.
inline std::string ParseError(std::string_view text) {
  const absl::StatusOr<Graph> graph = Parse(text, Ops());
  EXPECT_FALSE(graph.ok()) << text;
  return Message(graph.status());
}

}  // namespace weir

#endif  // WEIR_COMMON_INTERP_TEST_RUN_H_
