#include <optional>

#include "worker/flow/stateless_vertex.h"

namespace weir {
namespace {

class FeedbackVertex : public StatelessVertex {
 public:
  explicit FeedbackVertex(const VertexSetup& setup) : StatelessVertex(setup) {
    const Attr* bound = setup.vertex().FindAttr("bound");
    if (bound != nullptr) bound_ = bound->AsInt();
  }

 protected:
  // Trips are counted from 0, so there are trips 0 .. bound - 1.
  bool Admits(const Timestamp& time) const override {
    return !bound_ || time[time.depth()] < *bound_;
  }

 private:
  std::optional<int64_t> bound_;
};

}  // namespace

std::unique_ptr<Vertex> MakeFeedbackVertex(const VertexSetup& setup) {
  return std::make_unique<FeedbackVertex>(setup);
}

}  // namespace weir
