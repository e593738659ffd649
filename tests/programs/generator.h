// Random programs: a pfor over n whose body is made of ops from their samples and of branches,
// loops and pfors inside each other, which read and update variables. Equal seeds make equal
// programs. Stateless; usable from any thread.
//
//   RandomProgram program = Generate({.seed = 7});
//   std::vector<Tensor> inputs = program.Inputs(/*n=*/5);
#ifndef WEIR_TESTS_PROGRAMS_GENERATOR_H_
#define WEIR_TESTS_PROGRAMS_GENERATOR_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/ir/graph.h"
#include "common/ops/sample.h"

namespace weir {

// How often each op was used with each subset of varying operands: "op 0b101".
using Coverage = std::map<std::string, int64_t>;

struct RandomProgram {
  struct Parameter {
    SampleOperand operand;
    bool mapped = false;  // has n rows
  };

  uint64_t seed = 0;
  Graph graph;  // main(parameters...) of one pfor with the extent n
  std::vector<Parameter> parameters;
  std::map<std::string, SampleOperand> variables;  // their first values
  Coverage coverage;

  // For the parameters, and behind them for the variables that the graph touches.
  std::vector<Tensor> Inputs(int64_t n) const;
};

struct GeneratorOptions {
  uint64_t seed = 0;
  int max_nodes = 24;
  int max_depth = 3;  // of regions inside the pfor
};

RandomProgram Generate(const GeneratorOptions& options);

}  // namespace weir

#endif  // WEIR_TESTS_PROGRAMS_GENERATOR_H_
