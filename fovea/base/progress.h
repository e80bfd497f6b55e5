// A progress bar with rate, time left and metrics. On a terminal it redraws one line on standard
// error; elsewhere, beside the lines given to line(), a line appears after the first seconds, which
// tell how long it will take, and then every ten (so many as FOVEA_PROGRESS_SECONDS says).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace fovea {

/// Told how many of how many are done; may be empty.
using CountProgress = std::function<void(int64_t done, int64_t total)>;

/// A part of longer work.
struct Stage {
  std::string title, unit;  // what it is, and what is counted in it ("rows")
  double most_seconds = 0;  // it ends within so many, whatever is left then; 0: when it is done
};
/// Told how far a stage is, at first with nothing done; may be empty.
using StageProgress = std::function<void(const Stage& stage, int64_t done, int64_t total)>;
/// Of one stage; empty where nobody is told.
CountProgress progress_of(const StageProgress& progress, const Stage& stage);

class Progress {
 public:
  /// `unit` is what is counted ("rows"). A quiet progress prints nothing at all.
  Progress(std::string title, int64_t total, std::string unit, bool quiet = false);
  ~Progress();

  /// The work ends within so many seconds from now, whatever is left then.
  void ends_within(double seconds);
  /// Moves the bar; draws at most ten times a second, as a line of its own every ten seconds.
  void update(int64_t done, const std::string& metrics = "");
  /// A lasting line above the bar (an epoch's result).
  void line(const std::string& text);
  void finish();

  /// The bar's text for a terminal of that width; pure, for tests.
  static std::string render(const std::string& title, int64_t done, int64_t total,
                            const std::string& unit, double seconds, const std::string& metrics,
                            int width);
  /// What stands right of the bar: share, rate, time left, metrics.
  static std::string figures(int64_t done, int64_t total, const std::string& unit, double seconds,
                             const std::string& metrics);

 private:
  void erase();
  std::string title_, unit_;
  int64_t total_, first_ = -1;
  double most_seconds_ = 0;  // 0: as long as it takes
  double wait_;              // seconds until the next drawing
  bool quiet_, terminal_, drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_draw_;
};

/// A bar that appears with the first report of how many of how many are done, for loaders.
CountProgress progress_bar(const std::string& title, const std::string& unit);

}  // namespace fovea
