#include "tests/fuzz/mutator.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <memory>
#include <utility>

namespace weir {
namespace {

constexpr int64_t kNumbers[] = {0,
                                1,
                                2,
                                -1,
                                -2,
                                7,
                                64,
                                127,
                                128,
                                255,
                                256,
                                65535,
                                65536,
                                INT32_MAX,
                                INT32_MIN,
                                int64_t{UINT32_MAX},
                                int64_t{1} << 32,
                                int64_t{1} << 40,
                                int64_t{1} << 61,
                                INT64_MAX,
                                INT64_MIN};

template <class Items>
const auto& Pick(const Items& items, Random* random) {
  return items[random->Below(std::size(items))];
}

// A place in `text`, its end included.
size_t Place(const std::string& text, Random* random) { return random->Below(text.size() + 1); }

// A part of `text` of at most `limit` bytes.
std::string Part(const std::string& text, size_t limit, Random* random) {
  const size_t begin = Place(text, random);
  const size_t most = std::min(limit, text.size() - begin);
  return text.substr(begin, random->Below(most + 1));
}

void FlipBit(Random* random, std::string* input) {
  if (input->empty()) return;
  (*input)[random->Below(input->size())] ^= static_cast<char>(1 << random->Below(8));
}

void SetByte(Random* random, std::string* input) {
  if (input->empty()) return;
  (*input)[random->Below(input->size())] = static_cast<char>(random->Next());
}

void WriteNumber(Random* random, std::string* input) {
  const size_t width = size_t{1} << random->Below(4);
  if (input->size() < width) return;
  const uint64_t number = static_cast<uint64_t>(Pick(kNumbers, random));
  const bool big_endian = random->Chance(0.25);
  const size_t at = random->Below(input->size() - width + 1);
  for (size_t i = 0; i < width; ++i) {
    (*input)[at + i] = static_cast<char>(number >> (8 * (big_endian ? width - 1 - i : i)));
  }
}

void InsertDecimal(Random* random, std::string* input) {
  input->insert(Place(*input, random), std::to_string(Pick(kNumbers, random)));
}

void Erase(Random* random, std::string* input) {
  const size_t begin = Place(*input, random);
  input->erase(begin, 1 + random->Below(random->Chance(0.5) ? 4 : 256));
}

void Truncate(Random* random, std::string* input) { input->resize(Place(*input, random)); }

void Repeat(Random* random, std::string* input) {
  const std::string part = Part(*input, 64, random);
  const size_t at = Place(*input, random);
  for (uint64_t times = 1 + random->Below(random->Chance(0.1) ? 200 : 3); times > 0; --times) {
    input->insert(at, part);
  }
}

void MoveWithin(Random* random, std::string* input) {
  const std::string part = Part(*input, 256, random);
  const size_t at = Place(*input, random);
  input->replace(at, std::min(part.size(), input->size() - at), part);
}

void Splice(const MutationSources& sources, Random* random, std::string* input) {
  const std::string& other = Pick(sources.seeds, random);
  if (random->Chance(0.5)) {
    input->insert(Place(*input, random), Part(other, 4096, random));
  } else {
    *input = input->substr(0, Place(*input, random)) + other.substr(Place(other, random));
  }
}

void InsertWord(const MutationSources& sources, Random* random, std::string* input) {
  if (sources.words.empty()) return SetByte(random, input);
  const std::string& word = Pick(sources.words, random);
  const size_t at = Place(*input, random);
  const bool over = random->Chance(0.5);
  input->replace(at, over ? std::min(word.size(), input->size() - at) : 0, word);
}

bool IsWordByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '%' ||
         c == '@';
}

// The word around `at`, empty between words.
std::pair<size_t, size_t> WordAround(const std::string& text, size_t at) {
  size_t begin = at;
  size_t end = at;
  while (begin > 0 && IsWordByte(text[begin - 1])) --begin;
  while (end < text.size() && IsWordByte(text[end])) ++end;
  return {begin, end - begin};
}

// Puts one word of a text in the place of another, which text forms often survive.
void CopyWord(Random* random, std::string* input) {
  const auto [from, from_size] = WordAround(*input, Place(*input, random));
  const std::string word = input->substr(from, from_size);
  const auto [to, to_size] = WordAround(*input, Place(*input, random));
  if (word.empty() || to_size == 0) return;
  input->replace(to, to_size, word);
}

void MutateOnce(const MutationSources& sources, Random* random, std::string* input) {
  switch (random->Below(14)) {
    case 0:
      return FlipBit(random, input);
    case 1:
      return SetByte(random, input);
    case 2:
      return WriteNumber(random, input);
    case 3:
      return InsertDecimal(random, input);
    case 4:
      return Erase(random, input);
    case 5:
      return Truncate(random, input);
    case 6:
      return Repeat(random, input);
    case 7:
      return MoveWithin(random, input);
    case 8:
      return Splice(sources, random, input);
    case 9:
      return InsertWord(sources, random, input);
    default:
      return CopyWord(random, input);
  }
}

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// A number that is one of the usual ones, or near `old`.
int64_t NumberNear(int64_t old, Random* random) {
  if (random->Chance(0.5)) return Pick(kNumbers, random);
  return static_cast<int64_t>(static_cast<uint64_t>(old) + random->Below(7) - 3);
}

std::string TextNear(const MutationSources& sources, std::string old, Random* random) {
  if (!sources.words.empty() && random->Chance(0.3)) return Pick(sources.words, random);
  MutateBytes(sources, random, &old);
  return old;
}

// Changes one value of a field; `index` is -1 for a singular field.
class FieldChange {
 public:
  FieldChange(const MutationSources& sources, Random* random, Message* message,
              const FieldDescriptor* field, int index)
      : sources_(sources), random_(random), message_(message), field_(field), index_(index) {}

