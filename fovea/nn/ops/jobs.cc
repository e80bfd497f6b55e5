#include "fovea/nn/ops/jobs.h"

#include <algorithm>

#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

void Jobs::add_blocks(int64_t count, int64_t most,
                      const std::function<void(int64_t, int64_t)>& job) {
  for (int64_t begin = 0; begin < count; begin += most)
    add([=] { job(begin, std::min(most, count - begin)); });
}

void Jobs::add_product(const at::Tensor& target, const at::Tensor& left, const at::Tensor& right) {
  add_blocks(target.size(0), kWeightBlock, [=](int64_t begin, int64_t count) {
    at::Tensor block = target.narrow(0, begin, count);
    at::mm_out(block, left.narrow(1, begin, count).t(), right);
  });
}

void Jobs::run() const {
  run_parallel(static_cast<int64_t>(jobs_.size()), [this](int64_t job) {
    torch::NoGradGuard no_gradients;  // every thread has its own setting
    jobs_[static_cast<size_t>(job)]();
  });
}

}  // namespace fovea
