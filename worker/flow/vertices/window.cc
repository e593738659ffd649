#include <limits>

#include "worker/flow/frame_bounds.h"
#include "worker/flow/stateless_vertex.h"

namespace weir {
namespace {

class WindowVertex : public StatelessVertex {
 public:
  explicit WindowVertex(const VertexSetup& setup)
      : StatelessVertex(setup),
        size_(setup.vertex().attr("size").AsInt()),
        slide_(setup.vertex().IntOr("slide", size_)) {}

 protected:
  absl::Status Apply(RecordBatch batch, Timestamp time, VertexActivation* activation) override {
    const int64_t epoch = time.epoch();
    // Windows begin at multiples of slide_; the first that holds the epoch is the first that does
    // not end before it.
    const int64_t first = epoch < size_ ? 0 : (epoch - size_) / slide_ + 1;
    for (int64_t window = first; window <= epoch / slide_; ++window) {
      const int64_t begin = window * slide_;
      if (begin > std::numeric_limits<int64_t>::max() - (size_ - 1)) {
        activation->CountDropped(batch.size());
        continue;
      }
      SendRecords(0, {begin + (size_ - 1)}, batch, activation);
    }
    return absl::OkStatus();
  }

 private:
  const int64_t size_;
  const int64_t slide_;
};

}  // namespace

std::unique_ptr<Vertex> MakeWindowVertex(const VertexSetup& setup) {
  return std::make_unique<WindowVertex>(setup);
}

}  // namespace weir
