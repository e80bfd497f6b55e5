#include "fovea/models/image_baselines.h"

#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/nn/ops/activation.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kFilter = 3;  // pixels of a filter in each direction

Tensor relu_of(const Projection& layer, const Tensor& x) {
  return activated_projection(x, layer.weight, layer.bias, Activation::Relu);
}

/// Means of 2 x 2, also of what is left at an odd edge.
Tensor halved(const Tensor& x) {
  return torch::avg_pool2d(x, {2, 2}, {2, 2}, {0, 0}, /*ceil_mode=*/true,
                           /*count_include_pad=*/false);
}

int64_t half_of(int64_t pixels) {
  return (pixels + 1) / 2;
}

}  // namespace

Convolution::Convolution(int64_t in, int64_t out) {
  weight = register_parameter("weight", at::zeros({out, in, kFilter, kFilter}));
  bias = register_parameter("bias", at::zeros({out}));
}

void Convolution::initialise(const Random& random) {
  const int64_t fan_in = weight.size(1) * kFilter * kFilter;
  initialise_like_pytorch(weight, fan_in, random.split("weight"));
  initialise_like_pytorch(bias, fan_in, random.split("bias"));
}

Tensor Convolution::forward(const Tensor& x) const {
  return torch::conv2d(x, weight, bias, /*stride=*/{1, 1}, /*padding=*/{kFilter / 2, kFilter / 2});
}

void ImageBaselineOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"plain", "cnn"});
  list.add("hidden", hidden, "numbers of a hidden layer").at_least(1);
  if (is_cnn())
    list.add("filters", filters, "filters of the first convolution; the second has twice as many")
        .at_least(1);
}

ImageBaseline::ImageBaseline(ImageBaselineOptions options, PictureInput input)
    : options_(std::move(options)), input_(input) {
  int64_t numbers = input_.channels * input_.height * input_.width;
  if (options_.is_cnn()) {
    const int64_t more = 2 * options_.filters;
    first_filters_ = register_module(
        "first_filters", std::make_shared<Convolution>(input_.channels, options_.filters));
    second_filters_ =
        register_module("second_filters", std::make_shared<Convolution>(options_.filters, more));
    numbers = more * half_of(half_of(input_.height)) * half_of(half_of(input_.width));
  }
  first_ = register_projection(*this, "first", {numbers, options_.hidden});
  if (!options_.is_cnn())
    second_ = register_projection(*this, "second", {options_.hidden, options_.hidden});
  classify_ = register_projection(*this, "classify", {options_.hidden, input_.classes});
}

void ImageBaseline::initialise(const Random& random) {
  for (const auto& child : named_children()) {
    const Random own = random.split(child.key());
    if (const auto filters = std::dynamic_pointer_cast<Convolution>(child.value()))
      filters->initialise(own);
    else
      std::dynamic_pointer_cast<Projection>(child.value())->initialise(own);
  }
}

std::vector<LayerSummary> ImageBaseline::summary() const {
  std::vector<LayerSummary> layers;
  if (options_.is_cnn()) {
    const int64_t height = half_of(input_.height), width = half_of(input_.width);
    layers.push_back({"convolution 3 x 3, halved",
                      {options_.filters, height, width},
                      count_parameters(*first_filters_)});
    layers.push_back({"convolution 3 x 3, halved",
                      {2 * options_.filters, half_of(height), half_of(width)},
                      count_parameters(*second_filters_)});
  }
  layers.push_back({"hidden (relu)", {options_.hidden}, count_parameters(*first_)});
  if (second_) layers.push_back({"hidden (relu)", {options_.hidden}, count_parameters(*second_)});
  layers.push_back({"class (softmax)", {input_.classes}, count_parameters(*classify_)});
  return layers;
}

Tensor ImageBaseline::logits_of(const Batch& batch, const Random*, Tap* tap) const {
  Tensor x =
      input_.numbers(batch.at("image"), classify_->weight.scalar_type(), tap);  // [B, C, H, W]
  if (options_.is_cnn()) {
    x = halved(first_filters_->forward(x).relu());
    x = halved(second_filters_->forward(x).relu());
  }
  x = relu_of(*first_, x.flatten(1));  // [B, D]
  if (second_) x = relu_of(*second_, x);
  return classify_->forward(x);
}

}  // namespace fovea
