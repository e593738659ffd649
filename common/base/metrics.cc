#include "common/base/metrics.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "common/base/str_cat.h"

namespace weir {
namespace {

std::string LabelText(MetricLabels labels) {
  std::sort(labels.begin(), labels.end());
  std::string text;
  for (const auto& [key, value] : labels) {
    StrAppend(&text, text.empty() ? "" : ",", key, "=\"",
              absl::StrReplaceAll(value, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}), "\"");
  }
  return text;
}

std::string Braced(std::string_view labels, std::string_view more = "") {
  if (labels.empty() && more.empty()) return "";
  return StrCat("{", labels, labels.empty() || more.empty() ? "" : ",", more, "}");
}

std::string Number(double value) { return absl::StrFormat("%.17g", value); }

// Bounds are written as people write them, so that "0.1" names the same bucket everywhere.
std::string BoundText(double bound) { return absl::StrFormat("%g", bound); }

void AppendHistogram(const std::string& name, const std::string& labels, const Histogram& histogram,
                     std::string* out) {
  uint64_t total = 0;
  for (size_t i = 0; i <= histogram.bounds().size(); ++i) {
    total += histogram.bucket(i);
    const std::string bound =
        i < histogram.bounds().size() ? BoundText(histogram.bounds()[i]) : "+Inf";
    StrAppend(out, name, "_bucket", Braced(labels, StrCat("le=\"", bound, "\"")), " ", total, "\n");
  }
  StrAppend(out, name, "_sum", Braced(labels), " ", Number(histogram.sum()), "\n");
  StrAppend(out, name, "_count", Braced(labels), " ", total, "\n");
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

void Histogram::Observe(double value) {
  const size_t i = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  counts_[i].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::vector<double> ExponentialBounds(double first, double factor, int count) {
  std::vector<double> bounds;
  for (double bound = first; count > 0; --count, bound *= factor) bounds.push_back(bound);
  return bounds;
}

template <class Metric, class Make>
std::shared_ptr<Metric> MetricsRegistry::Get(Kind kind, const std::string& name,
                                             const std::string& help, MetricLabels labels,
                                             const Make& make) {
  std::lock_guard lock(mutex_);
  Family& family = families_.try_emplace(name, Family{kind, help, {}}).first->second;
  if (family.kind != kind) {
    std::fprintf(stderr, "metric %s is used with two kinds\n", name.c_str());
    std::abort();
  }
  std::weak_ptr<void>& slot = family.series[LabelText(std::move(labels))];
  if (auto living = std::static_pointer_cast<Metric>(slot.lock())) return living;
  std::shared_ptr<Metric> made = make();
  slot = made;
  return made;
}

std::shared_ptr<Counter> MetricsRegistry::GetCounter(const std::string& name,
                                                     const std::string& help, MetricLabels labels) {
  return Get<Counter>(Kind::kCounter, name, help, std::move(labels),
                      [] { return std::make_shared<Counter>(); });
}

std::shared_ptr<Gauge> MetricsRegistry::GetGauge(const std::string& name, const std::string& help,
                                                 MetricLabels labels) {
  return Get<Gauge>(Kind::kGauge, name, help, std::move(labels),
                    [] { return std::make_shared<Gauge>(); });
}

std::shared_ptr<Histogram> MetricsRegistry::GetHistogram(const std::string& name,
                                                         const std::string& help,
                                                         std::vector<double> bounds,
                                                         MetricLabels labels) {
  return Get<Histogram>(Kind::kHistogram, name, help, std::move(labels),
                        [&] { return std::make_shared<Histogram>(std::move(bounds)); });
}

std::string MetricsRegistry::Text() const {
  constexpr const char* kKindNames[] = {"counter", "gauge", "histogram"};
  std::lock_guard lock(mutex_);
  std::string out;
  for (auto& [name, family] : families_) {
    std::string body;
    std::erase_if(family.series, [](const auto& entry) { return entry.second.expired(); });
    for (const auto& [labels, slot] : family.series) {
      const std::shared_ptr<void> living = slot.lock();
      if (living == nullptr) continue;
      if (family.kind == Kind::kHistogram) {
        AppendHistogram(name, labels, *static_cast<Histogram*>(living.get()), &body);
        continue;
      }
      const std::string value = family.kind == Kind::kCounter
                                    ? StrCat(static_cast<Counter*>(living.get())->value())
                                    : Number(static_cast<Gauge*>(living.get())->value());
      StrAppend(&body, name, Braced(labels), " ", value, "\n");
    }
    if (body.empty()) continue;
    StrAppend(&out, "# HELP ", name, " ",
              absl::StrReplaceAll(family.help, {{"\\", "\\\\"}, {"\n", "\\n"}}), "\n# TYPE ", name,
              " ", kKindNames[static_cast<int>(family.kind)], "\n", body);
  }
  return out;
}

}  // namespace weir
