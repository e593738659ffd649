#include "server/variables/orders.h"

#include <utility>

#include "common/plan/frames.h"

namespace weir {
namespace {

void Describe(uint64_t id, const Tensor& type, v1::NewValue* out) {
  out->set_id(id);
  *out->mutable_header() = HeaderOf(type);
}

}  // namespace

void ValueOrdersByWorker::Store(uint64_t worker, uint64_t id, Tensor value) {
  ToOne& one = to[worker];
  Describe(id, value, one.orders.add_stores());
  one.stored.push_back(std::move(value));
}

void ValueOrdersByWorker::Expect(uint64_t worker, uint64_t id, const Tensor& type) {
  Describe(id, type, to[worker].orders.add_expects());
}

v1::HandOver* ValueOrdersByWorker::Hand(uint64_t worker, uint64_t id) {
  v1::HandOver* hand = to[worker].orders.add_hands();
  hand->set_id(id);
  return hand;
}

}  // namespace weir
