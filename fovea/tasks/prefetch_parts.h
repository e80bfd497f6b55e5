// Many accesses at once, for a model that answers batches.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fovea/models/model.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

/// do_part(begin, end) for all of 0 … count-1, without gradients; side by side on a CPU.
template <class DoPart>
void in_parts(const Model& model, int64_t count, const DoPart& do_part) {
  constexpr int64_t kRowsAtOnce = 256, kRowsAtOnceOnGpu = 8192;
  const bool cpu = model.device().is_cpu();
  const int64_t size = cpu ? kRowsAtOnce : kRowsAtOnceOnGpu;
  const int64_t parts = (count + size - 1) / size;
  const auto job = [&](int64_t part) {
    torch::NoGradGuard no_gradients;
    do_part(part * size, std::min(count, (part + 1) * size));
  };
  if (cpu) return run_parallel(parts, job);
  for (int64_t part = 0; part < parts; ++part) job(part);
}

}  // namespace fovea
