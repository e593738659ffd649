// What /metrics shows: calls as they are counted here, and the coordinator's own figures, which are
// read when somebody asks. Thread-safe.
#ifndef WEIR_SERVER_API_METRICS_H_
#define WEIR_SERVER_API_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "server/jobs/coordinator.h"

namespace weir {

class ServerMetrics {
 public:
  // REQUIRES: coordinator outlives this.
  explicit ServerMetrics(Coordinator* coordinator);

  void CountCall(const std::string& method, int code, absl::Duration duration);

  // Returns: everything in the Prometheus text format.
  std::string Text() const;

 private:
  Coordinator* const coordinator_;
  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& calls_;
  prometheus::Family<prometheus::Histogram>& seconds_;
};

// The end of one call, counted when it is known.
class CallTimer {
 public:
  CallTimer(ServerMetrics* metrics, const char* method)
      : metrics_(metrics), method_(method), begin_(absl::Now()) {}
  void Done(int code) const { metrics_->CountCall(method_, code, absl::Now() - begin_); }

 private:
  ServerMetrics* const metrics_;
  const char* const method_;
  const absl::Time begin_;
};

}  // namespace weir

#endif  // WEIR_SERVER_API_METRICS_H_
