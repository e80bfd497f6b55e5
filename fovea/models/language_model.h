// A decoder-only Transformer that predicts the next token, in the layouts of GPT-2 (Radford et al.
// 2019) and of Llama (Touvron et al. 2023), which Mistral and Qwen2 share:
//   x       E[token], in GPT-2 with a learned position
//   h       pre-norm layers of nn/transformer/transformer_layer.h, each position sees those before
//   it
//           gpt2   layer norm, gelu (tanh form), biases everywhere, or of norms alone
//           llama  RMS norm, rotary positions, gated feed-forward network with silu, no biases
//   p       softmax(W norm(h)), W the embedding where tied
//   loss    mean over the real positions but the first of -log p(token)
// Generating keeps keys and values of what is there, so a step costs the work of one position.
#pragma once

#include <torch/nn/modules/embedding.h>

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fovea/decoding/search.h"
#include "fovea/models/model.h"
#include "fovea/models/weight_names.h"
#include "fovea/nn/ops/cross_entropy.h"
#include "fovea/nn/transformer/positions.h"
#include "fovea/nn/transformer/transformer_stack.h"

namespace fovea {

struct LanguageModelOptions {
  std::string name = "gpt2";
  int64_t layers = 4, hidden = 128, heads = 4;
  int64_t key_heads = 0;     // 0: as many as heads
  int64_t head_size = 0;     // 0: hidden / heads
  int64_t feed_forward = 0;  // 0: 4 x hidden; llama: two thirds of that
  int64_t maximum_length = 256;
  int64_t window = 0;         // a position sees itself and so many before it, less one; 0: all
  std::string activation;     // empty: the layout's
  bool bias = true;           // gpt2: of projections
  bool query_bias = false;    // llama: of queries, keys and values, as Qwen2 has it
  bool output_bias = false;   // llama: of what attention hands on
  bool forward_bias = false;  // llama: of the feed-forward network
  RotaryOptions rotary;       // llama
  double epsilon = 0;         // of the norms; 0: the layout's
  bool tie_embeddings = true;
  double dropout = 0.1;
  double attention_dropout = 0.1;
  std::string pruned_heads;  // attention/pruned_heads.h; the map is "attention"
  // Low-rank adapters (attention/low_rank.h): only they learn, beside weights from elsewhere.
  int64_t lora_rank = 0;  // 0: none
  double lora_alpha = 8, lora_dropout = 0;
  std::vector<std::string> lora_targets;  // layers as Hugging Face names them; empty: PEFT's choice
  void describe(OptionList& list);
  /// With everything filled in that the layout decides.
  LanguageModelOptions whole() const;
};

/// What the tokeniser decides.
struct LanguageShape {
  int64_t vocabulary = 0;
  int64_t end = -1;                     // the token after which nothing comes; -1: there is none
  std::vector<int64_t> forbidden = {};  // tokens that are never written
  /// Whether a text ends with these tokens, which were written last; may be empty.
  std::function<bool(std::span<const int64_t> written)> ends = {};
};

/// A token as it was chosen.
struct WrittenToken {
  int64_t token = 0;
  double log_probability = 0;
  /// Where it was asked for, of each layer [H, K]: how much the place before looked at the last K
  /// tokens, itself included.
  std::vector<at::Tensor> attention;
};

/// A text to continue.
struct Continuation {
  at::Tensor prompt;  // int64 [P]
  SearchOptions search;
  int64_t number = 0;      // what random numbers are made from, besides the seed
  bool slides = false;     // beyond the positions of the network only the last tokens are seen
  bool attention = false;  // wanted with each token
  std::function<bool(std::span<const int64_t>)> ends = {};  // besides LanguageShape::ends
  std::function<void(const WrittenToken&)> written = {};    // told each token of greedy and sample
};

/// Sums of -log p and the numbers of tokens, of a batch and of each row.
struct TextLikelihood {
  double nats = 0;
  int64_t tokens = 0;
  at::Tensor row_nats, row_tokens;  // double [B], int64 [B]
};

class LanguageModel : public Model {
 public:
  LanguageModel(LanguageModelOptions options, SearchOptions search, LanguageShape shape);
  const LanguageModelOptions& options() const { return options_; }
  const LanguageShape& shape() const { return shape_; }

  /// Takes these tensors for its own, without a copy and in their own type: they are neither drawn
  /// nor trained nor saved. BadData, which begins with `where`, unless they are all parameters but
  /// those of adapters, with fitting shapes.
  void adopt(const WeightMap& weights, const std::string& where);
  /// W + (alpha / r) B A where there are adapters, else W, by the name of W.
  at::Tensor merged_weight(const std::string& name) const;

  /// N(0, 0.02) for matrices and tables, less for what is added to the residual, as GPT-2 has it.
  void initialise(const Random& random) override;
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  ParameterRule rule_of(const std::string& name) const override;
  bool saves(const std::string& name) const override { return adopted_.count(name) == 0; }
  std::vector<HeadBlock> head_blocks() const override { return decoder_->head_blocks(kMap, ""); }
  Loss loss(const Batch& batch, const StepContext& context) override;
  /// What comes after each row's tokens, as `decoding` says, within the network's positions.
  Predictions predict(const Batch& batch) const override;
  /// The continuations of one prompt, best first. BadData for a prompt that is empty or leaves no
  /// room.
  std::vector<Decoded> generate(const Continuation& continuation) const;
  /// Log-probability of each generated token: [B, U]. Maps: "attention", one a layer, from all
  /// tokens but the last to all tokens but the last.
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

  /// tokens int64 [B, N] -> the last layer's states, normalised [B, N, D]. Of tokens that are
  /// `erased`, bool [B, n], nothing is known but that they are there: they are the mean of all.
  at::Tensor states(const at::Tensor& tokens, const Random* random, Tap* tap,
                    const at::Tensor& erased = {}) const;
  /// The states of tokens [B, N] that follow `seen` others, whose keys and values the memories
  /// hold; they grow by these. One memory a layer, empty ones at first.
  at::Tensor go_on(const at::Tensor& tokens, int64_t seen,
                   std::vector<TransformerMemory>& memories) const;
  /// [..., D] -> [..., V]
  at::Tensor logits(const at::Tensor& states) const;
  /// Over the real positions but the first of each row.
  TextLikelihood negative_log_likelihood(const Batch& batch) const;

  static constexpr const char* kMap = "attention";

 private:
  /// [B, N] -> [B, N, D]
  at::Tensor embed(const at::Tensor& tokens, int64_t first, const at::Tensor& erased = {}) const;
  OutputLayer output_layer() const;
  void add_adapters();

  LanguageModelOptions options_;
  SearchOptions search_;
  LanguageShape shape_;
  torch::nn::Embedding tokens_;
  std::shared_ptr<Positions> positions_;  // gpt2
  std::shared_ptr<TransformerDecoder> decoder_;
  at::Tensor output_weight_;  // [V, D], unless tied
  std::set<std::string> adopted_;
};

}  // namespace fovea
