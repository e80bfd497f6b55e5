// Long work that somebody may not want any more. Who starts it says when in a StopScope; the work
// asks with stop_if_asked() where it goes on for long: between batches, steps, layers and replays.
// Work on other threads (parallel.h with more than one) is asked where it comes together again.
#pragma once

#include <exception>
#include <functional>

namespace fovea {

/// Thrown by stop_if_asked(). Not an Error: nothing is wrong.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "the work was stopped"; }
};

/// While it lives, stop_if_asked() in this thread asks `is_unwanted`. An inner scope adds to an
/// outer one.
class StopScope {
 public:
  explicit StopScope(std::function<bool()> is_unwanted);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  friend void stop_if_asked();
  std::function<bool()> is_unwanted_;
  const StopScope* outer_;
};

/// Throws Stopped when a scope of this thread says so. Next to nothing without one.
void stop_if_asked();

}  // namespace fovea
