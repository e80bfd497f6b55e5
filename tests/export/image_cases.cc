#include "fovea/base/text.h"
#include "fovea/models/image_baselines.h"
#include "fovea/models/recurrent_glimpses.h"
#include "fovea/models/vision_transformer.h"
#include "fovea/tensor/torch.h"
#include "tests/export/cases.h"

namespace fovea::testing {

namespace {

PictureInput odd_pictures(int64_t channels) {
  return {.classes = 4,
          .channels = channels,
          .height = 11,
          .width = 14,
          .grid_rows = 3,
          .grid_columns = 4};
}

at::Tensor pictures(int64_t rows, const PictureInput& input) {
  return Random(41)
      .uniform_tensor({rows, input.channels, input.height, input.width}, 0, 256, at::kFloat)
      .to(at::kByte);
}

/// Our own path along the means: no chance but the first place, or all of them.
Json glimpse_answers(const RecurrentGlimpses& model, int64_t rows) {
  torch::NoGradGuard no_gradients;
  const RecurrentGlimpsesOptions& options = model.options();
  const at::Tensor image = pictures(rows, model.input());
  at::Tensor chance = Random(42).uniform_tensor({rows, 1, options.glimpses, 2}, -1, 1, at::kFloat);
  if (options.chooses()) chance.narrow(2, 1, options.glimpses - 1).zero_();
  const auto episodes = model.play(image, chance, /*sigma=*/1);
  const at::Tensor given = chance.squeeze(1);  // [B, T, 2]
  Json inputs{{"image", tensor_json(image.to(at::kFloat))}};
  if (options.chooses())
    inputs["first"] = tensor_json(given.select(1, 0).contiguous());
  else
    inputs["places"] = tensor_json(given);
  return {{"inputs", inputs},
          {"outputs",
           {{"probabilities", tensor_json(episodes.scores.select(2, -1).squeeze(1).contiguous())},
            {"glimpses", tensor_json(episodes.draws.squeeze(1).clamp(-1, 1).contiguous())}}}};
}

ExportCase glimpse_case(const std::string& name, const std::string& places,
                        const std::string& means, int64_t scales) {
  RecurrentGlimpsesOptions options;
  options.glimpses = 3;
  options.patch = 4;
  options.scales = scales;
  options.glimpse_hidden = 5;
  options.hidden = 6;
  options.places = places;
  options.means = means;
  const auto model = std::make_shared<RecurrentGlimpses>(options, odd_pictures(scales > 1 ? 3 : 1));
  randomise(*model, 13);
  return {"glimpse-" + name,
          [model](const ExportOptions& chosen) { return export_model(*model, chosen); },
          [model](int64_t rows, int64_t) { return glimpse_answers(*model, rows); }};
}

ExportCase whole_case(const std::string& name) {
  ImageBaselineOptions options;
  options.name = name;
  options.hidden = 6;
  options.filters = 3;
  const auto model = std::make_shared<ImageBaseline>(options, odd_pictures(3));
  randomise(*model, 14);
  const auto answers = [model](int64_t rows, int64_t) -> Json {
    const at::Tensor image = pictures(rows, model->input());
    return {{"inputs", {{"image", tensor_json(image.to(at::kFloat))}}},
            {"outputs",
             {{"probabilities", tensor_json(model->predict({{{"image", image}}, rows}).scores)}}}};
  };
  return {"glimpse-" + name,
          [model](const ExportOptions& chosen) { return export_model(*model, chosen); }, answers};
}

/// Patches of 4 and of 5: pictures of 11 x 14 are stretched to both.
ExportCase patched_case(const std::string& name, int64_t patch, int64_t convolutions, bool pruned) {
  VisionTransformerOptions options;
  options.patch = patch;
  options.convolutions = convolutions;
  options.layers = 2;
  options.hidden = 8;
  options.heads = 2;
  options.mean = "0.4,0.5,0.6";
  options.deviation = "0.2";
  PictureInput input = odd_pictures(3);
  const PatchGrid grid = patch_grid(options, input.height, input.width);
  input.grid_rows = grid.rows, input.grid_columns = grid.columns;
  const auto model = std::make_shared<VisionTransformer>(options, input);
  randomise(*model, 15);
  if (pruned) prune_heads(*model);
  const auto answers = [model](int64_t rows, int64_t) -> Json {
    torch::NoGradGuard no_gradients;
    const Batch batch{{{"image", pictures(rows, model->input())}}, rows};
    const Predictions predictions = model->predict(batch);
    Json outputs{{"probabilities", tensor_json(predictions.scores)}};
    Tap tap;
    model->replay(batch, predictions, &tap);
    for (const AttentionMap& map : tap.maps())
      outputs[concat(map.name, "_", map.layer)] = tensor_json(map.weights);
    return {{"inputs", {{"image", tensor_json(batch.at("image").to(at::kFloat))}}},
            {"outputs", outputs}};
  };
  return {"vit-" + name,
          [model](const ExportOptions& chosen) { return export_model(*model, chosen); }, answers};
}

}  // namespace

std::vector<ExportCase> image_cases() {
  return {glimpse_case("linear", "learned", "linear", 1),
          glimpse_case("tanh", "learned", "tanh", 3),
          glimpse_case("random", "random", "linear", 2),
          whole_case("plain"),
          whole_case("cnn"),
          patched_case("linear", 5, 0, false),
          patched_case("convolutions", 4, 2, false),
          patched_case("pruned", 4, 1, true)};
}

}  // namespace fovea::testing
