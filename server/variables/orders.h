// What workers are told about values at the same time: one message each. A plain value of the core.
#ifndef WEIR_SERVER_VARIABLES_ORDERS_H_
#define WEIR_SERVER_VARIABLES_ORDERS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "common/tensor/tensor.h"
#include "weir/v1/values.pb.h"

namespace weir {

struct ValueOrdersByWorker {
  struct ToOne {
    v1::ValueOrders orders;
    std::vector<Tensor> stored;  // in the order of orders.stores
  };
  std::map<uint64_t, ToOne> to;  // by worker

  void Store(uint64_t worker, uint64_t id, Tensor value);
  void Expect(uint64_t worker, uint64_t id, const Tensor& type);
  v1::HandOver* Hand(uint64_t worker, uint64_t id);
};

}  // namespace weir

#endif  // WEIR_SERVER_VARIABLES_ORDERS_H_
