// Functions for random flows (random_flow_testing.h): for records of any columns of i64, f32 and
// f64 of rank 0 or 1 of which the first is an i64. A function is a pure function of its name, so
// equal ones are written once. What they compute has the same bits on every implementation: no sum
// of floats over an axis, no NaN. Used by one thread.
#ifndef WEIR_COMMON_FLOW_RANDOM_FUNCTION_TESTING_H_
#define WEIR_COMMON_FLOW_RANDOM_FUNCTION_TESTING_H_

#include <map>
#include <string>
#include <string_view>

#include "common/base/str_cat.h"
#include "common/flow/record_batch.h"

namespace weir {

class RandomFunctions {
 public:
  // Each returns the name of the function and writes it when it is first asked for. `variant` is a
  // small number: constants in it.

  // To a record of the same type: keys stay small, floats get smaller.
  std::string Shift(const RecordType& type, int variant) {
    return Write("shift", type, variant, [&](std::string* body) {
      std::string results;
      for (size_t c = 0; c < type.size(); ++c) ShiftColumn(type[c], c, variant, body);
      for (size_t c = 0; c < type.size(); ++c) StrAppend(&results, c > 0 ? ", " : "", "%r", c);
      return std::pair(ToString(type), results);
    });
  }

  // To a record of the same type; fails for about one of five.
  std::string Checked(const RecordType& type) {
    return Write("checked", type, 0, [&](std::string* body) {
      StrAppend(body, "  %k = constant {value = i64[] {5}}\n  %m = floor_mod(%a0, %k)\n",
                "  %three = constant {value = i64[] {3}}\n  %is = not_equal(%m, %three)\n",
                "  check(%is) {message = \"a key is 3\"}\n");
      std::string results;
      for (size_t c = 0; c < type.size(); ++c) StrAppend(&results, c > 0 ? ", " : "", "%a", c);
      return std::pair(ToString(type), results);
    });
  }

  // To (i64[], f32[]).
  std::string Pair(const RecordType& type) {
    return Write("pair", type, 0, [&](std::string* body) {
      StrAppend(body, "  %f = convert(", NumberOf(type, 0, body), ") {dtype = f32}\n");
      return std::pair(std::string("(i64[], f32[])"), std::string("%a0, %f"));
    });
  }

  // To bool[]: true for about two of three.
  std::string Most(const RecordType& type, int variant) {
    return Write("most", type, variant, [&](std::string* body) {
      StrAppend(body, "  %k = constant {value = i64[] {", variant, "}}\n  %sum = add(%a0, %k)\n",
                "  %three = constant {value = i64[] {3}}\n  %m = floor_mod(%sum, %three)\n",
                "  %zero = constant {value = i64[] {0}}\n  %is = not_equal(%m, %zero)\n");
      return std::pair(std::string("(bool[])"), std::string("%is"));
    });
  }

  // For flat_map: 0 to 2 children (i64[], f32[]).
  std::string Split(const RecordType& type) {
    return Write("split", type, 0, [&](std::string* body) {
      StrAppend(body, "  %two = constant {value = i64[] {3}}\n  %n = floor_mod(%a0, %two)\n",
                "  %step = constant {value = i64[2] {0, 1}}\n",
                "  %wide = broadcast_in_dim(%a0) {axes = [], shape = (2)}\n",
                "  %keys = add(%wide, %step)\n  %values = convert(%keys) {dtype = f32}\n");
      return std::pair(std::string("(i64[], i64[2], f32[2])"), std::string("%n, %keys, %values"));
    });
  }

  // From two records of values to one; not associative for floats.
  std::string Fold(const RecordType& values) {
    RecordType both = values;
    both.insert(both.end(), values.begin(), values.end());
    return Write("fold", both, 0, [&](std::string* body) {
      std::string results;
      for (size_t c = 0; c < values.size(); ++c) {
        const TensorType& type = values[c];
        std::string second = StrCat("%a", values.size() + c);
        if (type.dtype != DType::kI64) {
          StrAppend(body, "  %h", c, " = constant {value = ", Constant(type, "0.5"), "}\n  %b", c,
                    " = multiply(", second, ", %h", c, ")\n");
          second = StrCat("%b", c);
        }
        StrAppend(body, "  %s", c, " = add(%a", c, ", ", second, ")\n");
        StrAppend(&results, c > 0 ? ", " : "", "%s", c);
      }
      return std::pair(ToString(values), results);
    });
  }

  // For a variable with values (f32[], i64[]): a number, and how often it was assigned to.
  std::string Init(bool takes_key) {
    const RecordType key = {{DType::kI64, Shape()}};
    return Write("init", takes_key ? key : RecordType(), 0, [&](std::string* body) {
      if (takes_key) {
        StrAppend(body, "  %f = convert(%a0) {dtype = f32}\n");
      } else {
        StrAppend(body, "  %f = constant {value = f32[] {1.5}}\n");
      }
      StrAppend(body, "  %n = constant {value = i64[] {0}}\n");
      return std::pair(std::string("(f32[], i64[])"), std::string("%f, %n"));
    });
  }

  // From such a value and the columns of an update; updates in another order give something else.
  std::string Assign(const RecordType& update) {
    RecordType both = {{DType::kF32, Shape()}, {DType::kI64, Shape()}};
    both.insert(both.end(), update.begin(), update.end());
    return Write("assign", both, 0, [&](std::string* body) {
      StrAppend(body, "  %h = constant {value = f32[] {0.5}}\n  %kept = multiply(%a0, %h)\n");
      const std::string column = NumberOf(update, 2, body);
      StrAppend(body, "  %f = convert(", column, ") {dtype = f32}\n",
                "  %q = constant {value = f32[] {0.25}}\n  %part = multiply(%f, %q)\n",
                "  %new = add(%kept, %part)\n",
                "  %one = constant {value = i64[] {1}}\n  %n = add(%a1, %one)\n");
      return std::pair(std::string("(f32[], i64[])"), std::string("%new, %n"));
    });
  }

