// D-Attn: dual local and global attention over reviews (Seo et al. 2017). All reviews of the user
// are one document, those of the item another. Two towers of their own weights read them,
//   x_i         embedding of word i
//   local       a_i = sig(W_l . [x_{i-2} … x_{i+2}] + b_l)         a window of 5 words
//               l = max over i of tanh(F_1 (a_i x_i) + c_1)        200 filters of width 1
//   global      g_i, one of the three below
//               h_n = max over i of tanh(F_n * (g x)_i + c_n)      100 filters of each width 2, 3,
//               4
//   document    [l; h_2; h_3; h_4] -> 500, ReLU, dropout -> 50 = gamma
// and the rating is gamma_user . gamma_item, on top of the biases (rating_model.h), which the paper
// does not have; model.biases=no is the paper's.
//
// The global attention of a document of at most T words, `global_attention`:
//   matched     g_i = sig(x_i . (W_g d) + b_g), d the mean of the x_i: ours
//   filter      g_i = sig(W_g . [x_{i-T/2} … x_{i+(T-1)/2}] + b_g): the paper's, the formula of the
//               local one with a filter as long as the document; a score for each word
//   scale       g_i = sig(W_g . [x_1 … x_T] + b_g) for all i: the same filter at one place, as the
//               code that others published has it. One number, which scales all words alike and
//               explains nothing
// The two layers behind the towers are shared, as in the published code, and so are the embeddings.
// Windows that reach over the end see zeros there. docs/papers.md says what still differs.
#pragma once

#include <torch/nn/modules/embedding.h>

#include <memory>
#include <vector>

#include "fovea/attention/projection.h"
#include "fovea/models/rating_model.h"

namespace fovea {

struct DualAttentionOptions : ReadingOptions {
  std::string name = "dattn";
  int64_t embedding = 100;
  int64_t window = 5;
  int64_t local_filters = 200;
  int64_t global_filters = 100;  // of each width
  std::vector<int64_t> widths = {2, 3, 4};
  std::string global_attention = "matched";
  int64_t hidden = 500;
  int64_t factors = 50;
  double dropout = 0.5;
  void describe(OptionList& list);
};

/// One document to one vector.
class DocumentTower : public torch::nn::Module {
 public:
  /// `side` is "user" or "item": names of maps and axes begin with it. `longest_document` is T.
  DocumentTower(const DualAttentionOptions& options, std::string side, int64_t longest_document);
  void initialise(const Random& random);
  /// -> [B, outputs()]
  at::Tensor forward(const SideWords& words, Tap* tap) const;
  int64_t outputs() const;

 private:
  at::Tensor local_weights(const SideWords& words) const;   // [B, K]
  at::Tensor global_weights(const SideWords& words) const;  // [B, K]
  /// The words times what the tap makes of their weights: [B, E, K].
  at::Tensor gated(const SideWords& words, const at::Tensor& weights, const char* name,
                   Tap* tap) const;

  /// Filters over neighbouring words.
  struct Filters {
    at::Tensor weight;  // [F, E, width]
    at::Tensor bias;    // [F]
  };
  Filters make_filters(const std::string& name, int64_t count, int64_t width);
  /// sig of one filter over the words around each word: [B, K].
  static at::Tensor gates(const Filters& filter, const SideWords& words);
  static at::Tensor strongest(const Filters& filters, const at::Tensor& x, const SideWords& words);

  std::string side_;
  int64_t embedding_;
  std::string global_attention_;
  Filters window_;               // one filter
  at::Tensor match_;             // [E, E]; matched
  at::Tensor match_bias_;        // [1]; matched
  Filters document_;             // one filter of T words; filter and scale
  Filters local_;                // of width 1
  std::vector<Filters> global_;  // one of each width
};

class DualAttention : public RatingModel {
 public:
  /// `longest_document` is the most words that a side of a batch has.
  DualAttention(DualAttentionOptions options, const RatingShape& shape, int64_t longest_document);
  const DualAttentionOptions& options() const { return options_; }

  void initialise(const Random& random) override;
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;

 protected:
  /// Maps of gates over the words of each side: "user local", "user global", "item local",
  /// "item global".
  std::optional<OwnTerm> own_term(const Batch& batch, const Random* random,
                                  Tap* tap) const override;

 private:
  DualAttentionOptions options_;
  torch::nn::Embedding words_{nullptr};
  std::shared_ptr<DocumentTower> user_, item_;
  std::shared_ptr<Projection> hidden_, output_;
};

}  // namespace fovea
