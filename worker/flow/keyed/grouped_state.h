// State by key: what a combiner makes of the records of each key, and what of it was sent
// (keyed_state.h). Owned by a KeyedVertex; thread-compatible.
#ifndef WEIR_WORKER_FLOW_KEYED_GROUPED_STATE_H_
#define WEIR_WORKER_FLOW_KEYED_GROUPED_STATE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "common/flow/keyed_state.h"
#include "worker/flow/keyed/group_combiner.h"
#include "worker/flow/keyed/key_index.h"
#include "worker/flow/keyed/keyed_vertex.h"
#include "worker/flow/keyed/row_table.h"
#include "worker/flow/keyed/sorted_records.h"

namespace weir {

// The records of a time as a state takes them: in order where that is asked for or weights are not
// all above 0, else as they came. Errors: InvalidArgument, a weight below zero where nobody would
// be told what is gone; ResourceExhausted, of the disk.
absl::StatusOr<std::vector<RecordBatch>> PrepareRecords(const FlowVertex& vertex,
                                                        std::vector<RecordBatch> batches,
                                                        bool in_order);

class GroupedState : public VertexState {
 public:
  using MakeGroupCombiner = std::function<std::unique_ptr<GroupCombiner>(TakesBack)>;

  // The first `keys` columns are the key; results have those of the combiner behind them.
  // REQUIRES: the vertex outlives this.
  GroupedState(const FlowVertex& vertex, int keys, const MakeGroupCombiner& make_combiner);

  absl::Status Begin(Inputs inputs) override;
  bool done() const override { return !sorted_.has_value() && next_ == touched_.size(); }
  absl::StatusOr<RecordBatch> Next(int64_t most) override;
  int64_t bytes() const override;

 private:
  struct Group {
    int64_t weight = 0;                                    // the sum
    int64_t origin = std::numeric_limits<int64_t>::max();  // the least one of this time
  };
  // What is known of a group besides, of state that outlives a time.
  struct Past {
    int64_t time = 0;    // the last one that added to it, counted from 1
    int64_t origin = 0;  // of what was sent
    bool holds = false;  // something was sent and holds
  };
  // Groups of which something comes out, with the rows of `touched` columns that they are.
  struct Choice {
    std::vector<uint32_t> groups;
    std::vector<int64_t> rows;

    void Add(uint32_t group, int64_t row) {
      groups.push_back(group);
      rows.push_back(row);
    }
  };

  bool outlives_times() const { return life_ != StateLife::kTime; }
  // Takes in some more of what is sorted: about what one call should.
  absl::Status AddSome();
  absl::Status AddAll(std::vector<RecordBatch> batches);
  absl::Status AddBatch(const RecordBatch& batch);
  // Of the rows of a batch from before which there were `before` groups.
  void AddToGroups(const RecordBatch& batch, int64_t before);
  RecordBatch All(absl::Span<const uint32_t> groups, std::vector<Tensor> results) const;
  RecordBatch Changes(absl::Span<const uint32_t> groups, const std::vector<Tensor>& results);
  RecordBatch OldResults(absl::Span<const uint32_t> groups) const;
  RecordBatch NewResults(const Choice& chosen, const std::vector<Tensor>& results) const;
  Tensor OriginsOf(absl::Span<const uint32_t> groups) const;
  void Forget(uint32_t group);

  const FlowVertex& vertex_;
  const StateLife life_;
  const Emit emit_;
  const int keys_;
  const RecordType type_;  // of results
  const MakeGroupCombiner make_combiner_;
  KeyIndex index_;
  std::unique_ptr<GroupCombiner> combiner_;
  TableVector<Group> groups_;
  TableVector<Past> past_;
  RowTable sent_rows_;  // what was sent
  int64_t time_ = 0;
  std::optional<SortedRecords> sorted_;  // of this time, while some have not met their groups
  std::vector<uint32_t> numbers_;        // of the rows of a batch
  TableVector<uint32_t> touched_;        // groups with records of this time
  size_t next_ = 0;                      // of those, the first that was not asked for
};

}  // namespace weir

#endif  // WEIR_WORKER_FLOW_KEYED_GROUPED_STATE_H_
