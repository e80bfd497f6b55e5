// Independent work side by side, each piece in a process of its own: trainings share nothing, not
// even LibTorch's threads.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

/// Results of work(0) … work(count - 1), at most `jobs` at the same time; `progress` is told how
/// many are done. What a piece throws is thrown here (its text, as BadData); the others are then
/// ended. They also end with this process, however it ends, and when `should_stop` (which may be
/// empty) says so; that is an InvalidArgument.
std::vector<Json> run_in_processes(size_t count, size_t jobs,
                                   const std::function<Json(size_t)>& work,
                                   const std::function<void(size_t done)>& progress,
                                   const std::function<bool()>& should_stop = {});

}  // namespace fovea
