// One query looks at five keys with every score function, and a mask keeps the last two out. Prints
// the weights.
#include <cstdio>

#include "fovea/attention/attend.h"
#include "fovea/tensor/torch.h"

int main() {
  using namespace fovea;
  const Random random(1);
  const at::Tensor query =
      random.split("query").normal_tensor({1, 1, 4}, 0, 1, torch::kFloat32);  // [B, Q, D]
  const at::Tensor keys =
      random.split("keys").normal_tensor({1, 5, 4}, 0, 1, torch::kFloat32);  // [B, K, D]
  const KeepMask mask = KeepMask::from_lengths(torch::tensor({3}), 5);

  for (const std::string& name : score_names()) {
    ScoreOptions options;
    options.name = name;
    options.query_size = options.key_size = 4;
    const auto score = make_score(options, random.split(name));

    AttendInput input;
    input.query = query;
    input.score = score.get();
    input.memory = remember(*score, keys, keys, mask);
    const Attended attended = attend(input);

    std::printf("%-16s", name.c_str());
    const at::Tensor weights = attended.weights.flatten();  // [K]
    for (int64_t k = 0; k < weights.size(0); ++k) std::printf(" %.3f", weights[k].item<float>());
    std::printf("\n");
    if (weights.narrow(0, 3, 2).abs().sum().item<float>() != 0)
      return 1;  // masked keys get exactly nothing
  }
}
