#include "fovea/tasks/outputs/embedding.h"

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

std::vector<float> embedding_numbers(const Prediction& prediction) {
  const at::Tensor values = prediction.values.to(at::kCPU, at::kFloat).contiguous();
  return {values.data_ptr<float>(), values.data_ptr<float>() + values.numel()};
}

}  // namespace

Json EmbeddingOutput::answer(const Example&, const Prediction& prediction) const {
  return {{"embedding", embedding_numbers(prediction)}};
}

std::string EmbeddingOutput::answer_line(const Example&, const Prediction& prediction) const {
  std::vector<std::string> numbers;
  for (const float number : embedding_numbers(prediction))
    numbers.push_back(format_number(number, 6));
  return join(numbers, ",");
}

std::string EmbeddingOutput::headline(const Example&, const Prediction& prediction) const {
  return concat("an embedding of ", prediction.values.numel(), " numbers");
}

}  // namespace fovea
