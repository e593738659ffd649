// README.md says what is: the table of kinds is that of the definitions, and its flow is legal.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "common/base/str_cat.h"
#include "common/flow/flow_text.h"
#include "common/flow/vertex_kind.h"

namespace weir {
namespace {

std::string InputsOf(const VertexKind& kind) {
  if (kind.min_inputs == kind.max_inputs) return StrCat(kind.min_inputs);
  return StrCat(kind.min_inputs, " or more");
}

std::string RowOf(const VertexKind& kind) {
  std::string attributes;
  for (const FlowAttr& attr : kind.attrs) {
    StrAppend(&attributes, attributes.empty() ? "" : "<br>", "`", attr.name, "`", " (",
              AttrKindName(attr.kind), attr.required ? "" : ", may be left out", "): ", attr.what);
  }
  return StrCat("| `", kind.name, "` | ", InputsOf(kind), " | ", kind.outputs, " | ", kind.summary,
                " | ", attributes, " |\n");
}

std::string Readme() {
  std::ostringstream readme;
  readme << std::ifstream(StrCat(WEIR_TEST_DATA, "/../../common/flow/README.md")).rdbuf();
  return readme.str();
}

TEST(FlowReadme, HasTheTableOfKinds) {
  std::string table;
  for (const VertexKind& kind : AllVertexKinds()) table += RowOf(kind);
  EXPECT_NE(Readme().find(table), std::string::npos)
      << "the rows of the table in common/flow/README.md are to be\n"
      << table;
}

TEST(FlowReadme, HasALegalFlow) {
  const std::string readme = Readme();
  const size_t begin = readme.find("    func @pair");
  const size_t end = readme.find("\n    }\n\n", begin);  // of the flow
  ASSERT_NE(end, std::string::npos);
  const auto flow = ParseFlow(readme.substr(begin, end + 6 - begin));
  ASSERT_TRUE(flow.ok()) << flow.status();
  EXPECT_EQ(flow->vertices.size(), 15u);
}

}  // namespace
}  // namespace weir
