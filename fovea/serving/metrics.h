// What the server counts, as Prometheus reads it: requests by route and status, how long they took,
// how large batches were. Gauges are asked for when somebody looks.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::serving {

/// Counts values by upper bounds.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds)
      : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
  void observe(double value);
  /// The lines of the metric; `labels` as in {model="dates"}, without the braces.
  std::string text(const std::string& name, const std::string& labels) const;

 private:
  std::vector<double> bounds_;   // rising
  std::vector<int64_t> counts_;  // of values up to each bound, and above the last
  double sum_ = 0;
};

/// A value of this moment.
struct Gauge {
  std::string name, help, labels;
  double value = 0;
  const char* type = "gauge";
};

/// May be used from any thread.
class Metrics {
 public:
  void request_done(const std::string& route, int status, double seconds);
  void batch_done(const std::string& model, size_t inputs);

  /// Gauges of one name must stand together.
  std::string text(std::span<const Gauge> gauges) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, int64_t> requests_;
  std::map<std::string, Histogram> seconds_, batches_;
};

/// name="value", with what must be escaped.
std::string label(std::string_view name, std::string_view value);

/// Memory that this process holds, in bytes; 0 where the system does not say.
double resident_bytes();

}  // namespace fovea::serving
