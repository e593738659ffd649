// Readers and writers of records, on bytes in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "common/flow/flow.h"
#include "common/flow/vertex_kind.h"
#include "common/tensor/npy.h"
#include "worker/flow/files/record_reader.h"
#include "worker/flow/files/record_writer.h"
#include "worker/flow/records_testing.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

// All records, `most` at a time at the most, or why not.
absl::StatusOr<RecordBatch> ReadAll(FileFormat format, const RecordType& type,
                                    const std::string& bytes, int64_t most = int64_t{1} << 40,
                                    int64_t skip_lines = 0) {
  const auto reader = MakeRecordReader(format, {.type = type,
                                                .name = "a.txt",
                                                .file_bytes = static_cast<int64_t>(bytes.size()),
                                                .skip_lines = skip_lines});
  std::vector<RecordBatch> batches;
  int64_t rows = 0;
  const MemoryBytes source(bytes);
  for (int calls = 0; !reader->done(); ++calls) {
    if (calls > 100'000) return absl::InternalError("it does not end");
    auto columns = reader->Read(source, most);
    if (!columns.ok()) return columns.status();
    EXPECT_LE((*columns)[0].extent(0), most);
    batches.push_back(MakeBatch(*std::move(columns), rows));
    rows += batches.back().size();
    EXPECT_EQ(CheckBatch(batches.back(), type, "read"), absl::OkStatus());
  }
  return ConcatBatches(batches, type);
}

std::string Written(FileFormat format, const RecordType& type, const RecordBatch& batch) {
  const auto writer = MakeRecordWriter(format, type);
  std::string bytes = writer->Head(batch.size()).value();
  for (int64_t row = 0; row < batch.size(); ++row) writer->Append(batch, row, &bytes);
  return bytes;
}

std::string Why(const std::vector<std::string>& types, const std::string& text,
                int64_t skip_lines = 0) {
  const auto read = ReadAll(FileFormat::kCsv, TypeOf(types), text, 100, skip_lines);
  return read.ok() ? "" : std::string(read.status().message());
}

TEST(CsvReader, ReadsWhatRfc4180AllowsForNumbers) {
  const RecordType type = TypeOf({"i64[]", "f32[2]", "bool[]"});
  const auto read = ReadAll(FileFormat::kCsv, type,
                            "\xef\xbb\xbf"
                            "1,0.5,-1e3,1\r\n\"2\", \"3\" ,inf,false\n3,4,5,true");
  ASSERT_TRUE(read.ok()) << read.status();
  const RecordBatch wanted = MakeBatch(
      {Tensor::Of<int64_t>({3}, {1, 2, 3}),
       Tensor::Of<float>({3, 2}, {0.5, -1000, 3, std::numeric_limits<float>::infinity(), 4, 5}),
       Tensor::Of<bool>({3}, {true, false, true})});
  EXPECT_TRUE(SameRecords(*read, wanted)) << ToString(*read);
  EXPECT_EQ(ReadAll(FileFormat::kCsv, type, "").value().size(), 0);
  EXPECT_EQ(ReadAll(FileFormat::kCsv, type, "a,b\nno,matter", 5, 2).value().size(), 0);
  EXPECT_EQ(ReadAll(FileFormat::kCsv, type, "a,b\n", 5, 7).value().size(), 0);
  EXPECT_EQ(ReadAll(FileFormat::kCsv, type, "a,b\n1,1,1,1\n", 5, 1).value().size(), 1);
}

TEST(CsvReader, SaysWhereAFaultIs) {
  EXPECT_EQ(Why({"i64[]"}, "1\n2\nx3\n"), "a.txt:3:1: \"x3\" is no i64");
  EXPECT_EQ(Why({"i64[]", "f32[2]"}, "1,2,3\n4,5,6e\n"), "a.txt:2:5: \"6e\" is no f32");
  EXPECT_EQ(Why({"i64[]", "f32[2]"}, "1,2,3\n4,5\n"),
            "a.txt:2: 2 fields; records of (i64[], f32[2]) have 3");
  EXPECT_EQ(Why({"i64[]"}, "1\n4,5\n"), "a.txt:2: 2 fields; records of (i64[]) have 1");
  EXPECT_EQ(Why({"i64[]", "i64[]"}, "word,count\n4,5\n"),
            "a.txt:1:1: \"word\" is no i64; if the first line has names, skip_lines = 1 leaves it "
            "out");
  EXPECT_EQ(Why({"i64[]"}, "words\n4\n5.5", 1), "a.txt:3:1: \"5.5\" is no i64");
  EXPECT_EQ(Why({"i64[]"}, "1\n\n2\n"), "a.txt:2: an empty line");
  EXPECT_EQ(Why({"i64[]", "i64[]"}, "1,\n"),
            "a.txt:1:3: \"\" is no i64; if the first line has "
            "names, skip_lines = 1 leaves it out");
  EXPECT_EQ(Why({"u8[]"}, "1\n256\n"), "a.txt:2:1: \"256\" is out of the range of u8");
  EXPECT_EQ(Why({"u8[]"}, "1\n-1\n"), "a.txt:2:1: \"-1\" is no u8");
  EXPECT_EQ(Why({"f32[]"}, "1\n1e39\n"), "a.txt:2:1: \"1e39\" is out of the range of f32");
  EXPECT_EQ(Why({"f32[]"}, "1\n1e-60\n"), "");
  EXPECT_EQ(Why({"bool[]"}, "1\n2\n"), "a.txt:2:1: \"2\" is no bool");
  EXPECT_THAT(Why({"i64[]"}, "1\n" + std::string(100, 'x')), HasSubstr("xxx\"... is no i64"));
  EXPECT_THAT(Why({"i64[]"}, "1\n" + std::string(1'000'000, '1')),
              HasSubstr("a.txt:2: a line of more than 262144 bytes"));
  // The line counts, however the file is cut into pieces.
  std::string long_file;
  for (int i = 0; i < 200'000; ++i) long_file += "12345\n";
  EXPECT_EQ(Why({"i64[]"}, long_file + "bad\n"), "a.txt:200001:1: \"bad\" is no i64");
}

TEST(CsvReader, AFileThatShrinksIsAnError) {
  const auto reader = MakeCsvReader({.type = TypeOf({"i64[]"}), .name = "a.csv", .file_bytes = 10});
  EXPECT_TRUE(absl::IsDataLoss(reader->Read(MemoryBytes("1\n2\n"), 5).status()));
}

// Any numbers of the type, corners among them.
RecordBatch RandomNumbers(const RecordType& type, int64_t rows, std::mt19937_64* random) {
  std::vector<Tensor> columns;
  for (const TensorType& column : type) {
    Extents extents = column.shape.extents();
    extents.insert(extents.begin(), rows);
    Tensor tensor(column.dtype, extents);
    VisitDType(column.dtype, [&]<class T>(TypeTag<T>) {
      for (int64_t i = 0; i < tensor.num_elements(); ++i) {
        const uint64_t bits = (*random)() >> (*random)() % 64;
        T value = {};
        if constexpr (std::is_same_v<T, bool>) {
          value = bits % 2 == 0;
        } else if constexpr (std::is_integral_v<T>) {
          value = static_cast<T>(bits);
        } else {
          std::memcpy(static_cast<void*>(&value), &bits, std::min(sizeof(T), sizeof(bits)));
          if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(value)) value = T(-0.0);
          }
        }
        tensor.mutable_data<T>()[i] = value;
      }
    });
    columns.push_back(std::move(tensor));
  }
  return MakeBatch(std::move(columns));
}

