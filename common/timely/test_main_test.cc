// weir_timely_test [--graphs N] [--seed S]: how many random graphs each random test draws, 1000 if
// not told, and the seed of the first, fresh if not told.
#include "common/timely/test_run_testing.h"
#include "gtest/gtest.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!weir::ReadTestRun(argc, argv)) return 2;
  return RUN_ALL_TESTS();
}
