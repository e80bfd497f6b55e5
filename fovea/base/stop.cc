#include "fovea/base/stop.h"

namespace fovea {

namespace {

thread_local const StopScope* innermost_scope = nullptr;

}  // namespace

StopScope::StopScope(std::function<bool()> is_unwanted)
    : is_unwanted_(std::move(is_unwanted)), outer_(innermost_scope) {
  innermost_scope = this;
}

StopScope::~StopScope() {
  innermost_scope = outer_;
}

void stop_if_asked() {
  for (const StopScope* scope = innermost_scope; scope; scope = scope->outer_)
    if (scope->is_unwanted_()) throw Stopped();
}

}  // namespace fovea
