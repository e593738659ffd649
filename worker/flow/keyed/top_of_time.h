// The records of each key with the largest numbers, of one time that stands for itself: rows are
// chosen where they lie, without a table of records. Owned by a KeyedVertex; thread-compatible.
#ifndef WEIR_WORKER_FLOW_KEYED_TOP_OF_TIME_H_
#define WEIR_WORKER_FLOW_KEYED_TOP_OF_TIME_H_

#include <cstdint>
#include <vector>

#include "worker/flow/keyed/keyed_vertex.h"

namespace weir {

class TopOfTime : public VertexState {
 public:
  // REQUIRES: of kind top_k, and outlives this.
  explicit TopOfTime(const FlowVertex& vertex);

  absl::Status Begin(Inputs inputs) override;
  bool done() const override {
    return next_group_ == ends_.size() && next_chosen_ == chosen_.rows.size();
  }
  absl::StatusOr<RecordBatch> Next(int64_t most) override;
  int64_t bytes() const override;

 private:
  // Rows that come out, each in so many places.
  struct Chosen {
    std::vector<int64_t> rows;
    std::vector<int64_t> places;
  };

  // The rows of one key.
  void Choose(int64_t* begin, int64_t* end);
  void AddPlaces(const int64_t* begin, const int64_t* end);

  const RecordType type_;
  const int keys_;
  const int64_t k_;
  const int by_;
  RecordBatch all_;
  std::vector<int64_t> rows_;  // of all_, key by key
  std::vector<int64_t> ends_;  // of each key, where its rows end
  size_t next_group_ = 0;
  Chosen chosen_;
  size_t next_chosen_ = 0;
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_TOP_OF_TIME_H_
