#include "fovea/training/step_log.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {

namespace {

constexpr double kFirstInterval = 0.1;  // seconds between two lines
constexpr size_t kMostStepLines = 2000;

/// More digits nobody sees, and the file would be twice as large.
double shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

}  // namespace

Json StepReport::to_json() const {
  Json json{{"step", step},
            {"epoch", shown(epoch)},
            {"loss", shown(loss)},
            {"learning_rate", shown(learning_rate)},
            {"rows_per_second", shown(rows_per_second)}};
  if (units_per_second > 0) json["units_per_second"] = shown(units_per_second);
  json["seconds"] = shown(seconds);
  json["left"] = shown(left);
  return json;
}

StepLog::StepLog(std::filesystem::path path, int64_t step)
    : path_(std::move(path)), interval_(kFirstInterval) {
  if (path_.empty()) return;
  lines_ = keep_lines_until(path_, step);
  if (lines_.empty()) return;
  const Json last = parse_json(lines_.back(), path_.string());
  if (last.contains("seconds") && last["seconds"].is_number())
    seconds_ = last["seconds"].get<double>();
  while (seconds_ / interval_ > double(kMostStepLines)) interval_ *= 2;
}

void StepLog::add(const StepWork& work) {
  pending_.rows += work.rows;
  pending_.units += work.units;
  pending_.loss += work.loss;
  pending_.seconds += work.seconds;
}

void StepLog::write(StepReport& report) {
  const double time = std::max(pending_.seconds, 1e-9);
  seconds_ += pending_.seconds;
  report.loss = pending_.units > 0 ? pending_.loss / pending_.units : 0;
  report.rows_per_second = double(pending_.rows) / time;
  report.units_per_second = pending_.units == double(pending_.rows) ? 0 : pending_.units / time;
  report.seconds = seconds_;
  pending_ = {};
  if (path_.empty()) return;
  lines_.push_back(report.to_json().dump());
  if (lines_.size() <= kMostStepLines) return append_unsynced(path_, lines_.back() + "\n");
  thin(lines_);
  interval_ *= 2;
  write_lines(path_, lines_);
}

std::vector<std::string> whole_lines(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return lines;
  const std::string content = read_file(path);
  size_t begin = 0;
  for (size_t end = 0; (end = content.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(content.substr(begin, end - begin));
  return lines;
}

std::vector<std::string> keep_lines_until(const std::filesystem::path& path, int64_t step) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  std::vector<std::string> kept;
  for (std::string& line : whole_lines(path)) {
    try {
      const Json json = parse_json(line, path.string());
      const bool is_before = json.is_object() && json.contains("step") &&
                             json["step"].is_number_integer() &&
                             json["step"].get<int64_t>() <= step;
      if (is_before) kept.push_back(std::move(line));
    } catch (const Error&) {  // damaged: it is for people alone
    }
  }
  write_lines(path, kept);
  return kept;
}

void write_lines(const std::filesystem::path& path, const std::vector<std::string>& lines) {
  std::string content;
  for (const std::string& line : lines) content += line + "\n";
  write_file(path, content);
}

void thin(std::vector<std::string>& lines) {
  size_t kept = std::min<size_t>(1, lines.size());  // a text moved to itself would be lost
  for (size_t i = 2; i < lines.size(); i += 2) lines[kept++] = std::move(lines[i]);
  lines.resize(kept);
}

}  // namespace fovea
