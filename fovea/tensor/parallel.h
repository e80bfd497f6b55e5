// Work side by side with the same bits at any number of threads: a job is cut into parts by the
// problem, never by the threads, and every part computes with one thread of LibTorch.
#pragma once

#include <cstdint>
#include <functional>

namespace fovea {

/// How many threads run_parallel() uses, this one included; 0: one per processor.
void set_threads(int64_t count);
int64_t threads();

/// Runs job(0) … job(count - 1), each once, in any order; returns when all are done. The first
/// exception of a job is thrown again here. From inside a job, or while another thread is at it,
/// the jobs run one after the other where they are: a function may use this without knowing who
/// calls it.
void run_parallel(int64_t count, const std::function<void(int64_t)>& job);

}  // namespace fovea
