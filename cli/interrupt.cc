#include "cli/interrupt.h"

#include <csignal>

namespace fovea::cli {

namespace {

volatile std::sig_atomic_t caught = 0;

extern "C" void remember(int signal) {
  if (caught != 0) std::signal(signal, SIG_DFL), std::raise(signal);
  caught = signal;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool was_interrupted() {
  return caught != 0;
}

int interrupted_status() {
  return caught == 0 ? 0 : 128 + caught;
}

}  // namespace fovea::cli
