#include "fovea/models/vision_transformer.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kPatchesOfSide = 8, kLargestPatch = 16;  // where model.patch is open
constexpr int64_t kMostPatches = 4096;
constexpr double kHeadDeviation = 0.02;

TransformerLayerOptions encoder_layer(const VisionTransformerOptions& o) {
  TransformerLayerOptions layer;
  layer.width = o.hidden;
  layer.heads = o.heads;
  layer.feed_forward = o.feed_forward > 0 ? o.feed_forward : 4 * o.hidden;
  layer.norm = "pre";
  layer.activation = "gelu";
  layer.dropout = layer.hidden_dropout = o.dropout;
  layer.attention_dropout = o.attention_dropout;
  layer.epsilon = o.epsilon;
  return layer;
}

/// One number, or one for each channel: [1, C, 1, 1].
Tensor numbers_of_channels(const std::string& key, const std::string& text, int64_t channels) {
  std::vector<double> numbers;
  for (const std::string& part : split(text, ',')) {
    double number = 0;
    require(parse_number(std::string(trim(part)), number) && std::isfinite(number),
            ErrorKind::InvalidArgument, "model.", key, "=", text, ": '", part, "' is no number");
    numbers.push_back(number);
  }
  if (numbers.size() == 1) numbers.resize(size_t(channels), numbers[0]);
  require(int64_t(numbers.size()) == channels, ErrorKind::InvalidArgument, "model.", key, "=", text,
          " has ", numbers.size(), " numbers, pictures of ", channels, " channels need 1 or ",
          channels);
  return torch::tensor(numbers, at::kDouble).to(at::kFloat).view({1, channels, 1, 1});
}

}  // namespace

VisionTransformerOptions::VisionTransformerOptions() {
  augment.shift = 0.1;
  augment.crop = 0.2;
}

void VisionTransformerOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"vit"});
  list.add("patch", patch, "pixels of a patch's side; 0: an eighth of the longer side, at most 16")
      .within(0, 1024);
  list.add("convolutions", convolutions,
           "in front of the patches, each halves the sides, as often as a patch can be halved; 0: "
           "patches of pixels, as in the paper")
      .within(0, 5);
  list.add("layers", layers, "stacked layers").within(1, 64);
  list.add("hidden", hidden, "numbers per patch").at_least(1);
  list.add("heads", heads, "attention heads; they divide model.hidden").at_least(1);
  list.add("feed_forward", feed_forward, "width inside of a layer; 0: 4 times model.hidden")
      .at_least(0);
  list.add("dropout", dropout, "of patches, and in the layers").rate();
  list.add("attention_dropout", attention_dropout, "of the attention weights").rate();
  list.add("epsilon", epsilon, "of the norms").above(0);
  list.add("mean", mean, "taken from pixels of 0 … 1: one number, or one for each channel");
  list.add("deviation", deviation, "they are divided by that then");
  list.group("augment", augment);
  list.add("pruned_heads", pruned_heads,
           "heads that were taken out, map.layer:head,…;… as attention.2:1,4; empty: none");
}

PatchGrid patch_grid(const VisionTransformerOptions& options, int64_t height, int64_t width) {
  PatchGrid grid;
  grid.patch = options.patch;
  if (grid.patch == 0) {
    const int64_t side = std::max(height, width);
    grid.patch =
        std::clamp<int64_t>((side + kPatchesOfSide / 2) / kPatchesOfSide, 1, kLargestPatch);
    grid.patch = std::min({grid.patch, height, width});
  }
  require(height >= grid.patch && width >= grid.patch, ErrorKind::InvalidArgument, "pictures of ",
          height, " x ", width, " pixels are smaller than a patch of ", grid.patch, " x ",
          grid.patch, "; set a smaller model.patch, or a larger data.image_size");
  while (grid.blocks < options.convolutions && grid.patch % (int64_t{2} << grid.blocks) == 0)
    ++grid.blocks;
  grid.rows = (height + grid.patch / 2) / grid.patch;
  grid.columns = (width + grid.patch / 2) / grid.patch;
  require(grid.rows <= kMostPatches / grid.columns, ErrorKind::InvalidArgument, "pictures of ",
          height, " x ", width, " pixels have ", format_count(grid.rows * grid.columns),
          " patches of ", grid.patch, " x ", grid.patch, ", of at most ",
          format_count(kMostPatches), "; set a larger model.patch, or a smaller data.image_size");
  return grid;
}

