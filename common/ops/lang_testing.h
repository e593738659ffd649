// Runs what the functions of lang.h and its kin build, in their unit tests. Only tests include
// this.
#ifndef WEIR_COMMON_OPS_LANG_TESTING_H_
#define WEIR_COMMON_OPS_LANG_TESTING_H_

#include <functional>
#include <string>
#include <vector>

#include "common/ops/op_testing.h"
#include "gtest/gtest.h"

namespace weir {

using Build = std::function<ValueId(Builder&, const std::vector<ValueId>&)>;

inline absl::StatusOr<Graph> BuildGraph(const std::vector<TensorType>& types, const Build& build) {
  Graph graph;
  const RegionId body = graph.AddFunction("main").body;
  Builder b(&graph, body, &Ops());
  std::vector<ValueId> args;
  for (const TensorType& type : types) args.push_back(b.AddArg(type));
  b.Yield({build(b, args)});
  WEIR_RETURN_IF_ERROR(b.status());
  return graph;
}

// The type of what is built from parameters of these types, or the message.
inline std::string TypeOf(const std::vector<std::string>& params, const Build& build) {
  std::vector<TensorType> types;
  for (const std::string& text : params) types.push_back(TensorType::Parse(text).value());
  const absl::StatusOr<Graph> graph = BuildGraph(types, build);
  if (!graph.ok()) return std::string(graph.status().message());
  return graph->type(graph->region(graph->entry().body).results[0]).ToString();
}

inline Tensor Result(const std::vector<Tensor>& inputs, const Build& build) {
  std::vector<TensorType> types;
  for (const Tensor& input : inputs) types.push_back(input.type());
  const absl::StatusOr<Graph> graph = BuildGraph(types, build);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return Tensor::Scalar<float>(0);
  const absl::StatusOr<std::vector<Tensor>> results = RunStraight(*graph, inputs);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? (*results)[0] : Tensor::Scalar<float>(0);
}

inline std::string Text(const std::vector<Tensor>& inputs, const Build& build) {
  return Result(inputs, build).ToString();
}

}  // namespace weir

#endif  // WEIR_COMMON_OPS_LANG_TESTING_H_
