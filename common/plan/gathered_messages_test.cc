#include "common/plan/gathered_messages.h"

#include <gtest/gtest.h>

#include <string>

#include "weir/v1/tensor.pb.h"

namespace weir {
namespace {

void Add(size_t bytes, GatheredMessages<v1::TensorHeader>* gathered) {
  gathered->ToAdd(bytes)->add_extents(static_cast<int64_t>(bytes));
}

// The parts of each message, as "1 2; 3".
std::string TakeAll(GatheredMessages<v1::TensorHeader>* gathered) {
  std::string all;
  while (!gathered->empty()) {
    v1::TensorHeader message;
    gathered->TakeInto(&message);
    if (!all.empty()) all += "; ";
    for (const int64_t part : message.extents()) all += std::to_string(part) + " ";
  }
  return all;
}

TEST(GatheredMessagesTest, KeepsOrderAndCutsAtAMebibyte) {
  GatheredMessages<v1::TensorHeader> gathered;
  EXPECT_TRUE(gathered.empty());
  for (const size_t bytes : {1000, 2000, 1 << 20, 3000, 5 << 20, 10}) Add(bytes, &gathered);
  EXPECT_EQ(TakeAll(&gathered), "1000 2000 ; 1048576 ; 3000 ; 5242880 ; 10 ");
  EXPECT_TRUE(gathered.empty());
}

TEST(GatheredMessagesTest, APartThatIsTooLargeIsAlone) {
  GatheredMessages<v1::TensorHeader> gathered;
  Add(5 << 20, &gathered);
  Add(0, &gathered);
  EXPECT_EQ(TakeAll(&gathered), "5242880 ; 0 ");
  // What was taken counts no longer.
  Add(600'000, &gathered);
  EXPECT_EQ(TakeAll(&gathered), "600000 ");
  Add(600'000, &gathered);
  EXPECT_EQ(TakeAll(&gathered), "600000 ");
}

}  // namespace
}  // namespace weir
