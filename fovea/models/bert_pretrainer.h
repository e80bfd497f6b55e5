// What BERT is pretrained on, Devlin et al. 2018, over nn/transformer/bert_encoder.h:
//   masked  a share of each row's pieces is chosen; of these 80 % become [MASK], 10 % any piece,
//           10 % stay, and the network has to say what stood there:
//           p(piece) = softmax(E norm(gelu(W h + b)) + c), E the encoder's own table
//   next    does the second segment follow the first (class 0), or was it drawn from elsewhere (1)?
//           p = softmax(V pooled + d)
//   loss    mean over the chosen pieces of -log p, plus mean over the rows of -log p
// What it answers with is the text's embedding: the mean of the last layer's real positions, of
// length 1.
#pragma once

#include <memory>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/models/model.h"
#include "fovea/nn/transformer/bert_encoder.h"

namespace fovea {

struct BertPretrainerOptions {
  std::string name = "bert";
  BertOptions encoder;
  double masked = 0.15;  // share of a row's pieces
  void describe(OptionList& list);
};

/// What tokeniser and data decide.
struct BertPretrainerShape {
  int64_t vocabulary = 0;
  int64_t mask = 0;              // number of [MASK]
  std::vector<int64_t> special;  // pieces that are never masked, [MASK] among them
  bool masked_words = true;      // the head that guesses masked pieces is there
  bool next_sentence = true;     // and the one that judges the second segment
};

/// A batch with some pieces hidden.
struct MaskedPieces {
  at::Tensor tokens;  // [B, N] as the network sees them
  at::Tensor places;  // [M] in the flat batch, row after row
  at::Tensor pieces;  // [M] what stood there
};

/// Chooses `share` of each row's pieces, rounded, at least one, never special ones or padding;
/// which they are and what becomes of them depends on `random` alone.
MaskedPieces mask_pieces(const Batch& batch, const BertPretrainerShape& shape, double share,
                         const Random& random);

/// How a batch fared, as sums.
struct PretrainingScore {
  double masked_nats = 0, next_nats = 0;
  int64_t masked = 0, masked_right = 0;  // chosen pieces
  int64_t rows = 0, next_right = 0;
  std::vector<std::vector<double>> right_of_rows;  // of each row: right and chosen pieces
  void add(const PretrainingScore& other);
};

/// What the head holds for likely at each [MASK] of a batch, row by row.
struct MaskGuesses {
  at::Tensor rows, places;       // int64 [M]
  at::Tensor log_probabilities;  // [M, V]
};

class BertPretrainer : public Model {
 public:
  BertPretrainer(BertPretrainerOptions options, BertPretrainerShape shape);
  const BertPretrainerShape& shape() const { return shape_; }

  void initialise(const Random& random) override;
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  ParameterRule rule_of(const std::string& name) const override;
  std::vector<HeadBlock> head_blocks() const override { return encoder_->head_blocks(); }
  Loss loss(const Batch& batch, const StepContext& context) override;
  /// values: the embeddings [B, D].
  Predictions predict(const Batch& batch) const override;
  /// The embeddings again [B, D]. Maps: "attention", one a layer, "tokens" looks at "tokens".
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

  /// Loss and hits with the masks that `random` draws, without dropout.
  PretrainingScore score(const Batch& batch, const Random& random) const;
  /// InvalidArgument without the head.
  MaskGuesses guess_masks(const Batch& batch) const;
  bool guesses_masks() const { return masked_ != nullptr; }

  const BertEncoder& encoder() const { return *encoder_; }

 private:
  class MaskedWordHead;
  at::Tensor hidden_of(const Batch& batch, const at::Tensor& tokens, const Random* random,
                       Tap* tap) const;                      // [B, N, D]
  at::Tensor embedding(const Batch& batch, Tap* tap) const;  // [B, D]
  /// hidden [B, N, D], places [M] -> [M, E], what the table is multiplied with
  at::Tensor piece_states(const at::Tensor& hidden, const at::Tensor& places) const;
  /// -> [M, V]
  at::Tensor piece_logits(const at::Tensor& hidden, const at::Tensor& places) const;
  at::Tensor next_logits(const at::Tensor& hidden) const;  // [B, 2]

  BertPretrainerOptions options_;
  BertPretrainerShape shape_;
  std::shared_ptr<BertEncoder> encoder_;
  std::shared_ptr<MaskedWordHead> masked_;
  std::shared_ptr<Projection> next_;
};

}  // namespace fovea
