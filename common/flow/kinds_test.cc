// What definitions of kinds say of types, attributes, routing and times.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "common/base/str_cat.h"
#include "common/flow/flow_text.h"
#include "common/flow/vertex_kind.h"

namespace weir {
namespace {

// Before the vertex %x that a test is about: %in (i64[], f32[3]) and %other (i64[], bool[]) outside
// of loops, %inside like %in in loop @l.
constexpr std::string_view kBefore = R"(
func @same(%k: i64[], %v: f32[3]) -> (i64[], f32[3]) { return %k, %v }
func @fewer(%k: i64[], %v: f32[3]) -> (f32[3]) { return %v }
func @none(%k: i64[], %v: f32[3]) -> () { return }
func @is(%k: i64[], %v: f32[3]) -> (bool[]) {
  %z = constant {value = i64[] {0}}
  %is = less(%k, %z)
  return %is
}
func @children(%k: i64[], %v: f32[3]) -> (i64[], f32[3], bool[3,2]) {
  %b = constant {value = bool[3,2] {true, true, true, true, true, true}}
  return %k, %v, %b
}
func @uneven(%k: i64[], %v: f32[3]) -> (i64[], f32[3], i64[2]) {
  %c = constant {value = i64[2] {1, 2}}
  return %k, %v, %c
}
func @lone(%k: i64[], %v: f32[3]) -> (i64[]) { return %k }
func @most(%k: i64[], %v: f32[3]) -> (i64[], i64[65537]) {
  %c = broadcast_in_dim(%k) {axes = [], shape = (65537)}
  return %k, %c
}
func @fold(%a: f32[3], %b: f32[3]) -> (f32[3]) { return %b }
func @rows(%k: i64[m], %v: f32[m,3]) -> (f32[m,3], i64[m]) { return %v, %k }
func @two(%k: i64[n], %v: f32[n,3]) -> (i64[2]) {
  %c = constant {value = i64[2] {1, 2}}
  return %c
}
func @scalar(%k: i64[n], %v: f32[n,3]) -> (i64[]) {
  %c = constant {value = i64[] {1}}
  return %c
}
func @mixed(%k: i64[n], %v: f32[m,3]) -> (i64[n]) { return %k }
func @bound(%k: i64[4], %v: f32[4,3]) -> (i64[4]) { return %k }
func @zero() -> (f64[], bool[]) {
  %z = constant {value = f64[] {0}}
  %b = constant {value = bool[] {true}}
  return %z, %b
}
func @zeroof(%k: i64[]) -> (f64[]) {
  %z = convert(%k) {dtype = f64}
  return %z
}
func @nothing() -> () { return }
func @newest(%k: i64[], %v: f32[3], %z: f64[], %b: bool[]) -> (bool[]) { return %b }
func @put(%z: f64[], %b: bool[], %new: bool[]) -> (f64[], bool[]) { return %z, %new }
func @putone(%z: f64[], %new: bool[]) -> (f64[]) { return %z }
func @putkey(%z: f64[], %b: bool[], %k: i64[], %new: bool[]) -> (f64[], bool[]) {
  return %z, %new
}
func @lose(%z: f64[], %b: bool[], %new: bool[]) -> (f64[]) { return %z }
flow @f {
  loop @l
  %in = input() {types = ["i64[]", "f32[3]"]}
  %other = input() {types = ["i64[]", "bool[]"]}
  %inside = enter(%in) {loop = "l"}
  %p = probe(%inside)
)";

// Returns: types of the outputs of %x, or what its error says behind the place.
std::string Of(std::string_view vertex) {
  const auto flow = ParseFlow(StrCat(kBefore, "%x", vertex, "\n}"));
  if (!flow.ok()) {
    const std::string message(flow.status().message());
    const size_t begin = message.find("): ");
    return begin == std::string::npos ? message : message.substr(begin + 3);
  }
  std::string types;
  for (const RecordType& type : flow->vertex(flow->FindVertex("x")).output_types) {
    StrAppend(&types, types.empty() ? "" : " ", ToString(type));
  }
  return types;
}

struct Case {
  std::string_view vertex;
  std::string_view types_or_error;
};

constexpr Case kCases[] = {
    {" = input() {types = strings []}", "records need a column at least"},
    {" = input() {types = [\"f32[n]\"]}",
     "column type f32[n]; columns of records have a fixed size"},
    {" = input() {types = [\"f32[1000,1000,1000]\"]}",
     "records of (f32[1000,1000,1000]) have more than 1073741824 bytes each"},
    {" = input() {types = [\"f32[0]\", \"bool[2,2]\"]}", "(f32[0], bool[2,2])"},
    {" = output(%inside)", "it is in a loop; use 'leave' first"},
    {" = read_files() {glob = \"*.csv\", types = [\"i64[]\", \"f32[3]\"]}", "(i64[], f32[3])"},
    {" = read_files() {glob = \"*.npy\", types = [\"f16[3]\"], epochs = \"file\"}", "(f16[3])"},
    {" = read_files() {glob = \"*.txt\", types = [\"i64[]\"]}",
     "glob = \"*.txt\" ends neither in .csv nor in .npy; say the format"},
    {" = read_files() {glob = \"*.txt\", format = \"csv\", types = [\"i64[]\"], rows = 5}",
     "(i64[])"},
    {" = read_files() {glob = \"*.csv\", format = \"json\", types = [\"i64[]\"]}",
     "format = \"json\"; it is csv or npy"},
    {" = read_files() {glob = \"*.csv\", types = [\"c64[]\"]}",
     "a column of c64[]; CSV files hold bool, integers, f32 and f64"},
    {" = read_files() {glob = \"*.csv\", types = [\"i64[0]\"]}",
     "records of (i64[0]) have no elements; those of files do"},
    {" = read_files() {glob = \"*.csv\", types = [\"i8[2000000]\"]}",
     "records of 2000000 elements; a line of a CSV file has up to 1048576 fields"},
    {" = read_files() {glob = \"*.npy\", types = [\"bf16[]\"]}",
     "a column of bf16[]; NumPy has no bf16, so convert from or to f32 in a map"},
    {" = read_files() {glob = \"*.npy\", types = [\"i64[]\", \"f32[3]\"]}",
     "columns of i64[] and f32[3]; a .npy file holds one element type"},
    {" = read_files() {glob = \"*.csv\", types = [\"i64[]\"], epochs = \"line\"}",
     "epochs = \"line\"; it is one or file"},
    {" = read_files() {glob = \"*.csv\", types = [\"i64[]\"], epochs = \"file\", rows = 2}",
     "it has both epochs = \"file\" and rows; each says where epochs end"},
    {" = read_files() {glob = \"*.csv\", types = [\"i64[]\"], rows = 0}",
     "rows = 0; it is at least 1"},
    {" = read_files() {glob = \"*.csv\", types = [\"i64[]\"], skip_lines = -1}",
     "skip_lines = -1; it is at least 0"},
    {" = read_files() {glob = \"*.npy\", types = [\"i64[]\"], skip_lines = 1}",
     "skip_lines is for CSV files"},
    {" = write_files(%in) {path = \"{epoch}.csv\"}", ""},
    {" = write_files(%inside) {path = \"{epoch}.csv\"}", "it is in a loop; use 'leave' first"},
    {" = write_files(%in) {path = \"{epoch}.npy\"}",
     "columns of i64[] and f32[3]; a .npy file holds one element type"},
    {" = write_files(%in) {path = \"all.csv\"}",
     "path = \"all.csv\": it needs {epoch} once, and {part} at most once"},
    {" = write_files(%in) {path = \"{epoch}.csv\"}\n%y = write_files(%other) {path = "
     "\"{epoch}.csv\"}",
     "\"y\" writes to \"{epoch}.csv\" too"},
    {" = map(%in) {function = \"same\"}", "(i64[], f32[3])"},
    {" = map(%in) {function = \"fewer\"}", "(f32[3])"},
    {" = map(%in) {function = \"none\"}", "records need a column at least"},
    {" = map(%in) {function = \"fold\"}",
     "@fold takes (f32[3], f32[3]) and is given (i64[], f32[3])"},
    {" = map(%in) {function = \"rows\"}",
     "@rows takes (i64[m], f32[m,3]) and is given (i64[], f32[3])"},
    {" = map(%in) {function = \"same\", on_failure = \"skip\"}",
     "on_failure = \"skip\"; it is stop or drop"},
    {" = map(%in) {function = \"same\", pipelined = \"all\", hold_bytes = 8}", "(i64[], f32[3])"},
    {" = map(%in) {function = \"same\", pipelined = \"yes\"}",
     "pipelined = \"yes\"; it is loops or all"},
    {" = map(%in) {function = \"same\", pipelined = \"loops\", hold_bytes = 0}",
     "hold_bytes = 0; it is at least 1"},
    {" = map(%in) {function = \"same\", hold_bytes = 8}",
     "hold_bytes is of pipelined loops; pipelined is missing"},
    {" = filter(%in) {function = \"is\"}", "(i64[], f32[3])"},
    {" = filter(%in) {function = \"lone\"}", "the function returns (i64[]), not (bool[])"},
    {", %y = switch(%in) {function = \"is\"}", "(i64[], f32[3]) (i64[], f32[3])"},
    {", %y = switch(%in) {function = \"same\"}",
     "the function returns (i64[], f32[3]), not (bool[])"},
    {" = flat_map(%in) {function = \"children\"}", "(f32[], bool[2])"},
    {" = flat_map(%in) {function = \"uneven\"}",
     "the function returns (i64[], f32[3], i64[2]); columns behind the count have one leading "
     "extent"},
    {" = flat_map(%in) {function = \"lone\"}",
     "the function returns (i64[]); it is a count i64[] and a column at least"},
    {" = flat_map(%in) {function = \"fewer\"}",
     "the function returns (f32[3]); it is a count i64[] and a column at least"},
    {" = flat_map(%in) {function = \"most\"}",
     "the function returns up to 65537 records for one; up to 65536 are possible"},
    {" = concat(%in, %other)", "its inputs have records of (i64[], f32[3]) and (i64[], bool[])"},
    {" = concat()", "it has 0 inputs and takes 1 or more"},
    {" = merge(%in, %in)", "(i64[], f32[3])"},
    {" = merge(%in, %other)", "its inputs have records of (i64[], f32[3]) and (i64[], bool[])"},
    {" = after(%in, %other)", "(i64[], f32[3])"},
    {" = after(%in)", "it has 1 inputs and takes 2 or more"},
    {" = after(%in, %other) {hold = [1]}",
     "hold keeps records for the trips of a loop, and it is in none"},
    {" = after(%inside, %inside) {hold = [1, 0]}",
     "hold names all inputs; one at least has records for one trip each"},
    {" = after(%in, %other) {unmatched = \"wait\"}", "unmatched = \"wait\"; it is drop or stop"},
    {" = zip(%in, %other) {unmatched = \"stop\"}", "(i64[], f32[3], i64[], bool[])"},
    {" = zip(%in, %other)", "(i64[], f32[3], i64[], bool[])"},
    {" = zip(%in, %other) {hold = [1]}",
     "hold keeps records for the trips of a loop, and it is in none"},
    {" = exchange(%in) {keys = 2}", "(i64[], f32[3])"},
    {" = exchange(%in) {keys = -1}", "keys = -1, but records are (i64[], f32[3])"},
    {" = inspect(%in) {limit = 1000}", "(i64[], f32[3])"},
    {" = inspect(%in) {limit = 1001}", "limit = 1001; it is from 0 to 1000"},
    {" = enter(%in) {loop = \"l\", trip = -1}", "trip = -1; it is at least 0"},
    {" = enter(%in) {loop = \"k\"}", "there is no loop 'k'"},
    {" = enter(%inside) {loop = \"l\"}",
     "'inside' is in loop 'l' and cannot be read outside of loops; use 'enter' or 'leave'"},
    {" = leave(%in)", "it leaves a loop, but its input is in none"},
    {" = feedback(%inside) {bound = 0}", "bound = 0; it is at least 1"},
    {" = feedback(%in)", "it is in no loop; use 'delay' for a later epoch"},
    {" = delay(%in) {epochs = 0}", "epochs = 0; it is at least 1"},
    {" = delay(%inside) {epochs = 1}", "(i64[], f32[3])"},
    {" = window(%in) {size = 0}", "size = 0; it is at least 1"},
    {" = window(%in) {size = 1, slide = 0}", "slide = 0; it is at least 1"},
    {" = window(%in) {size = 1024, slide = 1}", "(i64[], f32[3])"},
    {" = window(%in) {size = 1025, slide = 1}",
     "size = 1025 and slide = 1 put a record into 1025 windows; up to 1024 are possible"},
    {" = window(%in) {size = 9223372036854775807}", "(i64[], f32[3])"},
    {" = window(%inside) {size = 1}", "windows are made of epochs, and it is in a loop"},
    {" = collect(%in)", "(i64[], f32[3])"},
    {" = collect(%in) {function = \"rows\"}", "(f32[3], i64[])"},
    {" = collect(%in) {function = \"two\"}", "(i64[])"},
    {" = collect(%in) {function = \"scalar\"}",
     "@scalar has a result of type i64[]; it needs an axis of records, and the rest of a fixed "
     "size"},
    {" = collect(%in) {function = \"mixed\"}",
     "@mixed takes (i64[n], f32[m,3]) and is given all records, (i64[n], f32[n,3])"},
    {" = collect(%in) {function = \"bound\"}",
     "@bound takes (i64[4], f32[4,3]) and is given all records, (i64[n], f32[n,3])"},
    {" = reduce_by_key(%in) {keys = 1, combine = \"mean\"}", "(i64[], f32[3])"},
    {" = reduce_by_key(%in) {keys = 0, combine = \"mean\"}", "(f64[], f32[3])"},
    {" = reduce_by_key(%in) {keys = 1, combine = \"count\"}", "(i64[], i64[])"},
    {" = reduce_by_key(%in) {keys = 1, combine = \"median\"}",
     "combine = \"median\"; it is sum, min, max, mean or count"},
    {" = reduce_by_key(%other) {keys = 1, combine = \"sum\"}", "there is no sum of bool[]"},
    {" = reduce_by_key(%in) {keys = 1, function = \"fold\"}", "(i64[], f32[3])"},
    {" = reduce_by_key(%in) {keys = 0, function = \"fold\"}",
     "@fold takes (f32[3], f32[3]) and is given (i64[], f32[3], i64[], f32[3])"},
    {" = reduce_by_key(%in) {keys = 1, function = \"fold\", combine = \"sum\"}",
     "it needs one of the attributes 'combine' and 'function'"},
    {" = reduce_by_key(%in) {keys = 1, combine = \"sum\", state = \"ever\"}",
     "state = \"ever\"; it is time, loop or job"},
    {" = reduce_by_key(%in) {keys = 1, combine = \"sum\", state = \"loop\"}",
     "state = \"loop\", but it is in no loop"},
    {" = reduce_by_key(%in) {keys = 1, combine = \"sum\", emit = \"changes\"}",
     "emit = \"changes\" needs state that outlives a time: loop or job"},
    {" = reduce_by_key(%in) {keys = 1, combine = \"sum\", state = \"job\", emit = \"all\"}",
     "emit = \"all\"; it is updates or changes"},
    {" = count(%in) {keys = 0}", "(i64[])"},
    {" = count(%in) {keys = 2}", "(i64[], f32[3], i64[])"},
    {" = count(%in) {keys = 3}", "keys = 3, but records are (i64[], f32[3])"},
    {" = distinct(%inside) {state = \"loop\", emit = \"changes\"}", "(i64[], f32[3])"},
    {" = top_k(%in) {keys = 0, k = 1, by = 0}", "(i64[], f32[3])"},
    {" = top_k(%in) {keys = 0, k = 0, by = 0}", "k = 0; it is at least 1"},
    {" = top_k(%in) {keys = 1, k = 1, by = 0}",
     "by = 0; it is a column behind the 1 of the key, and records are (i64[], f32[3])"},
    {" = top_k(%in) {keys = 0, k = 1, by = 1}",
     "by = 1 is a column of f32[3]; it is one number of each record"},
    {" = top_k(%other) {keys = 0, k = 1, by = 1}",
     "by = 1 is a column of bool[]; it is one number of each record"},
    {" = join(%in, %other) {keys = 1}", "(i64[], f32[3], bool[])"},
    {" = join(%in, %other) {keys = 0, state = \"job\"}", "(i64[], f32[3], i64[], bool[])"},
    {" = join(%in, %other) {keys = 2}",
     "keys = 2, but the inputs have records of (i64[], f32[3]) and (i64[], bool[])"},
    {" = join(%in, %other) {keys = 1, emit = \"changes\"}", "it has no attribute 'emit'"},
    {" = join(%in) {keys = 1}", "it has 1 inputs and takes 2"},
    {" = semijoin(%in, %other) {keys = 1}", "(i64[], f32[3])"},
    {" = semijoin(%in, %other) {keys = 3}", "keys = 3, but records are (i64[], f32[3])"},
    {" = variable(%in, %other) {keys = 1, init = \"zero\", assign = \"put\"}",
     "(i64[], f32[3], f64[], bool[])"},
    {" = variable(%in, %other) {keys = 1, init = \"zeroof\", assign = \"putone\"}",
     "(i64[], f32[3], f64[])"},
    {" = variable(%in, %other) {keys = 0, init = \"zero\", assign = \"putkey\"}",
     "(i64[], f32[3], f64[], bool[])"},
    {" = variable(%in, %d) {keys = 0, init = \"zero\", assign = \"put\"}\n"
     "%b = map(%x) {function = \"newest\"}\n%d = delay(%b) {epochs = 2}",
     "(i64[], f32[3], f64[], bool[])"},
    {" = variable(%in, %other) {keys = 2, init = \"zero\", assign = \"put\"}",
     "keys = 2, but the inputs have records of (i64[], f32[3]) and (i64[], bool[])"},
    {" = variable(%in, %other) {keys = 3, init = \"zero\", assign = \"put\"}",
     "keys = 3, but records are (i64[], f32[3])"},
    {" = variable(%in, %other) {keys = 0, init = \"zeroof\", assign = \"putone\"}",
     "@zeroof takes (i64[]) and is given ()"},
    {" = variable(%in, %other) {keys = 1, init = \"nothing\", assign = \"put\"}",
     "'init' returns nothing; a value has a column or more"},
    {" = variable(%in, %other) {keys = 1, init = \"zero\", assign = \"putone\"}",
     "@putone takes (f64[], bool[]) and is given (f64[], bool[], bool[])"},
    {" = variable(%in, %other) {keys = 1, init = \"zero\", assign = \"lose\"}",
     "'init' gives values of (f64[], bool[]) and 'assign' returns (f64[])"},
    {" = variable(%in, %other) {keys = 1, init = \"zero\", assign = \"away\"}",
     "there is no function @away"},
    {" = variable(%in, %other) {keys = 1, init = \"zero\", assign = \"put\", order = \"any\"}",
     "order = \"any\"; it is time or relaxed"},
    {" = variable(%in) {keys = 1, init = \"zero\", assign = \"put\"}",
     "it has 1 inputs and takes 2"},
};

TEST(Kinds, TypesFollowAndAttributesAreChecked) {
  for (const Case& one : kCases) EXPECT_EQ(Of(one.vertex), one.types_or_error) << one.vertex;
}

// The vertex %x, checked.
class OneVertex {
 public:
  explicit OneVertex(std::string_view text)
      : flow_(ParseFlow(StrCat(kBefore, "%x", text, "\n}")).value()) {}
  const FlowVertex& vertex() const { return flow_.vertex(flow_.FindVertex("x")); }

