// What clients of the target `calls` send: the flow and the program that each script finds, and
// scripts of clients that do nothing wrong. Stateless; used by one thread.
#ifndef WEIR_TESTS_FUZZ_CALLS_SCRIPT_H_
#define WEIR_TESTS_FUZZ_CALLS_SCRIPT_H_

#include <string>
#include <vector>

#include "tests/fuzz/calls.pb.h"

namespace weir {

// Doubles i64[] from %in to %out; records below zero fail alone.
extern const char kScriptFlow[];

// A job of three rows of f32[2]: as one message, and as those of a stream.
v1::RunRequest ScriptRun();
std::vector<v1::SubmitRequest> ScriptSubmission();

// One for each thing that clients do.
std::vector<std::string> ScriptSeeds();
// Ids, names of ports, and the text of the flow and its parts.
std::vector<std::string> ScriptWords();

// Puts the ids in, and the program of ScriptRun in the place of every other one that would be run:
// a changed one may rightly run for hours, and what becomes of it is what other targets are for.
void PutIds(const std::string& flow, const std::string& job, fuzz::Script* script);

}  // namespace weir

#endif  // WEIR_TESTS_FUZZ_CALLS_SCRIPT_H_
