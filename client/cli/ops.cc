#include <iostream>
#include <memory>

#include "client/cli/command.h"
#include "client/cli/exit_codes.h"
#include "client/cli/output.h"
#include "common/ops/registry.h"
#include "worker/device/cpu/registry.h"

namespace weir::cli {
namespace {

std::string CpuKernels(const OpDef& op) {
  if (op.elementwise.has_value()) return "fused";
  if (op.is_view) return "view";
  if (op.regions.max > 0 || op.name == "call") return "executor";
  std::string names;
  for (const cpu::KernelEntry& entry : cpu::KernelsFor(op.name)) {
    if (!names.empty()) names += ", ";
    names += entry.implementation;
  }
  return names.empty() ? "reference" : names;
}

void Ops(const Common& common) {
  std::vector<std::vector<std::string>> rows = {
      {"OP", "SHAPE", "REFERENCE", "PFOR", "CPU", "SAMPLES", "MEANING"}};
  for (const OpDef& op : AllOps()) {
    rows.push_back({std::string(op.name), op.infer != nullptr ? "yes" : "no",
                    op.reference != nullptr ? "yes" : "no",
                    op.pfor != nullptr ? "rule" : std::string(op.no_pfor), CpuKernels(op),
                    std::to_string(op.samples != nullptr ? op.samples().size() : 0),
                    std::string(op.summary)});
  }
  if (common.format == Format::kTable) return PrintTable(rows);
  std::cout << "[";
  for (size_t i = 1; i < rows.size(); ++i) {
    std::cout << (i > 1 ? ",\n " : "") << "{";
    const char* keys[] = {"op", "shape", "reference", "pfor", "cpu", "samples", "meaning"};
    for (size_t c = 0; c < rows[i].size(); ++c) {
      std::cout << (c > 0 ? ", " : "") << JsonString(keys[c]) << ": " << JsonString(rows[i][c]);
    }
    std::cout << "}";
  }
  std::cout << "]\n";
}

}  // namespace

void AddOps(CLI::App* app, int* exit_code) {
  CLI::App* command = app->add_subcommand("ops", "every op and the rules that it has");
  auto common = std::make_shared<Common>();
  AddFormatOption(command, common.get());
  command->callback([common, exit_code] {
    Ops(*common);
    *exit_code = kOk;
  });
}

}  // namespace weir::cli
