#include "fovea/models/initialise.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

void initialise_like_keras(const at::Tensor& parameter, const Random& random) {
  torch::NoGradGuard no_gradients;
  if (parameter.dim() < 2) {
    parameter.zero_();
    return;
  }
  const double range = std::sqrt(6.0 / double(parameter.size(0) + parameter.size(1)));
  parameter.copy_(random.uniform_tensor(parameter.sizes(), -range, range, parameter.options()));
}

void initialise_like_pytorch(const at::Tensor& parameter, int64_t fan_in, const Random& random) {
  torch::NoGradGuard no_gradients;
  const double range = 1 / std::sqrt(double(fan_in));
  parameter.copy_(random.uniform_tensor(parameter.sizes(), -range, range, parameter.options()));
}

void initialise_normal(const at::Tensor& parameter, double deviation, const Random& random) {
  torch::NoGradGuard no_gradients;
  parameter.copy_(random.normal_tensor(parameter.sizes(), 0, deviation, parameter.options()));
}

void take_word_vectors(const at::Tensor& table, const at::Tensor& vectors,
                       const at::Tensor& known) {
  torch::NoGradGuard no_gradients;
  require(vectors.sizes() == table.sizes(), ErrorKind::InvalidArgument, "word vectors of shape ",
          vectors.sizes(), " do not fit the embedding ", table.sizes());
  table.copy_(at::where(known.unsqueeze(1).to(table.device()), vectors.to(table.device()), table));
}

}  // namespace fovea
