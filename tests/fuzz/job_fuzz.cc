// A job as a client sends it: its tensors, its limits, its program (compiled), its inputs.
#include <utility>

#include "common/plan/tensor_chunks.h"
#include "server/jobs/bind_inputs.h"
#include "server/jobs/compiled_program.h"
#include "server/jobs/job_spec.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

const google::protobuf::Message* Prototype() { return &v1::RunRequest::default_instance(); }

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const std::string& text : FilesOf("fuzz/corpus", ".weir")) {
    v1::RunRequest request;
    v1::Program* program = request.mutable_spec()->mutable_program();
    program->set_format(v1::Program::FORMAT_TEXT);
    program->set_source(text);
    program->set_name("corpus.weir");
    program->add_map("x");
    request.mutable_spec()->add_input_names("x");
    request.mutable_spec()->set_submission_id("fuzz");
    (*request.mutable_spec()->mutable_labels())["who"] = "fuzz";
    ToMessage(Tensor::Zeros(DType::kF32, {2, 3}), request.add_inputs());
    seeds.push_back(request.SerializeAsString());
  }
  return seeds;
}

}  // namespace

WEIR_FUZZ_TARGET(job, {.seeds = &Seeds, .words = &ProgramWords, .prototype = &Prototype}) {
  v1::RunRequest request;
  if (!request.ParseFromArray(data, static_cast<int>(size))) return 0;
  Submission submission;
  for (const v1::Tensor& message : request.inputs()) {
    absl::StatusOr<Tensor> tensor = FromMessage(message);
    if (!tensor.ok()) return 0;
    submission.inputs.push_back(*std::move(tensor));
  }
  submission.spec = request.spec();
  const absl::StatusOr<PreparedSubmission> prepared = Prepare(std::move(submission), Limits());
  if (!prepared.ok()) return 0;
  const SpecDigest& digest = prepared->digest;
  if (!request.spec().submission_id().empty()) {
    Require(SpecDigest::FromString(digest.ToString()).DifferenceFrom(digest).empty(),
            "a digest survives its text form");
  }
  const v1::JobSpec& spec = prepared->submission.spec;
  const auto compiled = CompileProgram(spec.program());
  if (!compiled.ok()) return 0;
  (void)BindInputs((*compiled)->inputs, {spec.input_names().begin(), spec.input_names().end()},
                   prepared->submission.inputs);
  return 0;
}

}  // namespace weir
