#include "server/jobs/job_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir {
namespace {

Submission Valid() {
  Submission submission;
  submission.spec.mutable_program()->set_format(v1::Program::FORMAT_TEXT);
  submission.spec.mutable_program()->set_source("func @main() -> () { return }");
  submission.spec.set_submission_id("id");
  submission.spec.add_input_names("a");
  submission.spec.add_input_names("b");
  submission.inputs = {Tensor::Scalar<float>(1), Tensor::Scalar<float>(2)};
  (*submission.spec.mutable_labels())["team"] = "red";
  return submission;
}

std::string_view Difference(const Submission& a, const Submission& b) {
  return Prepare(a, Limits())->digest.DifferenceFrom(Prepare(b, Limits())->digest);
}

TEST(JobSpecTest, EqualSubmissionsDoNotDiffer) { EXPECT_EQ(Difference(Valid(), Valid()), ""); }

TEST(JobSpecTest, TheOrderOfInputsDoesNotMatter) {
  Submission swapped = Valid();
  swapped.spec.set_input_names(0, "b");
  swapped.spec.set_input_names(1, "a");
  std::swap(swapped.inputs[0], swapped.inputs[1]);
  EXPECT_EQ(Difference(Valid(), swapped), "");
  std::swap(swapped.inputs[0], swapped.inputs[1]);
  EXPECT_EQ(Difference(Valid(), swapped), "inputs");
}

TEST(JobSpecTest, NamesTheFieldThatDiffers) {
  Submission other = Valid();
  other.spec.mutable_program()->add_map("a");
  EXPECT_EQ(Difference(Valid(), other), "program");
  other = Valid();
  other.spec.mutable_program()->set_mode(v1::Program::MODE_LOOP);
  EXPECT_EQ(Difference(Valid(), other), "program");
  other = Valid();
  other.spec.set_repeat(2);
  EXPECT_EQ(Difference(Valid(), other), "workers, repeat, memory_budget or profile");
  other = Valid();
  (*other.spec.mutable_labels())["team"] = "blue";
  EXPECT_EQ(Difference(Valid(), other), "labels");
}

TEST(JobSpecTest, ModesThatMeanTheSameAreOneProgram) {
  Submission other = Valid();
  other.spec.mutable_program()->set_mode(v1::Program::MODE_VECTORIZED);
  EXPECT_EQ(Difference(Valid(), other), "");
}

TEST(JobSpecTest, DigestsSurviveTheJournal) {
  const SpecDigest digest = Prepare(Valid(), Limits())->digest;
  EXPECT_EQ(digest.DifferenceFrom(SpecDigest::FromString(digest.ToString())), "");
  EXPECT_EQ(SpecDigest::FromString("").program, "");
}

TEST(JobSpecTest, RefusesWhatIsMissingOrTooMuch) {
  const auto code = [](const Submission& submission, const Limits& limits = {}) {
    return Prepare(submission, limits).status().code();
  };
  Submission bad = Valid();
  bad.spec.mutable_program()->clear_source();
  EXPECT_EQ(code(bad), absl::StatusCode::kInvalidArgument);
  bad.spec.set_program_id("0123abcd");
  EXPECT_EQ(code(bad), absl::StatusCode::kOk);
  bad.spec.set_program_id("no id\n");
  EXPECT_EQ(code(bad), absl::StatusCode::kNotFound);
  bad = Valid();
  bad.spec.mutable_program()->clear_format();
  EXPECT_EQ(code(bad), absl::StatusCode::kInvalidArgument);
  bad = Valid();
  bad.inputs.pop_back();
  EXPECT_EQ(code(bad), absl::StatusCode::kInvalidArgument);
  const auto exhausted = absl::StatusCode::kResourceExhausted;
  Limits limits;
  limits.max_program_bytes = 5;
  EXPECT_EQ(code(Valid(), limits), exhausted);
  limits = {};
  limits.max_input_bytes = 7;
  EXPECT_EQ(code(Valid(), limits), exhausted);
  limits = {};
  limits.max_inputs = 1;
  EXPECT_EQ(code(Valid(), limits), exhausted);
  bad = Valid();
  bad.spec.set_submission_id(std::string(1000, 'x'));
  EXPECT_EQ(code(bad), exhausted);
  bad = Valid();
  bad.spec.set_repeat(1'000'000'000);
  EXPECT_EQ(code(bad), exhausted);
  bad = Valid();
  (*bad.spec.mutable_labels())["x"] = std::string(1000, 'x');
  EXPECT_EQ(code(bad), exhausted);
}

}  // namespace
}  // namespace weir
