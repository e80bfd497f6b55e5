// The recurrent model of glimpses once more, with the places known and its maps reported.
#include "fovea/attention/attend.h"
#include "fovea/base/error.h"
#include "fovea/models/recurrent_glimpses.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

/// Each step sees the pictures with their cells as strong as `strength` [B, M, T, cells] says.
Tensor RecurrentGlimpses::see_weighted(const Tensor& pictures, const Tensor& places,
                                       const Tensor& strength) const {
  const int64_t rows = places.size(0), samples = places.size(1);
  const Tensor cells = torch::tensor(input_.cell_of_pixels(), torch::kLong).to(places.device());
  std::vector<Tensor> steps;  // T of [B, M, P]
  for (int64_t t = 0; t < places.size(2); ++t) {
    const Tensor masks = strength.select(2, t).index_select(-1, cells).view(
        {rows, samples, 1, input_.height, input_.width});
    const Scene scene = sensor_.prepare((pictures.unsqueeze(1) * masks).flatten(0, 1));
    const Tensor seen = sensor_.see(scene, places.select(2, t).reshape({-1, 1, kPlaceNumbers}));
    steps.push_back(seen.view({rows, samples, -1}));
  }
  return torch::stack(steps, 2);
}

RecurrentGlimpses::Seen RecurrentGlimpses::see_with(const Tensor& pictures, const Tensor& places,
                                                    Tap& tap) const {
  std::vector<Tensor> numbers{(places + 1) / 2};
  for (int64_t scale = 0; scale < options_.scales; ++scale)
    numbers.push_back(torch::full_like(places.narrow(-1, 0, 1),
                                       double(sensor_.side(scale)) / double(input_.width)));
  AttentionMap points = labelled_map({"glimpses", "glimpses", "picture"}, torch::cat(numbers, -1),
                                     MapKind::Free);  // [B, M, T, 2 + scales]
  points.layout = MapLayout::Points;
  const Tensor shown = points.weights, used = tap.report(std::move(points));
  Seen seen;
  seen.places = used.is_same(shown) ? places : as_places(used.narrow(-1, 0, kPlaceNumbers) * 2 - 1);

  const Tensor own = sensor_
                         .coverage(seen.places, {input_.height, input_.width, input_.grid_rows,
                                                 input_.grid_columns})
                         .to(number_type());  // [B, M, T, cells]
  const Tensor wanted = tap.report(labelled_map({"looks", "glimpses", "cells"}, own));
  if (wanted.is_same(own)) {
    seen.numbers = sensor_.see(sensor_.prepare(pictures), seen.places.flatten(1, 2))
                       .view({places.size(0), places.size(1), places.size(2), -1});
  } else {
    const Tensor strength = torch::where(own > 0, wanted / own, torch::zeros_like(own));
    seen.numbers = see_weighted(pictures, seen.places, strength);
  }
  return seen;
}

Tensor RecurrentGlimpses::replay(const Batch& batch, const Predictions& predictions,
                                 Tap* tap) const {
  Tap unheard;
  Tap& heard = tap ? *tap : unheard;
  const Tensor pictures = input_.numbers(batch.at("image"), number_type(), tap);
  const Tensor places = predictions.actions.to(pictures.device(), number_type());  // [B, M, T, 2]
  require(places.dim() == 4 && places.size(0) == batch.size &&
              places.size(2) == options_.glimpses && places.size(3) == kPlaceNumbers,
          ErrorKind::InvalidArgument, "places of shape ", places.sizes(), " for ", batch.size,
          " pictures with ", options_.glimpses, " glimpses each");
  const Seen seen = see_with(pictures, places, heard);
  const Tensor last = states_along(time_first(seen.numbers), time_first(seen.places))[-1];
  const Tensor scores =
      classify_->forward(last).softmax(1).view({batch.size, places.size(1), -1}).mean(1);  // [B, C]
  const Tensor best = predictions.scores.argmax(1, /*keepdim=*/true).to(scores.device());  // [B, 1]
  return scores.gather(1, best).log();
}

}  // namespace fovea
