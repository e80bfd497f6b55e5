#include "fovea/base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "fovea/base/text.h"

namespace fovea {

namespace {

int terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr double kFirstSeconds = 3;  // until a line says how long it will take
constexpr double kDrawSeconds = 0.1;

/// Between two lines where there is no terminal.
double line_seconds() {
  double seconds = 10;
  if (const char* given = std::getenv("FOVEA_PROGRESS_SECONDS")) parse_number(given, seconds);
  return seconds;
}

std::string short_count(double count) {
  if (count >= 1e6) return format_number(count / 1e6, 3) + "M";
  if (count >= 1e3) return format_number(count / 1e3, 3) + "k";
  return format_number(count, 3);
}

}  // namespace

Progress::Progress(std::string title, int64_t total, std::string unit, bool quiet)
    : title_(std::move(title)),
      unit_(std::move(unit)),
      total_(total),
      wait_(std::min(kFirstSeconds, line_seconds())),
      quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      last_draw_(start_) {}

Progress::~Progress() {
  finish();
}

std::string Progress::figures(int64_t done, int64_t total, const std::string& unit, double seconds,
                              const std::string& metrics) {
  const double share = total > 0 ? std::clamp(double(done) / double(total), 0.0, 1.0) : 0;
  const double rate = seconds > 0 ? double(done) / seconds : 0;
  std::string text = concat(int(share * 100), "%");
  if (rate > 0)
    text += concat("  ", short_count(rate), " ", unit, "/s  ",
                   format_duration(double(std::max<int64_t>(0, total - done)) / rate), " left");
  if (!metrics.empty()) text += "  " + metrics;
  return text;
}

std::string Progress::render(const std::string& title, int64_t done, int64_t total,
                             const std::string& unit, double seconds, const std::string& metrics,
                             int width) {
  const double share = total > 0 ? std::clamp(double(done) / double(total), 0.0, 1.0) : 0;
  const std::string right = " " + figures(done, total, unit, seconds, metrics);
  const int room = width - 1 - int(display_width(title)) - int(display_width(right)) - 3;
  if (room < 4) {
    const std::string cut = (title + right).substr(0, size_t(std::max(0, width - 1)));
    return cut.substr(0, valid_utf8_prefix(cut));
  }
  const int cells = std::min(room, 40), filled = int(share * cells);
  std::string bar;
  for (int i = 0; i < cells; ++i) bar += i < filled ? "━" : "╌";
  return title + " " + bar + right;
}

void Progress::ends_within(double seconds) {
  most_seconds_ = seconds_since(start_) + seconds;
}

void Progress::update(int64_t done, const std::string& metrics) {
  if (first_ < 0) first_ = done;
  if (quiet_ || seconds_since(last_draw_) < (terminal_ ? kDrawSeconds : wait_)) return;
  last_draw_ = std::chrono::steady_clock::now();
  wait_ = line_seconds();
  // A resumed training did not do the first part in this time.
  const double seconds =
      done > first_ ? seconds_since(start_) * double(done) / double(done - first_) : 0;
  int64_t total = total_;
  if (most_seconds_ > 0 && done > first_) {  // so many at this rate
    const double share = std::max(0.0, most_seconds_ / seconds_since(start_));
    total = std::min(total, first_ + int64_t(double(done - first_) * share));
  }
  if (!terminal_) {
    std::fprintf(stderr, "%s %s\n", title_.c_str(),
                 figures(done, total, unit_, seconds, metrics).c_str());
    std::fflush(stderr);
    return;
  }
  std::fprintf(stderr, "\r\033[K%s",
               render(title_, done, total, unit_, seconds, metrics, terminal_width()).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::erase() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void Progress::line(const std::string& text) {
  if (quiet_) return;
  erase();
  std::fprintf(stderr, "%s\n", text.c_str());
}

void Progress::finish() {
  erase();
  std::fflush(stderr);
}

CountProgress progress_of(const StageProgress& progress, const Stage& stage) {
  if (!progress) return {};
  return [progress, stage](int64_t done, int64_t total) { progress(stage, done, total); };
}

CountProgress progress_bar(const std::string& title, const std::string& unit) {
  return [title, unit, bar = std::shared_ptr<Progress>()](int64_t done, int64_t total) mutable {
    if (!bar) bar = std::make_shared<Progress>(title, total, unit);
    bar->update(done);
  };
}

}  // namespace fovea