  void Run() {
    const Reflection* reflection = message_->GetReflection();
    switch (field_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return Integer<int32_t>(&Reflection::GetInt32, &Reflection::GetRepeatedInt32,
                                &Reflection::SetInt32, &Reflection::SetRepeatedInt32);
      case FieldDescriptor::CPPTYPE_INT64:
        return Integer<int64_t>(&Reflection::GetInt64, &Reflection::GetRepeatedInt64,
                                &Reflection::SetInt64, &Reflection::SetRepeatedInt64);
      case FieldDescriptor::CPPTYPE_UINT32:
        return Integer<uint32_t>(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32,
                                 &Reflection::SetUInt32, &Reflection::SetRepeatedUInt32);
      case FieldDescriptor::CPPTYPE_UINT64:
        return Integer<uint64_t>(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64,
                                 &Reflection::SetUInt64, &Reflection::SetRepeatedUInt64);
      case FieldDescriptor::CPPTYPE_FLOAT:
        return Integer<float>(&Reflection::GetFloat, &Reflection::GetRepeatedFloat,
                              &Reflection::SetFloat, &Reflection::SetRepeatedFloat);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return Integer<double>(&Reflection::GetDouble, &Reflection::GetRepeatedDouble,
                               &Reflection::SetDouble, &Reflection::SetRepeatedDouble);
      case FieldDescriptor::CPPTYPE_BOOL:
        return index_ < 0
                   ? reflection->SetBool(message_, field_, !reflection->GetBool(*message_, field_))
                   : reflection->SetRepeatedBool(
                         message_, field_, index_,
                         !reflection->GetRepeatedBool(*message_, field_, index_));
      case FieldDescriptor::CPPTYPE_ENUM: {
        const int value = static_cast<int>(random_->Below(24));
        return index_ < 0 ? reflection->SetEnumValue(message_, field_, value)
                          : reflection->SetRepeatedEnumValue(message_, field_, index_, value);
      }
      case FieldDescriptor::CPPTYPE_STRING:
        return Text();
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return;  // its own fields are changed
    }
  }

 private:
  template <class T>
  void Integer(T (Reflection::*get)(const Message&, const FieldDescriptor*) const,
               T (Reflection::*get_at)(const Message&, const FieldDescriptor*, int) const,
               void (Reflection::*set)(Message*, const FieldDescriptor*, T) const,
               void (Reflection::*set_at)(Message*, const FieldDescriptor*, int, T) const) {
    const Reflection* reflection = message_->GetReflection();
    if constexpr (std::is_integral_v<T>) {
      const T old = index_ < 0 ? (reflection->*get)(*message_, field_)
                               : (reflection->*get_at)(*message_, field_, index_);
      const T value = static_cast<T>(NumberNear(static_cast<int64_t>(old), random_));
      index_ < 0 ? (reflection->*set)(message_, field_, value)
                 : (reflection->*set_at)(message_, field_, index_, value);
    } else {
      const T value = static_cast<T>(Pick(kNumbers, random_)) / static_cast<T>(random_->Below(3));
      index_ < 0 ? (reflection->*set)(message_, field_, value)
                 : (reflection->*set_at)(message_, field_, index_, value);
    }
  }

