#include "common/net/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

TEST(AddressTest, ReadsHostsAndPorts) {
  for (const char* text : {"localhost:7100", "10.0.0.1:0", "[::1]:65535", "a-b.c:1"}) {
    const auto address = ParseHostPort(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->ToString(), text);
  }
  EXPECT_EQ(ParseHostPort("[::1]:80")->host, "::1");
}

TEST(AddressTest, ErrorsNameTheTextAndTheFault) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "no port"},
      {"host", "no port"},
      {":80", "no host"},
      {"host:", "its port"},
      {"host:65536", "its port"},
      {"host:80x", "its port"},
      {"::1:80", "brackets"},
      {"http://host:80", "a scheme"},
      {"host:-1", "its port"},
  };
  for (const auto& [text, fault] : cases) {
    const absl::Status status = ParseHostPort(text).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr(fault)) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(StrCat("'", text, "'")));
  }
}

}  // namespace
}  // namespace weir