  // To (i64[], f32[]) of a record that has read such a value.
  std::string Newest(const RecordType& type) {
    return Write("newest", type, 0, [&](std::string* body) {
      StrAppend(body, "  %k = constant {value = f32[] {0.75}}\n  %f = multiply(%a", type.size() - 2,
                ", %k)\n");
      return std::pair(std::string("(i64[], f32[])"), std::string("%a0, %f"));
    });
  }

  // Of a batch: each row with the sum of all first columns added to its own.
  std::string Total(const RecordType& type) {
    return WriteBatch("total", type, [&](std::string* body) {
      StrAppend(body, "  %sum = reduce_sum(%a0) {axes = [0]}\n",
                "  %all = broadcast_in_dim(%sum) {axes = [], shape = (n)}\n",
                "  %r0 = add(%a0, %all)\n");
      std::string results = "%r0";
      for (size_t c = 1; c < type.size(); ++c) StrAppend(&results, ", %a", c);
      return std::pair(ToString(WithRows(type)), results);
    });
  }

  // Of a batch: one row (i64[], i64[]), the sum and the largest of all first columns.
  std::string Extent(const RecordType& type) {
    return WriteBatch("extent", type, [&](std::string* body) {
      StrAppend(body, "  %sum = reduce_sum(%a0) {axes = [0]}\n  %s = reshape(%sum) {shape = (1)}\n",
                "  %max = reduce_max(%a0) {axes = [0]}\n  %m = reshape(%max) {shape = (1)}\n");
      return std::pair(std::string("(i64[1], i64[1])"), std::string("%s, %m"));
    });
  }

  std::string text() const {
    std::string all;
    for (const auto& [name, text] : texts_) StrAppend(&all, text);
    return all;
  }

 private:
  static RecordType WithRows(RecordType type) {
    for (TensorType& column : type) {
      column.shape.dims().insert(column.shape.dims().begin(), Dim::Symbol("n"));
    }
    return type;
  }

  // One number, an f32 if there is one, of the columns that are parameters from `first` on.
  static std::string NumberOf(const RecordType& type, size_t first, std::string* body) {
    if (type.empty()) {
      StrAppend(body, "  %none = constant {value = i64[] {2}}\n");
      return "%none";
    }
    size_t from = 0;
    while (from < type.size() && type[from].dtype != DType::kF32) ++from;
    if (from == type.size()) from = type.size() - 1;
    std::string column = StrCat("%a", first + from);
    if (type[from].rank() == 0) return column;
    StrAppend(body, "  %slice = slice(", column, ") {start = (0), limit = (1), stride = [1]}\n",
              "  %first = reshape(%slice) {shape = ()}\n");
    return "%first";
  }

  // f32[2] {0.5, 0.5}
  static std::string Constant(const TensorType& type, std::string_view value) {
    std::string elements;
    for (int64_t i = 0; i < NumElements(type.shape.extents()); ++i) {
      StrAppend(&elements, i > 0 ? ", " : "", value);
    }
    return StrCat(type.ToString(), " {", elements, "}");
  }

  static void ShiftColumn(const TensorType& type, size_t c, int variant, std::string* body) {
    if (type.dtype == DType::kI64) {
      StrAppend(body, "  %k", c, " = constant {value = ", Constant(type, StrCat(variant)),
                "}\n  %s", c, " = add(%a", c, ", %k", c, ")\n  %m", c,
                " = constant {value = ", Constant(type, "7"), "}\n  %r", c, " = floor_mod(%s", c,
                ", %m", c, ")\n");
    } else {
      StrAppend(body, "  %k", c, " = constant {value = ", Constant(type, "0.75"), "}\n  %s", c,
                " = multiply(%a", c, ", %k", c, ")\n  %m", c,
                " = constant {value = ", Constant(type, StrCat(variant, ".1")), "}\n  %r", c,
                " = add(%s", c, ", %m", c, ")\n");
    }
  }

  // `fill` writes the nodes and returns result types and results.
  template <class Fill>
  std::string Write(std::string_view what, const RecordType& type, int variant, const Fill& fill) {
    std::string name = StrCat(what, "_", variant);
    for (const TensorType& column : type) {
      StrAppend(&name, "_", DTypeName(column.dtype));
      for (const Dim& dim : column.shape.dims()) StrAppend(&name, "x", dim.ToString());
    }
    std::string& text = texts_[name];
    if (!text.empty()) return name;
    std::string parameters;
    for (size_t c = 0; c < type.size(); ++c) {
      StrAppend(&parameters, c > 0 ? ", " : "", "%a", c, ": ", type[c].ToString());
    }
    std::string body;
    const auto [result_types, results] = fill(&body);
    text = StrCat("func @", name, "(", parameters, ") -> ", result_types, " {\n", body, "  return ",
                  results, "\n}\n");
    return name;
  }
  template <class Fill>
  std::string WriteBatch(std::string_view what, const RecordType& type, const Fill& fill) {
    return Write(what, WithRows(type), 0, fill);
  }

  std::map<std::string, std::string> texts_;
};

}  // namespace weir

#endif  // WEIR_COMMON_FLOW_RANDOM_FUNCTION_TESTING_H_
