// Metrics: counters, gauges and histograms with labels, written in the Prometheus text format.
//
// A registry owns the series. A component keeps the shared_ptr that it got; a series disappears
// from the output once nobody else holds it, so labels of ended jobs do not pile up (a counter that
// must outlive its users is kept by whoever owns the registry). Updating is one atomic operation.
// Thread-safe.
//
//   auto frames = registry.GetCounter("weir_frames_total", "Frames sent.", {{"link", "w1"}});
//   frames->Add(1);
#ifndef WEIR_COMMON_BASE_METRICS_H_
#define WEIR_COMMON_BASE_METRICS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace weir {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

class Counter {
 public:
  void Add(uint64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double step) { value_.fetch_add(step, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  // `bounds`: the upper ends of the buckets, rising; a last bucket without end is added.
  explicit Histogram(std::vector<double> bounds);
  void Observe(double value);

  const std::vector<double>& bounds() const { return bounds_; }
  // Returns: how many observations lie in bucket `i` alone. REQUIRES: i <= bounds().size().
  uint64_t bucket(size_t i) const { return counts_[i].load(std::memory_order_relaxed); }
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  const std::vector<double> bounds_;
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<double> sum_{0};
};

// Returns: `count` bounds that start at `first` and grow by `factor`.
std::vector<double> ExponentialBounds(double first, double factor, int count);

class MetricsRegistry {
 public:
  // Each returns the series of that name and labels, made on first use. REQUIRES: a name keeps its
  // kind.
  std::shared_ptr<Counter> GetCounter(const std::string& name, const std::string& help,
                                      MetricLabels labels = {});
  std::shared_ptr<Gauge> GetGauge(const std::string& name, const std::string& help,
                                  MetricLabels labels = {});
  std::shared_ptr<Histogram> GetHistogram(const std::string& name, const std::string& help,
                                          std::vector<double> bounds, MetricLabels labels = {});

  // Returns: every living series in the text format 0.0.4, ordered by name and labels.
  std::string Text() const;

 private:
  enum class Kind { kCounter, kGauge, kHistogram };
  struct Family {
    Kind kind;
    std::string help;
    std::map<std::string, std::weak_ptr<void>> series;  // by the label text
  };

  template <class Metric, class Make>
  std::shared_ptr<Metric> Get(Kind kind, const std::string& name, const std::string& help,
                              MetricLabels labels, const Make& make);

  mutable std::mutex mutex_;
  mutable std::map<std::string, Family> families_;
};

}  // namespace weir

#endif  // WEIR_COMMON_BASE_METRICS_H_
