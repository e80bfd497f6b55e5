#include "fovea/models/series_patches.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kPatchLength = 16, kPatchesOfShortWindow = 8;

TransformerLayerOptions layer_options(const SeriesPatchesOptions& options) {
  TransformerLayerOptions layer;
  layer.width = options.hidden;
  layer.heads = options.heads;
  layer.feed_forward = options.feed_forward > 0 ? options.feed_forward : 4 * options.hidden;
  layer.norm = "pre";
  layer.activation = "gelu";
  layer.dropout = layer.hidden_dropout = options.dropout;
  return layer;
}

std::vector<int64_t> flat_steps(const PatchPlaces& places) {
  std::vector<int64_t> steps;
  for (const std::vector<int64_t>& patch : places.steps)
    steps.insert(steps.end(), patch.begin(), patch.end());
  return steps;
}

}  // namespace

void SeriesPatchesOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"patches"});
  series.describe(list);
  list.add("patch_length", patch_length,
           "steps of a patch; 0: 16, or an eighth of a window shorter than 128")
      .within(0, 65536);
  list.add("patch_stride", patch_stride, "steps from one patch to the next; 0: side by side")
      .within(0, 65536);
  list.add("hidden", hidden, "numbers per patch").at_least(1);
  list.add("layers", layers, "layers of the encoder").within(1, 64);
  list.add("heads", heads, "heads of each layer; they divide model.hidden").at_least(1);
  list.add("feed_forward", feed_forward, "width inside of a layer; 0: 4 times model.hidden")
      .at_least(0);
  list.add("dropout", dropout, "of patches and in the layers").rate();
}

PatchPlaces::PatchPlaces(int64_t window, const SeriesPatchesOptions& options)
    : length(options.patch_length > 0
                 ? std::min(options.patch_length, window)
                 : std::clamp<int64_t>(window / kPatchesOfShortWindow, 1, kPatchLength)),
      stride(options.patch_stride > 0 ? options.patch_stride : length) {
  for (int64_t first = 0; first < window && first + length <= window + stride; first += stride) {
    std::vector<int64_t>& patch = steps.emplace_back();
    for (int64_t step = first; step < first + length; ++step)
      patch.push_back(std::min(step, window - 1));
  }
}

SeriesPatches::SeriesPatches(SeriesPatchesOptions options, SeriesShape shape)
    : SeriesModel(options.series, std::move(shape)),
      options_(std::move(options)),
      places_(this->shape().window, options_),
      index_(torch::tensor(flat_steps(places_))) {
  const int64_t D = options_.hidden, T = this->shape().horizon, P = places_.count();
  require(D % options_.heads == 0, ErrorKind::InvalidArgument, "model.hidden=", D,
          " is not divided by model.heads=", options_.heads);
  embed_ = register_projection(*this, "embed", {places_.length * row_inputs(), D});
  positions_ =
      register_module("positions", std::make_shared<Positions>(PositionOptions{"learned", D, P}));
  encoder_ = register_module(
      "encoder", std::make_shared<TransformerEncoder>(layer_options(options_), options_.layers));
  key_ = register_projection(*this, "key", {D, D, /*bias=*/false});
  query_ = register_parameter("query", torch::zeros({T, D}));
  output_ = register_parameter("output", torch::zeros({P, D, T * row_outputs()}));
  bias_ = register_parameter("output_bias", torch::zeros({T, row_outputs()}));
}

void SeriesPatches::initialise_network(const Random& random) {
  embed_->initialise(random.split("embed"));
  positions_->initialise(random.split("positions"));
  encoder_->initialise(random.split("encoder"));
  key_->initialise(random.split("key"));
  initialise_normal(query_, 0.02, random.split("query"));  // nearly equal weights at first
  initialise_like_pytorch(output_, places_.count() * options_.hidden, random.split("output"));
  bias_.zero_();
}

std::vector<LayerSummary> SeriesPatches::summary() const {
  const int64_t P = places_.count(), D = options_.hidden;
  std::vector<LayerSummary> layers = known_summary();
  layers.push_back(
      {concat("patches (", P, " of ", places_.length, " steps, ", describe_channels(), ")"),
       {P, D},
       count_parameters(*embed_) + count_parameters(*positions_)});
  layers.push_back({concat("encoder (", options_.layers, " layers, ", options_.heads, " heads)"),
                    {P, D},
                    count_parameters(*encoder_)});
  layers.push_back({"attention (output steps to patches)",
                    {shape().horizon, P},
                    count_parameters(*key_) + query_.numel()});
  layers.push_back({"output (linear)",
                    {shape().horizon, int64_t(shape().targets.size())},
                    output_.numel() + bias_.numel()});
  return layers;
}

Tensor SeriesPatches::forward(const Tensor& z, const Random* random, Tap* tap) const {
  const int64_t N = z.size(0), C = row_inputs(), P = places_.count(), D = options_.hidden;
  const int64_t T = shape().horizon, M = row_outputs();
  Tensor patches = z.index_select(2, index_.to(z.device()))
                       .view({N, C, P, places_.length})
                       .transpose(1, 2)
                       .reshape({N, P, C * places_.length});  // [N, P, C L]
  if (tap != nullptr) {  // by windows, as every tensor that a tap hands out
    const int64_t R = rows();
    patches = leaf_of(tap, "patches",
                      patches.view({N / R, R, P, -1}).transpose(1, 2).flatten(2))  // [B, P, R C L]
                  .view({N / R, P, R, -1})
                  .transpose(1, 2)
                  .reshape({N, P, -1});
  }
  const Tensor e = positions_->add(embed_->forward(patches), 0);  // [N, P, D]
  std::optional<Random> own;
  if (random) own = random->split("encoder");
  Tensor h = e + encoder_->forward(dropout(e, options_.dropout, random, "patches"), KeepMask::all(),
                                   {}, own, nullptr);

  const Tensor scores =
      at::matmul(query_ / std::sqrt(double(D)), key_->forward(h).transpose(1, 2));  // [N, T, P]
  Tensor weights = scores.softmax(-1);
  if (tap != nullptr) {
    AttentionMap map;
    map.name = "attention";
    map.query_axis = "target";
    map.key_axis = "patches";
    map.weights = weights.view({N / rows(), rows(), T, P});  // [B, R, T, P]
    weights = tap->report(std::move(map)).reshape({N, T, P});
  }
  h = dropout(h, options_.dropout, random, "output");
  const Tensor parts = at::bmm(h.transpose(0, 1), output_).view({P, N, T, M});  // [P, N, T, M]
  const Tensor shares = weights.permute({2, 0, 1}).unsqueeze(-1) * double(P);   // [P, N, T, 1]
  return (parts * shares).sum(0) + bias_;                                       // [N, T, M]
}

}  // namespace fovea