  std::string RouteTo(int input) const {
    const Routing route = RouteOf(vertex(), input);
    constexpr const char* kTo[] = {"self", "key", "origin", "root", "all"};
    return StrCat(kTo[static_cast<int>(route.to)], " ", route.keys);
  }
  std::string Summary() const {
    return ToString(SummaryOf(vertex(), flow_.DepthOf(vertex().scope)));
  }

 private:
  Flow flow_;
};

TEST(Kinds, RecordsGoToTheWorkerThatHasTheirKey) {
  EXPECT_EQ(OneVertex(" = map(%in) {function = \"same\"}").RouteTo(0), "self 0");
  EXPECT_EQ(OneVertex(" = exchange(%in) {keys = 2}").RouteTo(0), "key 2");
  EXPECT_EQ(OneVertex(" = collect(%in)").RouteTo(0), "root 0");
  EXPECT_EQ(OneVertex(" = count(%in) {keys = 1}").RouteTo(0), "key 1");
  EXPECT_EQ(OneVertex(" = count(%in) {keys = 0}").RouteTo(0), "root 0");
  EXPECT_EQ(OneVertex(" = distinct(%in)").RouteTo(0), "key 2");
  EXPECT_EQ(OneVertex(" = top_k(%in) {keys = 0, k = 1, by = 0}").RouteTo(0), "root 0");
  EXPECT_EQ(OneVertex(" = join(%in, %other) {keys = 1}").RouteTo(0), "key 1");
  EXPECT_EQ(OneVertex(" = join(%in, %other) {keys = 1}").RouteTo(1), "key 1");
  EXPECT_EQ(OneVertex(" = semijoin(%in, %other) {keys = 0}").RouteTo(1), "root 0");
  EXPECT_EQ(OneVertex(" = zip(%in, %other)").RouteTo(1), "origin 0");
  EXPECT_EQ(OneVertex(" = variable(%in, %other) {keys = 1, init = \"zero\", assign = \"put\"}")
                .RouteTo(1),
            "key 1");
  EXPECT_EQ(OneVertex(" = after(%in, %other)").RouteTo(1), "origin 0");
  EXPECT_EQ(OneVertex(" = merge(%in, %in)").RouteTo(1), "origin 0");
  EXPECT_EQ(OneVertex(" = write_files(%in) {path = \"{epoch}.csv\"}").RouteTo(0), "root 0");
  EXPECT_EQ(OneVertex(" = write_files(%in) {path = \"{epoch}-{part}.csv\"}").RouteTo(0),
            "origin 0");
}

TEST(Kinds, SummariesSayTheLeastThatHappensToATime) {
  const auto summary = [](std::string_view vertex) { return OneVertex(vertex).Summary(); };
  EXPECT_EQ(summary(" = delay(%in) {epochs = 3}"), ToString(PathSummary::Advance(0, 0, 3)));
  EXPECT_EQ(summary(" = delay(%inside) {epochs = 3}"), ToString(PathSummary::Advance(1, 0, 3)));
  EXPECT_EQ(summary(" = window(%in) {size = 3}"), ToString(PathSummary::Identity(0)));
  EXPECT_EQ(summary(" = enter(%in) {loop = \"l\", trip = 2}"), ToString(PathSummary::Enter(0, 2)));
  EXPECT_EQ(summary(" = leave(%inside)"), ToString(PathSummary::Leave(1)));
  EXPECT_EQ(summary(" = feedback(%inside)"), ToString(PathSummary::Advance(1, 1)));
  EXPECT_EQ(summary(" = distinct(%inside)"), ToString(PathSummary::Identity(1)));
}

TEST(Kinds, EachSaysWhatItsFunctionIsCalledFor) {
  for (const VertexKind& kind : AllVertexKinds()) {
    for (const FlowAttr& attr : kind.attrs) {
      const bool names_one =
          attr.name == "function" || attr.name == "init" || attr.name == "assign";
      EXPECT_EQ(attr.calls != FlowAttr::Calls::kNothing, names_one) << kind.name;
      const bool batch = kind.name == "collect" && attr.name == "function";
      EXPECT_EQ(attr.calls == FlowAttr::Calls::kBatch, batch) << kind.name;
    }
  }
}

TEST(Kinds, AFunctionOfABatchAnswersRowByRowOrNot) {
  const auto flow = ParseFlow(StrCat(kBefore,
                                     "%a = collect(%in) {function = \"rows\"}\n"
                                     "%b = collect(%in) {function = \"two\"}\n}"));
  ASSERT_TRUE(flow.ok()) << flow.status();
  EXPECT_TRUE(AnswersRowByRow(*flow, flow->vertex(flow->FindVertex("a")), "function"));
  EXPECT_FALSE(AnswersRowByRow(*flow, flow->vertex(flow->FindVertex("b")), "function"));
}

}  // namespace
}  // namespace weir
