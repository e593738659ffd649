#include "common/base/metrics.h"

#include <gtest/gtest.h>

#include <thread>

namespace weir {
namespace {

TEST(MetricsTest, TextFormat) {
  MetricsRegistry registry;
  auto frames = registry.GetCounter("weir_frames_total", "Frames.", {{"to", "a\"b"}, {"by", "w"}});
  auto memory = registry.GetGauge("weir_memory_bytes", "Memory\nin use.");
  frames->Add(3);
  memory->Set(2.5);
  EXPECT_EQ(registry.Text(),
            "# HELP weir_frames_total Frames.\n# TYPE weir_frames_total counter\n"
            "weir_frames_total{by=\"w\",to=\"a\\\"b\"} 3\n"
            "# HELP weir_memory_bytes Memory\\nin use.\n# TYPE weir_memory_bytes gauge\n"
            "weir_memory_bytes 2.5\n");
}

TEST(MetricsTest, HistogramBucketsAreCumulative) {
  MetricsRegistry registry;
  auto latency = registry.GetHistogram("weir_wait_seconds", "Wait.", ExponentialBounds(0.1, 10, 2));
  for (double value : {0.05, 0.1, 0.5, 7.0}) latency->Observe(value);
  EXPECT_EQ(registry.Text(),
            "# HELP weir_wait_seconds Wait.\n# TYPE weir_wait_seconds histogram\n"
            "weir_wait_seconds_bucket{le=\"0.1\"} 2\nweir_wait_seconds_bucket{le=\"1\"} 3\n"
            "weir_wait_seconds_bucket{le=\"+Inf\"} 4\n"
            "weir_wait_seconds_sum 7.6500000000000004\nweir_wait_seconds_count 4\n");
}

TEST(MetricsTest, SameLabelsSameSeriesAndUnheldSeriesDisappear) {
  MetricsRegistry registry;
  auto first = registry.GetCounter("jobs_total", "Jobs.", {{"a", "1"}, {"b", "2"}});
  auto second = registry.GetCounter("jobs_total", "Jobs.", {{"b", "2"}, {"a", "1"}});
  EXPECT_EQ(first, second);
  first.reset();
  EXPECT_NE(registry.Text(), "");
  second.reset();
  EXPECT_EQ(registry.Text(), "");
}

TEST(MetricsTest, CountsFromManyThreads) {
  MetricsRegistry registry;
  auto total = registry.GetCounter("n_total", "N.");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) registry.GetCounter("n_total", "N.")->Add(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(total->value(), 4000u);
}

}  // namespace
}  // namespace weir
