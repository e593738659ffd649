#include "common/tensor/npy.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string DataPath(std::string_view name) {
  return std::string(WEIR_TEST_DATA "/npy/") + std::string(name);
}

std::string TempPath(std::string_view name) {
  return ::testing::TempDir() + "weir_npy_test_" + std::string(name);
}

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

void Spill(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Tensor Read(std::string_view name) {
  const absl::StatusOr<Tensor> tensor = ReadNpy(DataPath(name));
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return tensor.ok() ? *tensor : Tensor();
}

std::string Error(const absl::Status& status) {
  EXPECT_FALSE(status.ok());
  return std::string(status.message());
}

std::string ParseError(std::string_view bytes) { return Error(ParseNpy(bytes, "x").status()); }

// A version 1.0 file of one header and `data_bytes` zeros.
std::string FileOf(std::string_view header, size_t data_bytes) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + std::string(header) + std::string(data_bytes, '\0');
}

std::string HeaderError(std::string_view header, size_t data_bytes = 0) {
  return ParseError(FileOf(header, data_bytes));
}

template <class T>
Tensor Extremes() {
  using Limits = std::numeric_limits<T>;
  return Tensor::Of<T>({2, 3}, {T(0), T(1), T(2), T(3), Limits::max(), Limits::min()});
}

template <class T>
Tensor Floats(T max) {
  const float infinity = std::numeric_limits<float>::infinity();
  return Tensor::Of<T>({2, 3}, {T(0.5f), T(-1.25f), T(0.0f), T(infinity), max, T(-0.0f)});
}

template <class T>
Tensor Complexes() {
  const T infinity = std::numeric_limits<T>::infinity();
  return Tensor::Of<std::complex<T>>({2, 3}, {{1, 2}, {-0.0, -0.5}, 0, 3, infinity, {-4.25, 8}});
}

std::map<std::string, Tensor> Expected() {
  return {
      {"b1", Tensor::Of<bool>({2, 3}, {true, false, false, true, true, false})},
      {"i1", Extremes<int8_t>()},
      {"i2", Extremes<int16_t>()},
      {"i4", Extremes<int32_t>()},
      {"i8", Extremes<int64_t>()},
      {"u1", Extremes<uint8_t>()},
      {"u2", Extremes<uint16_t>()},
      {"u4", Extremes<uint32_t>()},
      {"u8", Extremes<uint64_t>()},
      {"f2", Floats<Half>(Half(65504.0f))},
      {"f4", Floats<float>(std::numeric_limits<float>::max())},
      {"f8", Floats<double>(std::numeric_limits<double>::max())},
      {"c8", Complexes<float>()},
      {"c16", Complexes<double>()},
  };
}

Tensor Count(DType dtype) {
  Tensor out(dtype, {2, 3, 4});
  VisitDType(dtype, [&]<class T>(TypeTag<T>) {
    for (int i = 0; i < 24; ++i) out.mutable_data<T>()[i] = static_cast<T>(static_cast<float>(i));
  });
  return out;
}

TEST(NpyTest, ReadsAndWritesEveryDTypeAsNumPyDoes) {
  for (const auto& [code, expected] : Expected()) {
    const Tensor tensor = Read(code + ".npy");
    EXPECT_TRUE(tensor.BitEquals(expected)) << code << ": " << tensor.ToString();
    EXPECT_EQ(FormatNpy(expected).value(), Slurp(DataPath(code + ".npy"))) << code;
  }
}

TEST(NpyTest, ReadsBigEndian) {
  const std::map<std::string, Tensor> expected = Expected();
  for (const char* code : {"i2", "f4", "c16"}) {
    const Tensor tensor = Read(std::string("big_") + code + ".npy");
    EXPECT_TRUE(tensor.BitEquals(expected.at(code))) << tensor.ToString();
  }
}

TEST(NpyTest, ReadsFortranOrderAsRowMajor) {
  EXPECT_TRUE(Read("fortran_f8.npy").BitEquals(Count(DType::kF64)));
  EXPECT_TRUE(Read("fortran_f8.npy").is_contiguous());
  EXPECT_TRUE(Read("fortran_big_u2.npy").BitEquals(Count(DType::kU16)));
}

TEST(NpyTest, ReadsEveryVersionAndShape) {
  EXPECT_TRUE(Read("version2.npy").BitEquals(Count(DType::kI32)));
  EXPECT_TRUE(Read("version3.npy").BitEquals(Count(DType::kI32)));
  EXPECT_TRUE(Read("scalar.npy").BitEquals(Tensor::Scalar(2.5f)));
  EXPECT_TRUE(Read("vector.npy").BitEquals(Tensor::Of<int64_t>({5}, {0, 1, 2, 3, 4})));
  EXPECT_THAT(Read("empty.npy").extents(), ElementsAre(3, 0, 2));
}

