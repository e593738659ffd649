// A fuzz target: an entry function with the signature of LLVMFuzzerTestOneInput, its seeds, and
// words that its inputs are made of.
//
//   WEIR_FUZZ_TARGET(npy, {.seeds = &NpySeeds}) {
//     (void)ParseNpy(View(data, size), "input");
//     return 0;
//   }
//
// An entry function returns 0 for every input, answers it within bounded time and memory, and is a
// pure function of it. What must hold and does not is said by Require, which ends the program. Each
// file has one target; compiled with WEIR_LIBFUZZER it defines LLVMFuzzerTestOneInput itself and
// links against libFuzzer with clang. Used by one thread.
#ifndef WEIR_TESTS_FUZZ_TARGET_H_
#define WEIR_TESTS_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace google::protobuf {
class Message;
}

namespace weir {

struct FuzzSources {
  // Inputs to begin with.
  std::vector<std::string> (*seeds)() = nullptr;
  // Put into inputs as they are.
  std::vector<std::string> (*words)() = nullptr;
  // For inputs that are an encoded message: one of its type, so that fields are changed too and not
  // only bytes.
  const google::protobuf::Message* (*prototype)() = nullptr;
};

struct FuzzTarget {
  std::string name;
  int (*run)(const uint8_t* data, size_t size);
  FuzzSources sources;
};

// All targets of the program, by name.
const std::vector<FuzzTarget>& FuzzTargets();

class FuzzRegistration {
 public:
  FuzzRegistration(const char* name, int (*run)(const uint8_t*, size_t), FuzzSources sources);
};

inline std::string_view View(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the program with `what` if `holds` is false.
void Require(bool holds, std::string_view what);

}  // namespace weir

#ifdef WEIR_LIBFUZZER
#define WEIR_FUZZ_TARGET(name, ...)                                       \
  [[maybe_unused]] static const FuzzSources sources_##name = __VA_ARGS__; \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
#else
#define WEIR_FUZZ_TARGET(name, ...)                                                   \
  static int Run_##name(const uint8_t* data, size_t size);                            \
  static const FuzzRegistration registration_##name(#name, &Run_##name, __VA_ARGS__); \
  static int Run_##name(const uint8_t* data, size_t size)
#endif

#endif  // WEIR_TESTS_FUZZ_TARGET_H_