TEST(RecordFiles, WhatIsWrittenIsReadBitForBitInPiecesOfAnySize) {
  std::mt19937_64 random(7);
  const std::vector<std::vector<std::string>> csv = {{"i64[]"},
                                                     {"u64[]", "i8[3]", "bool[]"},
                                                     {"f64[2,2]", "f32[]"},
                                                     {"u8[]", "i16[]", "u16[]", "i32[]", "u32[]"}};
  const std::vector<std::vector<std::string>> npy = {
      {"i64[]"}, {"f32[2,3]"}, {"f32[]", "f32[3]"}, {"bool[]"}, {"c64[2]"}, {"f16[0]", "f16[1]"}};
  for (int run = 0; run < 60; ++run) {
    const FileFormat format = run % 2 == 0 ? FileFormat::kCsv : FileFormat::kNpy;
    const auto& types = format == FileFormat::kCsv ? csv : npy;
    const RecordType type = TypeOf(types[random() % types.size()]);
    const auto rows = static_cast<int64_t>(random() % (run % 5 == 0 ? 70'000 : 50));
    const RecordBatch batch = RandomNumbers(type, rows, &random);
    const std::string bytes = Written(format, type, batch);
    const int64_t most = run % 3 == 0 ? int64_t{1} << 40 : 1 + static_cast<int64_t>(rows / 7);
    const auto read = ReadAll(format, type, bytes, most);
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_TRUE(SameRecords(*read, batch)) << ToString(type) << " x " << rows;
  }
}

TEST(NpyReader, ReadsWhatNumPyWrites) {
  const Tensor array = Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::string bytes = FormatNpy(array).value();
  EXPECT_TRUE(ReadAll(FileFormat::kNpy, TypeOf({"f32[3]"}), bytes, 1)->columns[0].BitEquals(array));
  const auto parted = ReadAll(FileFormat::kNpy, TypeOf({"f32[2]", "f32[]"}), bytes, 1);
  ASSERT_TRUE(parted.ok()) << parted.status();
  EXPECT_TRUE(parted->columns[0].BitEquals(Tensor::Of<float>({2, 2}, {1, 2, 4, 5})));
  EXPECT_TRUE(parted->columns[1].BitEquals(Tensor::Of<float>({2}, {3, 6})));
}

std::string NpyWith(const std::string& header, const std::string& data) {
  std::string text = header;
  text.append(64 - (10 + text.size() + 1) % 64, ' ');
  text += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(text.size());
  bytes += '\0';
  return bytes + text + data;
}

TEST(NpyReader, OtherByteOrdersAreTurned) {
  const std::string bytes = NpyWith("{'descr': '>i2', 'fortran_order': False, 'shape': (3,), }",
                                    std::string("\0\1\0\2\1\0", 6));
  const auto read = ReadAll(FileFormat::kNpy, TypeOf({"i16[]"}), bytes, 2);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->columns[0].BitEquals(Tensor::Of<int16_t>({3}, {1, 2, 256})));
}

TEST(NpyReader, SaysWhatTheFileHoldsInPlaceOfRecords) {
  const auto why = [](const std::vector<std::string>& types, const std::string& bytes) {
    return std::string(ReadAll(FileFormat::kNpy, TypeOf(types), bytes).status().message());
  };
  const std::string floats = FormatNpy(Tensor::Of<float>({1, 2}, {1, 2})).value();
  EXPECT_EQ(why({"i64[2]"}, floats),
            "a.txt: an array f32[1,2]; records of (i64[2]) are read from an array i64[n,2]");
  EXPECT_EQ(why({"f32[]"}, floats),
            "a.txt: an array f32[1,2]; records of (f32[]) are read from an array f32[n]");
  EXPECT_EQ(why({"f32[]", "f32[2]"}, floats),
            "a.txt: an array f32[1,2]; records of (f32[], f32[2]) are read from an array f32[n,3]");
  EXPECT_THAT(why({"f32[]"}, FormatNpy(Tensor::Scalar<float>(1)).value()),
              HasSubstr("an array f32[]"));
  EXPECT_THAT(why({"f32[2]"}, floats.substr(0, floats.size() - 1)), HasSubstr("the file is cut"));
  EXPECT_THAT(why({"f32[2]"}, floats + "x"), HasSubstr("1 bytes follow the array"));
  EXPECT_THAT(why({"f32[2]"}, "no array"), HasSubstr("a.txt: not a .npy file"));
  EXPECT_THAT(why({"i16[2]"}, NpyWith("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2), }",
                                      "12345678")),
              HasSubstr("in Fortran order"));
}

}  // namespace
}  // namespace weir