TEST(NpyTest, WritesEveryShapeAsNumPyDoes) {
  for (const char* name : {"scalar.npy", "vector.npy", "empty.npy"}) {
    EXPECT_EQ(FormatNpy(Read(name)).value(), Slurp(DataPath(name))) << name;
  }
}

TEST(NpyTest, WritesViews) {
  const std::string path = TempPath("view.npy");
  const Tensor view = Count(DType::kF32).Transpose({2, 0, 1});
  ASSERT_TRUE(WriteNpy(path, view).ok());
  EXPECT_TRUE(ReadNpy(path)->BitEquals(view));
  EXPECT_EQ(Slurp(path), FormatNpy(view).value());
  std::filesystem::remove(path);
}

TEST(NpyTest, AcceptsOtherSpellings) {
  const auto parses = [](std::string_view header, size_t bytes) {
    return ParseNpy(FileOf(header, bytes), "x").ok();
  };
  EXPECT_TRUE(parses("{'shape': (2,), 'fortran_order': True, 'descr': '=f4'}", 8));
  EXPECT_TRUE(parses("{\"descr\":\"f8\",\"fortran_order\":False,\"shape\":(1L,2L)}\n", 16));
  EXPECT_TRUE(parses("{'descr': '>b1', 'fortran_order': False, 'shape': (), }", 1));
}

TEST(NpyTest, NormalizesBooleans) {
  std::string file = FileOf("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", 2);
  file.back() = '\x42';
  EXPECT_TRUE(ParseNpy(file, "x")->BitEquals(Tensor::Of<bool>({2}, {false, true})));
}

TEST(NpyTest, RefusesWhatIsNoTensor) {
  EXPECT_THAT(Error(ReadNpy(DataPath("object.npy")).status()),
              AllOf(HasSubstr("object.npy"), HasSubstr("pickled Python objects")));
  EXPECT_THAT(Error(ReadNpy(DataPath("text.npy")).status()), HasSubstr("'<U4' holds text"));
  EXPECT_THAT(Error(ReadNpy(DataPath("structured.npy")).status()), HasSubstr("structured dtypes"));
  EXPECT_THAT(Error(ReadNpy(DataPath("time.npy")).status()), HasSubstr("holds times"));
  EXPECT_THAT(HeaderError("{'descr': '|V2', 'fortran_order': False, 'shape': (), }"),
              HasSubstr("bfloat16"));
  EXPECT_THAT(HeaderError("{'descr': '<f16', 'fortran_order': False, 'shape': (), }"),
              HasSubstr("'<f16' is not supported"));
  EXPECT_EQ(Error(FormatNpy(Tensor::Scalar(BFloat16(1.0f))).status()),
            "NumPy has no dtype for bf16; convert it to f32");
}

TEST(NpyTest, NamesMissingFiles) {
  const absl::Status missing = ReadNpy("/nonexistent/a.npy").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Error(missing), HasSubstr("cannot open /nonexistent/a.npy: No such file"));
  EXPECT_THAT(Error(ReadNpy(DataPath("")).status()), HasSubstr("not a regular file"));
  EXPECT_THAT(Error(WriteNpy("/nonexistent/a.npy", Tensor::Scalar(1.0f))),
              HasSubstr("cannot create /nonexistent/a.npy"));
}

TEST(NpyTest, RefusesEveryCut) {
  const std::string whole = Slurp(DataPath("f4.npy"));
  const std::string path = TempPath("cut.npy");
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string_view cut(whole.data(), size);
    EXPECT_FALSE(ParseNpy(cut, "x").ok()) << size;
    Spill(path, cut);
    EXPECT_FALSE(ReadNpy(path).ok()) << size;
  }
  std::filesystem::remove(path);
  EXPECT_EQ(ParseError(whole + "12"), "x: 2 bytes follow the array f32[2,3]");
  EXPECT_EQ(ParseError(whole.substr(0, whole.size() - 1)),
            "x: the file is cut: f32[2,3] needs 24 bytes, but 23 are there");
}

TEST(NpyTest, RefusesBadHeaders) {
  EXPECT_THAT(ParseError(""), HasSubstr("not a .npy file"));
  EXPECT_THAT(ParseError("PK\x03\x04 and more"), HasSubstr("not a .npy file"));
  EXPECT_THAT(ParseError("\x93NUMPY\x09\x01 and more"), HasSubstr("format version 9.1"));
  EXPECT_THAT(ParseError("\x93NUMPY\x02 "), HasSubstr("format version 2.32"));
  EXPECT_THAT(ParseError(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)),
              HasSubstr("a header of 4294967295 bytes is too long"));
  const std::string_view rest = ", 'fortran_order': False, 'shape': (2,), }";
  EXPECT_THAT(HeaderError("{'descr': '<f4', 'fortran_order': False, }"), HasSubstr("lacks shape"));
  EXPECT_THAT(HeaderError("{'descr': '<f4', 'descr': '<f4'" + std::string(rest)),
              HasSubstr("once"));
  EXPECT_THAT(HeaderError("{'order': 1" + std::string(rest)), HasSubstr("once"));
  EXPECT_THAT(HeaderError("{'descr': '<f4'" + std::string(rest) + " x"), HasSubstr("nothing"));
  EXPECT_THAT(HeaderError("{'descr': __import__('os')" + std::string(rest)),
              HasSubstr("expected a quoted string"));
  EXPECT_THAT(HeaderError("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }"),
              HasSubstr("True or False"));
}

