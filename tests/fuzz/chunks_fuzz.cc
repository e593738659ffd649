// Tensors in pieces, as a client sends them and as it receives them: the input is one chunk, alone
// and in the middle of a tensor that has begun.
#include "common/plan/tensor_chunks.h"
#include "tests/fuzz/target.h"

namespace weir {
namespace {

const google::protobuf::Message* Prototype() { return &v1::TensorChunk::default_instance(); }

// Byte 0..7 of f32[4], then byte 8..15.
v1::TensorChunk Half(uint64_t offset) {
  v1::TensorChunk chunk;
  if (offset == 0) {
    chunk.mutable_header()->set_dtype(static_cast<uint32_t>(DType::kF32));
    chunk.mutable_header()->add_extents(4);
  }
  chunk.set_offset(offset);
  chunk.set_data(std::string(8, '\0'));
  return chunk;
}

std::vector<std::string> Seeds() {
  v1::TensorChunk next = Half(0);
  next.set_index(1);
  return {Half(0).SerializeAsString(), Half(8).SerializeAsString(), next.SerializeAsString()};
}

void ReadBothWays(const v1::TensorChunk& chunk) {
  ChunkAssembler alone, begun;
  for (int i = 0; i < 2 && alone.Add(chunk).ok(); ++i) (void)alone.Finish();
  if (begun.Add(Half(0)).ok() && begun.Add(chunk).ok() && begun.Add(Half(8)).ok()) {
    (void)begun.Finish();
  }
}

}  // namespace

WEIR_FUZZ_TARGET(chunks, {.seeds = &Seeds, .prototype = &Prototype}) {
  v1::TensorChunk chunk;
  if (!chunk.ParseFromArray(data, static_cast<int>(size))) return 0;
  ReadBothWays(chunk);
  return 0;
}

}  // namespace weir
