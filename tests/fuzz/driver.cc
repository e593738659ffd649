// weir_fuzz: feeds mutated seeds to the fuzz targets. Input number i of a target is a pure function
// of (target, seed, i), so `--first i --runs 1` repeats it.
//
//   weir_fuzz --runs 2000 --seed 7                  # every target
//   weir_fuzz --target npy --runs 100000
//   weir_fuzz --target npy fuzz-input-123           # one file, as it is
//   weir_fuzz --target npy --write-seeds DIR        # for libFuzzer
#include <google/protobuf/stubs/logging.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "common/base/crc32c.h"
#include "common/base/log.h"
#include "common/base/random.h"
#include "common/base/str_cat.h"
#include "tests/fuzz/guard.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

struct Options {
  std::string target;
  uint64_t runs = 2000;
  uint64_t seed = 1;
  uint64_t first = 0;
  std::string out = ".";
  std::string write_seeds;
  GuardLimits limits;
  std::vector<std::string> files;
};

void RunOne(const FuzzTarget& target, const std::string& label, const std::string& input) {
  BeginInput(&label, &input);
  target.run(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  EndInput();
}

MutationSources SourcesOf(const FuzzTarget& target) {
  MutationSources sources;
  if (target.sources.seeds != nullptr) sources.seeds = target.sources.seeds();
  if (target.sources.words != nullptr) sources.words = target.sources.words();
  if (target.sources.prototype != nullptr) sources.prototype = target.sources.prototype();
  return sources;
}

void WriteSeeds(const FuzzTarget& target, const std::vector<std::string>& seeds,
                const std::string& folder) {
  const std::filesystem::path into = std::filesystem::path(folder) / target.name;
  std::filesystem::create_directories(into);
  for (size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream(into / StrCat("seed-", i), std::ios::binary) << seeds[i];
  }
}

// Returns: false for a target without seeds, which cannot be tested.
bool RunTarget(const FuzzTarget& target, const Options& options) {
  const MutationSources sources = SourcesOf(target);
  if (sources.seeds.empty()) {
    std::cerr << target.name << ": there are no seeds\n";
    return false;
  }
  if (!options.write_seeds.empty()) {
    WriteSeeds(target, sources.seeds, options.write_seeds);
    return true;
  }
  for (size_t i = 0; i < sources.seeds.size() && options.first == 0; ++i) {
    RunOne(target, StrCat(target.name, " seed file ", i), sources.seeds[i]);
  }
  const auto begin = std::chrono::steady_clock::now();
  const SeededRandom random(options.seed, Crc32c(target.name));
  for (uint64_t i = options.first; i < options.first + options.runs; ++i) {
    SeededRandom own = random.Fork(i);
    const std::string input = MakeInput(sources, &own);
    RunOne(target,
           StrCat("--target ", target.name, " --seed ", options.seed, " --first ", i, " --runs 1"),
           input);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << target.name << ": " << sources.seeds.size() << " seeds, " << options.runs
            << " inputs, " << took.count() << " s, peak " << (PeakResidentBytes() >> 20) << " MiB"
            << std::endl;
  return true;
}

bool RunFiles(const FuzzTarget& target, const std::vector<std::string>& files) {
  for (const std::string& path : files) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::cerr << "cannot open " << path << "\n";
      return false;
    }
    std::ostringstream bytes;
    bytes << file.rdbuf();
    RunOne(target, path, bytes.str());
  }
  return true;
}

int Run(const Options& options) {
  StartGuard(options.out, options.limits);
  bool found = false;
  for (const FuzzTarget& target : FuzzTargets()) {
    if (!options.target.empty() && options.target != target.name) continue;
    found = true;
    const bool ok =
        options.files.empty() ? RunTarget(target, options) : RunFiles(target, options.files);
    if (!ok) return 1;
  }
  if (found) return 0;
  std::cerr << "there is no target '" << options.target << "'; the targets are";
  for (const FuzzTarget& target : FuzzTargets()) std::cerr << " " << target.name;
  std::cerr << "\n";
  return 2;
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) {
  weir::Options options;
  CLI::App app("Feeds mutated inputs to whatever reads bytes from outside.");
  app.add_option("--target", options.target, "only this one; default: all");
  app.add_option("--runs", options.runs, "mutated inputs for each target");
  app.add_option("--seed", options.seed, "of the random numbers");
  app.add_option("--first", options.first, "number of the first input; seeds run only before 0");
  app.add_option("--out", options.out, "folder for an input that fails");
  app.add_option("--cpu-seconds", options.limits.cpu_seconds, "at most, for one input");
  app.add_option("--write-seeds", options.write_seeds, "write the seeds below this folder, only");
  app.add_option("FILES", options.files, "inputs to run as they are, in place of mutated ones");
  CLI11_PARSE(app, argc, argv);
  weir::InitLogging({.program = "weir_fuzz", .level = weir::LogLevel::kError});
  google::protobuf::SetLogHandler(nullptr);  // it would report every input
  return weir::Run(options);
}