  void Text() {
    const Reflection* reflection = message_->GetReflection();
    const std::string old = index_ < 0 ? reflection->GetString(*message_, field_)
                                       : reflection->GetRepeatedString(*message_, field_, index_);
    std::string value = TextNear(sources_, old, random_);
    // Text that is no UTF-8 is not encoded; the changes of bytes make such input.
    if (field_->type() == FieldDescriptor::TYPE_STRING) {
      value.erase(std::remove_if(value.begin(), value.end(), [](char c) { return c < 0; }),
                  value.end());
    }
    index_ < 0 ? reflection->SetString(message_, field_, std::move(value))
               : reflection->SetRepeatedString(message_, field_, index_, std::move(value));
  }

  const MutationSources& sources_;
  Random* random_;
  Message* message_;
  const FieldDescriptor* field_;
  int index_;
};

// Messages inside `message`, itself included.
void Collect(Message* message, int depth, std::vector<Message*>* out) {
  out->push_back(message);
  if (depth > 32) return;
  const Reflection* reflection = message->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      Collect(reflection->MutableMessage(message, field), depth + 1, out);
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
      Collect(reflection->MutableRepeatedMessage(message, field, i), depth + 1, out);
    }
  }
}

void ChangeList(const MutationSources& sources, Random* random, Message* message,
                const FieldDescriptor* field) {
  const Reflection* reflection = message->GetReflection();
  const int size = reflection->FieldSize(*message, field);
  if (size == 0) {
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_map()) {
      reflection->AddMessage(message, field);
    }
    return;
  }
  const int at = static_cast<int>(random->Below(size));
  switch (random->Below(4)) {
    case 0:
      return reflection->SwapElements(message, field, at, static_cast<int>(random->Below(size)));
    case 1:
      return reflection->RemoveLast(message, field);
    case 2:
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_map()) {
        std::unique_ptr<Message> copy(reflection->GetRepeatedMessage(*message, field, at).New());
        copy->CopyFrom(reflection->GetRepeatedMessage(*message, field, at));
        reflection->AddAllocatedMessage(message, field, copy.release());
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
        reflection->AddInt64(message, field, Pick(kNumbers, random));
      }
      return;
    default:
      return FieldChange(sources, random, message, field, at).Run();
  }
}

void ChangeField(const MutationSources& sources, Random* random, Message* message) {
  const google::protobuf::Descriptor* descriptor = message->GetDescriptor();
  if (descriptor->field_count() == 0) return;
  const Reflection* reflection = message->GetReflection();
  std::vector<const FieldDescriptor*> present;
  reflection->ListFields(*message, &present);
  const FieldDescriptor* field =
      present.empty() || random->Chance(0.15)
          ? descriptor->field(static_cast<int>(random->Below(descriptor->field_count())))
          : Pick(present, random);
  if (random->Chance(0.1)) return reflection->ClearField(message, field);
  if (field->is_repeated()) return ChangeList(sources, random, message, field);
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    reflection->MutableMessage(message, field);
    return;
  }
  FieldChange(sources, random, message, field, -1).Run();
}

}  // namespace

void MutateBytes(const MutationSources& sources, Random* random, std::string* input) {
  for (uint64_t changes = 1 + random->Below(4); changes > 0; --changes) {
    MutateOnce(sources, random, input);
    if (input->size() > kMaxFuzzInput) input->resize(kMaxFuzzInput);
  }
}

void MutateMessage(const MutationSources& sources, Random* random, Message* message) {
  for (uint64_t changes = 1 + random->Below(4); changes > 0; --changes) {
    std::vector<Message*> messages;
    Collect(message, 0, &messages);
    ChangeField(sources, random, Pick(messages, random));
  }
}

std::string MakeInput(const MutationSources& sources, Random* random) {
  std::string input = Pick(sources.seeds, random);
  if (sources.prototype != nullptr && random->Chance(0.7)) {
    std::unique_ptr<Message> message(sources.prototype->New());
    if (message->ParseFromString(input)) {
      MutateMessage(sources, random, message.get());
      input = message->SerializePartialAsString();
      if (random->Chance(0.9) && input.size() <= kMaxFuzzInput) return input;
    }
  }
  MutateBytes(sources, random, &input);
  return input;
}

}  // namespace weir
