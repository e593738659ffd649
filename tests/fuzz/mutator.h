// Makes inputs from inputs: seeded changes of bytes, words put in, parts of other seeds, and
// changes of single fields of encoded messages. An input is a pure function of the seeds and the
// random numbers. Stateless; used by one thread.
#ifndef WEIR_TESTS_FUZZ_MUTATOR_H_
#define WEIR_TESTS_FUZZ_MUTATOR_H_

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/random.h"

namespace google::protobuf {
class Message;
}

namespace weir {

inline constexpr size_t kMaxFuzzInput = size_t{256} << 10;

struct MutationSources {
  std::vector<std::string> seeds;
  std::vector<std::string> words;
  const google::protobuf::Message* prototype = nullptr;
};

// REQUIRES: at least one seed. Returns: at most kMaxFuzzInput bytes.
std::string MakeInput(const MutationSources& sources, Random* random);

// One to four changes of bytes.
void MutateBytes(const MutationSources& sources, Random* random, std::string* input);

// One to four changes of fields, at any depth; strings are changed as bytes.
void MutateMessage(const MutationSources& sources, Random* random,
                   google::protobuf::Message* message);

}  // namespace weir

#endif  // WEIR_TESTS_FUZZ_MUTATOR_H_