VisionTransformer::VisionTransformer(VisionTransformerOptions options, PictureInput input)
    : options_(std::move(options)), input_(input) {
  const auto& o = options_;
  const PatchGrid grid = patch_grid(o, input_.height, input_.width);
  require(grid.rows == input_.grid_rows && grid.columns == input_.grid_columns, ErrorKind::Internal,
          "a grid of ", input_.grid_rows, " x ", input_.grid_columns, " for ", grid.rows, " x ",
          grid.columns, " patches");
  require(o.hidden % o.heads == 0, ErrorKind::InvalidArgument, "model.hidden=", o.hidden,
          " is not divided by model.heads=", o.heads);
  normalisation_ = {numbers_of_channels("mean", o.mean, input_.channels),
                    numbers_of_channels("deviation", o.deviation, input_.channels)};
  require(normalisation_.deviation.gt(0).all().item<bool>(), ErrorKind::InvalidArgument,
          "model.deviation=", o.deviation, " must be above 0");
  patches_ = register_module(
      "patches", std::make_shared<PatchEmbedding>(PatchEmbeddingOptions{
                     input_.channels, grid.rows, grid.columns, grid.patch, grid.blocks, o.hidden}));
  encoder_ =
      register_module("encoder", std::make_shared<TransformerEncoder>(encoder_layer(o), o.layers));
  output_ = register_projection(*this, "output", {o.hidden, input_.classes});
  prune_heads(head_blocks(), parse_pruned_heads(o.pruned_heads));
}

void VisionTransformer::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  patches_->initialise(random.split("patches"));
  encoder_->initialise(random.split("encoder"));
  initialise_normal(output_->weight, kHeadDeviation, random.split("output"));
  output_->bias.zero_();
}

std::vector<LayerSummary> VisionTransformer::summary() const {
  const auto& o = options_;
  const PatchEmbeddingOptions& grid = patches_->options();
  const int64_t tokens = 1 + grid.rows * grid.columns;
  return {
      {concat("patches (", grid.rows, " x ", grid.columns, " of ", grid.patch, " x ", grid.patch,
              " pixels", grid.blocks > 0 ? concat(", ", grid.blocks, " convolutions") : "",
              ") and class token"),
       {tokens, o.hidden},
       count_parameters(*patches_)},
      {concat("encoder (", o.layers, " layers, ", o.heads, " heads)"),
       {tokens, o.hidden},
       count_parameters(*encoder_)},
      {"class (softmax)", {input_.classes}, count_parameters(*output_)}};
}

ParameterRule VisionTransformer::rule_of(const std::string& name) const {
  return {.decays = name.ends_with("weight") && name.find("norm") == std::string::npos};
}

Tensor VisionTransformer::encode(const Tensor& pixels, const Random* random, Tap* tap) const {
  const Tensor z = dropout(patches_->forward(pixels), options_.dropout, random, "patches");
  std::optional<Random> own;
  if (random) own = random->split("encoder");
  return encoder_->forward(z, KeepMask::all(), {kMap, kAxis, kAxis}, own, tap);
}

Tensor VisionTransformer::classify(const Tensor& states) const {
  return output_->forward(states.select(1, 0));
}

Tensor VisionTransformer::logits_of(const Batch& batch, const Random* random, Tap* tap) const {
  Tensor x = input_.numbers(batch.at("image"), output_->weight.scalar_type(), tap, kAxis,
                            /*first=*/1);  // [B, C, H, W]
  if (random) x = augment_images(x, options_.augment, random->split("augment"));
  x = (x - normalisation_.mean.to(x.device(), x.scalar_type())) /
      normalisation_.deviation.to(x.device(), x.scalar_type());
  return classify(encode(x, random, tap));
}

}  // namespace fovea
