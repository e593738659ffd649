// What programs compute whose iterations meet, by hand.
#include "common/interp/lockstep.h"

#include "common/base/str_cat.h"
#include "common/interp/test_run.h"
#include "gmock/gmock.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// `body` makes %y, i64[] each.
std::string InPfor(std::string_view body, std::string_view operands = "") {
  return StrCat(R"(
    func @main(%x: i64[n]) -> (i64[n] "y") {
      %zero = constant {value = i64[] {0}}
      %one = constant {value = i64[] {1}}
      %two = constant {value = i64[] {2}}
      %three = constant {value = i64[] {3}}
      %ys = pfor)",
                operands, R"( {extent = (n)} (%i: i64[]) {
        )",
                body, R"(
        yield %y
      }
      return %ys
    })");
}

std::vector<std::string> RunFor(int64_t n, const std::string& program) {
  return Texts(MustRun(program, {Tensor::Zeros(DType::kI64, {n})}));
}

constexpr char kBranch[] = R"(
        %low = less(%i, %three)
        %y = if(%low) {
          %sum = iteration_reduce(%i) {extent = (n), kind = "sum"}
          yield %sum
        } {
          %most = iteration_reduce(%i) {extent = (n), kind = "prod"}
          yield %most
        })";

TEST(LockstepTest, BranchesMeetForThoseThatTakeThem) {
  EXPECT_THAT(RunFor(6, InPfor(kBranch)), ElementsAre("i64[6] {3, 3, 3, 60, 60, 60}"));
  EXPECT_THAT(RunFor(2, InPfor(kBranch)), ElementsAre("i64[2] {1, 1}"));
  EXPECT_THAT(RunFor(0, InPfor(kBranch)), ElementsAre("i64[0] {}"));
}

TEST(LockstepTest, IterationsFromTheCountOnHaveNoPart) {
  EXPECT_THAT(RunFor(6, InPfor(kBranch, "(%two)")), ElementsAre("i64[6] {1, 1, 0, 0, 0, 0}"));
}

TEST(LockstepTest, WhoHasLeftALoopMeetsNobodyThere) {
  EXPECT_THAT(RunFor(4, InPfor(R"(
        %end, %y = while(%zero, %zero) (%k: i64[], %s: i64[]) {
          %least = iteration_reduce(%i) {extent = (n), kind = "min"}
          %more = less(%k, %i)
          yield %more
        } (%k2: i64[], %s2: i64[]) {
          %all = iteration_reduce(%one) {extent = (n), kind = "sum"}
          %s3 = multiply(%s2, %two)
          %s4 = add(%s3, %all)
          %k3 = add(%k2, %one)
          yield %k3, %s4
        })")),
              ElementsAre("i64[4] {0, 3, 8, 17}"));
}

TEST(LockstepTest, CountedLoopsMeetTripByTrip) {
  EXPECT_THAT(RunFor(3, InPfor(R"(
        %y = for(%i, %zero) (%k: i64[], %s: i64[]) {
          %sum = add(%k, %i)
          %all = iteration_reduce(%sum) {extent = (n), kind = "max"}
          %next = add(%s, %all)
          yield %next
        })")),
              ElementsAre("i64[3] {0, 2, 5}"));
}

TEST(LockstepTest, GatheringLeavesZerosForTheOthers) {
  EXPECT_THAT(Texts(MustRun(R"(
    func @main() -> (i64[3,3] "y") {
      %two = constant {value = i64[] {2}}
      %none = constant {value = i64[3] {0, 0, 0}}
      %ys = pfor {extent = (3)} (%i: i64[]) {
        %odd = remainder(%i, %two)
        %y = case(%odd) {
          %next = add(%i, %two)
          %all = iteration_reduce(%next) {extent = (3), kind = "gather"}
          yield %all
        } {
          yield %none
        }
        yield %y
      }
      return %ys
    })",
                            {})),
              ElementsAre("i64[3,3] {2, 0, 4, 0, 0, 0, 2, 0, 4}"));
}

TEST(LockstepTest, ThereMustBeALoopToMeetIn) {
  const absl::Status status = TryRun(R"(
    func @main(%x: i64[]) -> (i64[] "y") {
      %y = iteration_reduce(%x) {extent = (3), kind = "sum"}
      return %y
    })",
                                     {Tensor::Scalar<int64_t>(1)})
                                  .status();
  EXPECT_THAT(Message(status), HasSubstr("there is none around it"));
}

}  // namespace
}  // namespace weir
