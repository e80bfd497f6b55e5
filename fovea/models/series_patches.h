// A patch transformer, after PatchTST (Nie et al. 2023): patches of `patch_length` steps, one every
// `patch_stride`, are the tokens of a Transformer encoder,
//   e = W_p patch + position,   h = e + encoder(e)                                          [P, D]
// (the sum keeps how large a patch is, which norms take away) and where PatchTST maps all tokens to
// all outputs by one matrix W [P, D, T], each output step first weighs the patches:
//   a_t = softmax_p(q_t · W_k h_p / sqrt(D)),   y_t = P sum_p a_tp (W_pt · h_p) + b_t
// Equal weights give PatchTST's output. The map "attention" is a: from output steps to patches of
// the past, with one head for each target where channels are independent.
#pragma once

#include "fovea/models/series_model.h"
#include "fovea/nn/transformer/positions.h"
#include "fovea/nn/transformer/transformer_stack.h"

namespace fovea {

struct SeriesPatchesOptions {
  std::string name = "patches";
  SeriesModelOptions series;
  int64_t patch_length = 0;  // 0: 16, or an eighth of a short window
  int64_t patch_stride = 0;  // 0: as long, side by side
  int64_t hidden = 16;       // D
  int64_t layers = 2;
  int64_t heads = 4;
  int64_t feed_forward = 0;  // 0: 4 D
  double dropout = 0.3;
  void describe(OptionList& list);
};

/// Where the patches of a window stand. The last step is repeated once behind the window for a
/// whole stride, as PatchTST does, so that the end is in as many patches as the middle.
struct PatchPlaces {
  PatchPlaces(int64_t window, const SeriesPatchesOptions& options);
  int64_t count() const { return int64_t(steps.size()); }
  int64_t length = 0, stride = 0;
  std::vector<std::vector<int64_t>> steps;  // [P][length] places in the window
};

class SeriesPatches : public SeriesModel {
 public:
  SeriesPatches(SeriesPatchesOptions options, SeriesShape shape);
  const SeriesPatchesOptions& options() const { return options_; }
  const PatchPlaces& places() const { return places_; }
  std::vector<LayerSummary> summary() const override;

 protected:
  void initialise_network(const Random& random) override;
  at::Tensor forward(const at::Tensor& z, const Random* random, Tap* tap) const override;

 private:
  SeriesPatchesOptions options_;
  PatchPlaces places_;
  at::Tensor index_;  // [P length] steps of all patches; no parameter
  std::shared_ptr<Projection> embed_, key_;
  std::shared_ptr<Positions> positions_;
  std::shared_ptr<TransformerEncoder> encoder_;
  at::Tensor query_;          // [T, D]
  at::Tensor output_, bias_;  // [P, D, T M], [T, M]
};

}  // namespace fovea