TEST(NpyTest, RefusesBadShapes) {
  const auto error = [](std::string_view shape) {
    return HeaderError(
        "{'descr': '<f4', 'fortran_order': False, 'shape': " + std::string(shape) + ", }", 8);
  };
  EXPECT_THAT(error("(-2,)"), HasSubstr("expected an extent"));
  EXPECT_THAT(error("(2)"), HasSubstr("expected ',' behind the only extent"));
  EXPECT_THAT(error("2"), HasSubstr("expected '('"));
  EXPECT_THAT(error("(99999999999999999999,)"), HasSubstr("expected an extent"));
  EXPECT_THAT(error("(1099511627776,)"), HasSubstr("is cut"));
  EXPECT_THAT(error("(4611686018427387904, 4)"), HasSubstr("more than 2^62 bytes"));
  EXPECT_THAT(error("(4611686018427387904, 4, 0)"), HasSubstr("more than 2^62 bytes"));
  std::string deep = "(";
  for (int i = 0; i < 33; ++i) deep += "1, ";
  EXPECT_THAT(error(deep + ")"), HasSubstr("rank is above 32"));
}

TEST(NpzTest, ReadsArchivesOfNumPy) {
  const auto stored = ReadNpz(DataPath("stored.npz"));
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->size(), 2u);
  EXPECT_TRUE(stored->at("image").BitEquals(Count(DType::kF32)));
  EXPECT_TRUE(stored->at("label").BitEquals(Tensor::Of<int64_t>({5}, {0, 1, 2, 3, 4})));
  const auto deflated = ReadNpz(DataPath("deflated.npz"));
  ASSERT_TRUE(deflated.ok()) << deflated.status();
  EXPECT_TRUE(deflated->at("image").BitEquals(Count(DType::kF32)));
  EXPECT_TRUE(deflated->at("zeros").BitEquals(Tensor::Zeros(DType::kF64, {256, 64})));
}

TEST(NpzTest, WritesWhatItReads) {
  const std::string path = TempPath("written.npz");
  std::map<std::string, Tensor> tensors = Expected();
  tensors["view"] = Count(DType::kF32).Transpose({1, 2, 0});
  tensors["empty"] = Tensor(DType::kF32, {0, 3});
  ASSERT_TRUE(WriteNpz(path, tensors).ok());
  const std::string first = Slurp(path);
  const auto again = ReadNpz(path);
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_EQ(again->size(), tensors.size());
  for (const auto& [name, tensor] : tensors) EXPECT_TRUE(again->at(name).BitEquals(tensor)) << name;
  ASSERT_TRUE(WriteNpz(path, tensors).ok());
  EXPECT_EQ(Slurp(path), first);
  std::filesystem::remove(path);
  EXPECT_THAT(Error(WriteNpz(path, {})), HasSubstr("no tensors"));
  EXPECT_THAT(Error(WriteNpz(path, {{"x", Tensor::Scalar(BFloat16(1.0f))}})),
              HasSubstr("(x): NumPy has no dtype for bf16"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(NpzTest, RefusesBadArchives) {
  EXPECT_EQ(ReadNpz("/nonexistent/a.npz").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Error(ReadNpz(DataPath("f4.npy")).status()), HasSubstr("f4.npy: "));
  EXPECT_THAT(Error(ReadNpz(DataPath("deflated.npz"), {.max_bytes = 1000}).status()),
              HasSubstr("above the limit"));
}

TEST(NpzTest, NoticesDamageAndLies) {
  const std::string path = TempPath("bad.npz");
  std::string bytes = Slurp(DataPath("stored.npz"));
  std::string damaged = bytes;
  damaged[damaged.find("NUMPY") + 140] ^= 1;
  Spill(path, damaged);
  EXPECT_THAT(Error(ReadNpz(path).status()), HasSubstr("CRC error"));
  const std::string whole = Slurp(DataPath("deflated.npz"));
  std::string lying = whole;
  const size_t size_of_first = lying.find("PK\x01\x02") + 24;
  lying.replace(size_of_first, 4, "\xff\xff\xff\x7f");
  Spill(path, lying);
  EXPECT_THAT(Error(ReadNpz(path).status()), HasSubstr("cannot expand to 2147483647"));
  for (size_t size = 0; size < whole.size(); size += 7) {
    Spill(path, std::string_view(whole.data(), size));
    EXPECT_FALSE(ReadNpz(path).ok()) << size;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace weir
