#include "server/api/grpc_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(GrpcStatusTest, KeepsCodeAndMessage) {
  const grpc::Status status = ToGrpc(absl::NotFoundError("there is no job 'x'"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "there is no job 'x'");
  EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok());
}

TEST(GrpcStatusTest, CutsWhatWouldNotFitIntoMetadata) {
  const std::string plain = ToGrpc(absl::InternalError(std::string(100'000, 'a'))).error_message();
  EXPECT_LT(plain.size(), 6100u);
  EXPECT_THAT(plain, testing::EndsWith("aaa... (94000 more bytes)"));
  // Each of these takes three bytes on the wire.
  const std::string encoded =
      ToGrpc(absl::InternalError(std::string(100'000, '\n'))).error_message();
  EXPECT_LT(encoded.size(), 2100u);
}

}  // namespace
}  // namespace weir
