#include "fovea/serving/metrics.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "fovea/base/text.h"

namespace fovea::serving {

namespace {

const std::vector<double> kSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                      0.1,    0.25,  0.5,    1,     2.5,  5,     10};
const std::vector<double> kInputs = {1, 2, 4, 8, 16, 32, 64, 128, 256};

std::string head(const std::string& name, const std::string& help, const char* type) {
  return concat("# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
}

std::string line(const std::string& name, const std::string& labels, const std::string& value) {
  return concat(name, labels.empty() ? "" : concat("{", labels, "}"), " ", value, "\n");
}

std::string family(const std::string& name, const std::string& help, const char* label_name,
                   const std::map<std::string, Histogram>& histograms) {
  std::string text = head(name, help, "histogram");
  for (const auto& [value, histogram] : histograms)
    text += histogram.text(name, label(label_name, value));
  return text;
}

}  // namespace

std::string label(std::string_view name, std::string_view value) {
  std::string escaped;
  for (const char character : value) {
    if (character == '\\' || character == '"') escaped += '\\';
    escaped += character == '\n' ? "\\n" : std::string(1, character);
  }
  return concat(name, "=\"", escaped, "\"");
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  if (!(file >> total >> resident)) return 0;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void Histogram::observe(double value) {
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  ++counts_[static_cast<size_t>(bound - bounds_.begin())];
  sum_ += value;
}

std::string Histogram::text(const std::string& name, const std::string& labels) const {
  std::string text;
  int64_t total = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    total += counts_[i];
    const std::string bound = i < bounds_.size() ? format_exact(bounds_[i]) : "+Inf";
    text += line(name + "_bucket", concat(labels, labels.empty() ? "" : ",", label("le", bound)),
                 std::to_string(total));
  }
  return text + line(name + "_sum", labels, format_exact(sum_)) +
         line(name + "_count", labels, std::to_string(total));
}

void Metrics::request_done(const std::string& route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  seconds_.try_emplace(route, kSeconds).first->second.observe(seconds);
}

void Metrics::batch_done(const std::string& model, size_t inputs) {
  const std::lock_guard lock(mutex_);
  batches_.try_emplace(model, kInputs).first->second.observe(static_cast<double>(inputs));
}

std::string Metrics::text(std::span<const Gauge> gauges) const {
  const std::lock_guard lock(mutex_);
  std::string text = head("fovea_requests_total", "Requests by route and status.", "counter");
  for (const auto& [key, count] : requests_)
    text +=
        line("fovea_requests_total",
             concat(label("route", key.first), ",", label("status", std::to_string(key.second))),
             std::to_string(count));
  text += family("fovea_request_seconds", "From the head of a request to its answer.", "route",
                 seconds_);
  text += family("fovea_batch_inputs", "Inputs that were predicted together.", "model", batches_);
  std::string last;
  for (const Gauge& gauge : gauges) {
    if (gauge.name != last) text += head(gauge.name, gauge.help, gauge.type);
    last = gauge.name;
    text += line(gauge.name, gauge.labels, format_exact(gauge.value));
  }
  return text;
}

}  // namespace fovea::serving
