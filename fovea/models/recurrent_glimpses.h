// The recurrent model of visual attention, RAM (Mnih et al. 2014): a network that never sees a
// picture whole. It takes one small glimpse after another and decides itself where.
//   rho_t   what the sensor sees of the picture at place l_t (nn/vision/glimpse_sensor.h)
//   g_t     ReLU(W [ReLU(W rho_t), ReLU(W l_t)])               what and where
//   h_t     ReLU(W h_{t-1} + W g_t),  h_0 = 0
//   a_{t+1} ~ N(W h_t, sigma^2 I),  l_{t+1} = a_{t+1} cut to [-1, 1];  l_1 uniform
//   p       softmax(W h_T)
// The loss is a hybrid. The class after the last glimpse is learned by cross-entropy, through all
// of the network but the choice of places, which has no gradient. That choice is learned from the
// reward R = [the likeliest class is right] by REINFORCE (Williams 1992), against what a baseline
// b_t = W h_t expects:
//   - log p(class)  -  sum_t log N(a_{t+1}; W h_t, sigma^2 I) (R - b_t)  +  mean_t (R - b_t)^2
// h_t is held fixed in the last two terms. An episode is one pass over a picture; a training step
// plays `samples` of them for each picture and an answer is the mean of `evaluation_samples`, whose
// draws depend on nothing but the pixels: the same picture has the same answer in any batch.
// model.places=random is the control: all places uniform, nothing chosen.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "fovea/attention/projection.h"
#include "fovea/base/options.h"
#include "fovea/models/picture_input.h"
#include "fovea/models/recurrent_glimpses_pass.h"
#include "fovea/nn/vision/glimpse_sensor.h"

namespace fovea {

struct RecurrentGlimpsesOptions {
  std::string name = "ram";
  int64_t glimpses = 6;
  int64_t patch = 8;
  int64_t scales = 1;
  int64_t glimpse_hidden = 128;
  int64_t hidden = 256;
  std::string places = "learned";
  std::string means = "linear";
  double sigma = 0.15;
  double last_sigma = 0.15;
  int64_t sigma_steps = 0;
  int64_t samples = 1;
  int64_t evaluation_samples = 10;
  void describe(OptionList& list);

  bool chooses() const { return places == "learned" && glimpses > 1; }
  /// The deviation of the draws after so many optimiser steps, and in answers.
  double sigma_at(int64_t step) const;
  double answering_sigma() const { return sigma_steps > 0 ? last_sigma : sigma; }
};

class RecurrentGlimpses : public Model {
 public:
  RecurrentGlimpses(RecurrentGlimpsesOptions options, PictureInput input);
  const RecurrentGlimpsesOptions& options() const { return options_; }
  const PictureInput& input() const { return input_; }

  void initialise(const Random& random) override;
  Schema schema() const override { return input_.schema(); }
  std::vector<LayerSummary> summary() const override;
  ParameterRule rule_of(const std::string& name) const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  /// actions: the places [B, M, T, 2]. outputs: after the last glimpse, the one before it, … the
  /// likeliest class, and the log-probability of the class that was answered in the end.
  Predictions predict(const Batch& batch) const override;
  /// Log-probability of the likeliest class, given the places: [B, 1]. Maps, a head for each
  /// sample: "glimpses" [B, M, T, 2 + scales], points; "looks" [B, M, T, cells], how much of each
  /// glimpse comes from which cell. Other looks weaken or strengthen what a glimpse gets from a
  /// cell.
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

  /// Episodes over the pictures of a batch.
  struct Episodes {
    at::Tensor draws;   // a_t [B, M, T, 2], before they are cut; the first is l_1
    at::Tensor scores;  // class probabilities after each glimpse [B, M, T, C]
  };
  /// Those that predict() averages.
  Episodes play(const Batch& batch) const;
  /// Those that follow from chance [B, M, T, 2]: first places and normal numbers, or all places
  /// where none is chosen.
  Episodes play(const at::Tensor& image, const at::Tensor& chance, double sigma) const;
  /// The loss of given episodes, draws [B, M, T, 2], by readable operations alone.
  Loss loss_along(const Batch& batch, const at::Tensor& draws, double sigma) const;

 private:
  /// Uniform first places and normal numbers [B, M, T, 2]: of a step, or of the pixels.
  at::Tensor chance_of_step(const Batch& batch, const Random& random) const;
  at::Tensor chance_of_pixels(const at::Tensor& image) const;
  /// Goes through the episodes that follow from chance. `keeps_all`: for a gradient.
  struct Played {
    GlimpsePass pass;
    at::Tensor draws;  // [B, M, T, 2]
  };
  using EachState = std::function<void(const at::Tensor& state)>;
  Played go_through(const at::Tensor& image, const at::Tensor& chance, double sigma, bool keeps_all,
                    const EachState& each) const;
  /// Of the class after the last state, [N, D], and the places that the earlier ones chose,
  /// [T - 1, N, D].
  Loss hybrid_loss(const Batch& batch, const at::Tensor& draws, double sigma,
                   const at::Tensor& last, const at::Tensor& earlier) const;
  at::Tensor glimpse(const at::Tensor& seen, const at::Tensor& places) const;  // [..., D]
  at::Tensor means_of(const at::Tensor& states) const;                         // [..., 2]
  /// All states, given what was seen [T, N, P] and where [T, N, 2]: [T, N, D].
  at::Tensor states_along(const at::Tensor& seen, const at::Tensor& places) const;
  struct Seen {
    at::Tensor numbers, places;  // [B, M, T, P], [B, M, T, 2]
  };
  /// Glimpses at these places, or where and how the tap wants them.
  Seen see_with(const at::Tensor& pictures, const at::Tensor& places, Tap& tap) const;
  at::Tensor see_weighted(const at::Tensor& pictures, const at::Tensor& places,
                          const at::Tensor& strength) const;
  at::ScalarType number_type() const { return classify_->weight.scalar_type(); }

  RecurrentGlimpsesOptions options_;
  PictureInput input_;
  GlimpseSensor sensor_;
  std::shared_ptr<Projection> what_, where_, combine_;   // rho and l to g
  std::shared_ptr<Projection> core_input_, core_state_;  // g and h to h
  std::shared_ptr<Projection> locate_, baseline_;        // where places are chosen
  std::shared_ptr<Projection> classify_;
};

}  // namespace fovea
