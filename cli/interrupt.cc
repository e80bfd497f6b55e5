#include "cli/interrupt.h"

#include <csignal>

namespace fovea::cli {

namespace {

volatile std::sig_atomic_t caught = 0;

extern "C" void remember_signal(int signal) {
  if (caught != 0) std::signal(signal, SIG_DFL), std::raise(signal);
  caught = signal;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool was_interrupted() {
  return caught != 0;
}

HeldSignals::HeldSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

HeldSignals::~HeldSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool HeldSignals::wait(long milliseconds) const {
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1000000};
  return sigtimedwait(&signals_, nullptr, &time) > 0;
}

int interrupted_status() {
  return caught == 0 ? 0 : 128 + caught;
}

}  // namespace fovea::cli
