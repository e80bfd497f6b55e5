// Ctrl-C and SIGTERM ask a training to stop at the next block; a second Ctrl-C ends the program at
// once.
#pragma once

#include <signal.h>

namespace fovea::cli {

/// Thrown by a command that has said what is wrong and only wants exit status 1.
struct Failed {};

/// From now on the two signals only set a flag.
void catch_interrupts();

bool was_interrupted();

/// 0, or 128 + the signal's number.
int interrupted_status();

/// For servers: the two signals wait to be asked for, in every thread that is started meanwhile.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Whether one came within that time.
  bool wait(long milliseconds) const;

 private:
  sigset_t signals_{}, before_{};
};

}  // namespace fovea::cli
