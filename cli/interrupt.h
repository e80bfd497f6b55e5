// Ctrl-C and SIGTERM ask a training to stop at the next block; a second Ctrl-C ends the program at
// once.
#pragma once

namespace fovea::cli {

/// Thrown by a command that has said what is wrong and only wants exit status 1.
struct Failed {};

/// From now on the two signals only set a flag.
void catch_interrupts();

bool was_interrupted();

/// 0, or 128 + the signal's number.
int interrupted_status();

}  // namespace fovea::cli
