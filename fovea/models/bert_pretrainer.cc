#include "fovea/models/bert_pretrainer.h"

#include "fovea/base/error.h"
#include "fovea/nn/ops/cross_entropy.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kDeviation = 0.02;
constexpr double kBecomesMask = 0.8, kBecomesOther = 0.1;

void draw(Projection& projection, const Random& random) {
  projection.weight.copy_(
      random.normal_tensor(projection.weight.sizes(), 0, kDeviation, at::kFloat));
  projection.bias.zero_();
}

}  // namespace

/// norm(gelu(W h + b)) against the encoder's table, plus a bias for each piece.
class BertPretrainer::MaskedWordHead : public torch::nn::Module {
 public:
  MaskedWordHead(const BertOptions& o, int64_t vocabulary)
      : dense_(register_projection(*this, "dense", {o.hidden, o.embedding})),
        norm_(register_module("norm", std::make_shared<LayerNorm>(o.embedding, o.epsilon))),
        bias_(register_parameter("bias", at::zeros({vocabulary}))) {}

  void initialise(const Random& random) {
    draw(*dense_, random.split("dense"));
    norm_->weight.fill_(1);
    norm_->bias.zero_();
    bias_.zero_();
  }

  /// h [M, D] -> [M, E]
  Tensor forward(const Tensor& h) const { return norm_->forward(torch::gelu(dense_->forward(h))); }
  OutputLayer output(const Tensor& table) const { return {table, bias_}; }  // table [V, E]

 private:
  std::shared_ptr<Projection> dense_;
  std::shared_ptr<LayerNorm> norm_;
  Tensor bias_;  // [V]
};

void BertPretrainerOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"bert"});
  encoder.describe(list);
  list.add("masked", masked, "share of a row's pieces that have to be guessed").above(0).below(1);
}

MaskedPieces mask_pieces(const Batch& batch, const BertPretrainerShape& shape, double share,
                         const Random& random) {
  const Tensor& tokens = batch.at("tokens");  // [B, N]
  const auto on_device = tokens.options();
  const Tensor special = at::tensor(shape.special, on_device);
  const Tensor may = batch.at("tokens.keep") & ~at::isin(tokens, special);  // [B, N]
  // The pieces of a row in random order; the first ones are chosen, at least one.
  const Tensor drawn = random.split("chosen")
                           .uniform_tensor(tokens.sizes(), 0, 1, at::kDouble)
                           .to(tokens.device())
                           .masked_fill(~may, 2);
  const Tensor place = drawn.argsort(/*stable=*/true, -1).argsort(/*stable=*/true, -1);
  const Tensor wanted = (may.sum(-1, true).to(at::kDouble) * share).round().clamp_min(1);  // [B, 1]
  const Tensor chosen = may & (place < wanted);
  MaskedPieces masked;
  masked.places = chosen.flatten().nonzero().squeeze(1);            // [M]
  masked.pieces = tokens.flatten().index_select(0, masked.places);  // [M]
  const int64_t count = masked.places.numel();
  const Tensor how =
      random.split("how").uniform_tensor({count}, 0, 1, at::kDouble).to(tokens.device());
  const Tensor other = random.split("other")
                           .uniform_tensor({count}, 0, double(shape.vocabulary), at::kDouble)
                           .floor()
                           .clamp_max(shape.vocabulary - 1)
                           .to(on_device);
  const Tensor kept = at::where(how < kBecomesMask + kBecomesOther, other, masked.pieces);
  const Tensor seen = at::where(how < kBecomesMask, at::full({}, shape.mask, on_device), kept);
  masked.tokens =
      tokens.flatten().index_copy(0, masked.places, seen).view(tokens.sizes());  // [B, N]
  return masked;
}

void PretrainingScore::add(const PretrainingScore& other) {
  masked_nats += other.masked_nats, next_nats += other.next_nats;
  masked += other.masked, masked_right += other.masked_right;
  rows += other.rows, next_right += other.next_right;
  right_of_rows.insert(right_of_rows.end(), other.right_of_rows.begin(), other.right_of_rows.end());
}

BertPretrainer::BertPretrainer(BertPretrainerOptions options, BertPretrainerShape shape)
    : options_(std::move(options)), shape_(std::move(shape)) {
  encoder_ = register_module("encoder",
                             std::make_shared<BertEncoder>(options_.encoder, shape_.vocabulary));
  const BertOptions& o = encoder_->options();
  if (shape_.masked_words)
    masked_ = register_module("masked", std::make_shared<MaskedWordHead>(o, shape_.vocabulary));
  if (shape_.next_sentence) next_ = register_projection(*this, "next", {o.hidden, 2});
}

void BertPretrainer::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  encoder_->initialise(random.split("encoder"));
  if (masked_) masked_->initialise(random.split("masked"));
  if (next_) draw(*next_, random.split("next"));
}

Schema BertPretrainer::schema() const {
  return {{"tokens", at::kLong, {-1, -1}},
          {"tokens.keep", at::kBool, {-1, -1}},
          {"segments", at::kLong, {-1, -1}}};
}

std::vector<LayerSummary> BertPretrainer::summary() const {
  const BertOptions& o = encoder_->options();
  const int64_t positions = o.maximum_length + o.first_position;
  const int64_t embeddings =
      (shape_.vocabulary + positions + o.segments + /*norm*/ 2) * o.embedding;
  const int64_t pooler = o.hidden * (o.hidden + 1);
  std::vector<LayerSummary> layers{
      {concat("embedding (", shape_.vocabulary, " pieces, ", o.maximum_length, " positions)"),
       {o.hidden},
       embeddings},
      {concat("encoder (", o.layers, " layers, ", o.heads, " heads)"),
       {o.hidden},
       count_parameters(*encoder_) - embeddings - pooler},
      {"pooler (first position)", {o.hidden}, pooler}};
  if (masked_)
    layers.push_back(
        {"masked words (softmax, tied)", {shape_.vocabulary}, count_parameters(*masked_)});
  if (next_) layers.push_back({"next sentence (softmax)", {2}, count_parameters(*next_)});
  return layers;
}

ParameterRule BertPretrainer::rule_of(const std::string& name) const {
  const bool decays = !name.ends_with("bias") && name.find("norm") == std::string::npos;
  return {1, decays};
}

Tensor BertPretrainer::hidden_of(const Batch& batch, const Tensor& tokens, const Random* random,
                                 Tap* tap) const {
  return encoder_->forward({tokens, batch.at("segments"), batch.at("tokens.keep")}, random, tap);
}

Tensor BertPretrainer::piece_states(const Tensor& hidden, const Tensor& places) const {
  return masked_->forward(hidden.flatten(0, 1).index_select(0, places));
}

Tensor BertPretrainer::piece_logits(const Tensor& hidden, const Tensor& places) const {
  const OutputLayer output = masked_->output(encoder_->token_table());
  return torch::linear(piece_states(hidden, places), output.weight, output.bias);
}

Tensor BertPretrainer::next_logits(const Tensor& hidden) const {
  return next_->forward(encoder_->pooled(hidden));
}

Loss BertPretrainer::loss(const Batch& batch, const StepContext& context) {
  require(masked_ != nullptr, ErrorKind::InvalidArgument,
          "this network has no head for masked words: it can answer, not learn");
  const BertOptions& o = encoder_->options();
  const bool draws = o.dropout > 0 || o.attention_dropout > 0;
  const MaskedPieces masked =
      mask_pieces(batch, shape_, options_.masked, context.random.split("masks"));
  const Tensor hidden = hidden_of(batch, masked.tokens, draws ? &context.random : nullptr, nullptr);
  const int64_t count = masked.places.numel();
  Loss loss;
  loss.units = at::full({}, std::max<int64_t>(count, 1), hidden.options());
  loss.objective = count > 0 ? cross_entropy(piece_states(hidden, masked.places),
                                             masked_->output(encoder_->token_table()),
                                             masked.pieces, CrossEntropyOptions{})
                             : hidden.sum() * 0;
  loss.scalars["masked_loss"] = loss.objective.detach();
  if (next_) {
    const Tensor next = torch::cross_entropy_loss(next_logits(hidden), batch.at("next"));
    loss.scalars["next_loss"] = next.detach();
    loss.objective = loss.objective + next;
  }
  return loss;
}

PretrainingScore BertPretrainer::score(const Batch& batch, const Random& random) const {
  torch::NoGradGuard no_gradients;
  PretrainingScore score;
  const MaskedPieces masked = mask_pieces(batch, shape_, options_.masked, random);
  const Tensor hidden = hidden_of(batch, masked.tokens, nullptr, nullptr);
  const auto sum = [](const Tensor& logits, const Tensor& target) {
    return -logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).sum().item<double>();
  };
  const auto hits = [](const Tensor& logits, const Tensor& target) {
    return logits.argmax(-1) == target;
  };
  score.masked = masked.places.numel();
  if (masked_ && score.masked > 0) {
    const Tensor logits = piece_logits(hidden, masked.places);  // [M, V]
    score.masked_nats = sum(logits, masked.pieces);
    const Tensor right = hits(logits, masked.pieces).to(at::kDouble).cpu();  // [M]
    score.masked_right = right.sum().to(at::kLong).item<int64_t>();
    const Tensor row = masked.places.div(batch.at("tokens").size(1), "floor").cpu();  // [M]
    score.right_of_rows.assign(size_t(batch.size), {0, 0});
    for (int64_t m = 0; m < score.masked; ++m) {
      std::vector<double>& own = score.right_of_rows[size_t(row[m].item<int64_t>())];
      own[0] += right[m].item<double>(), own[1] += 1;
    }
  }
  score.rows = batch.size;
  if (next_ && batch.has("next")) {
    const Tensor logits = next_logits(hidden);  // [B, 2]
    score.next_nats = sum(logits, batch.at("next"));
    score.next_right = hits(logits, batch.at("next")).sum().item<int64_t>();
  }
  return score;
}

Tensor BertPretrainer::embedding(const Batch& batch, Tap* tap) const {
  const Tensor hidden = hidden_of(batch, batch.at("tokens"), nullptr, tap);  // [B, N, D]
  const Tensor mean = mean_of_real(hidden, batch.at("tokens.keep"));         // [B, D]
  return mean / mean.norm(2, -1, true).clamp_min(1e-12);
}

Predictions BertPretrainer::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  Predictions predictions;
  predictions.values = embedding(batch, nullptr);
  return predictions;
}

Tensor BertPretrainer::replay(const Batch& batch, const Predictions&, Tap* tap) const {
  return embedding(batch, tap);
}

MaskGuesses BertPretrainer::guess_masks(const Batch& batch) const {
  require(guesses_masks(), ErrorKind::InvalidArgument,
          "this network has no head for masked words; pretrain one, or read a folder that has it");
  torch::NoGradGuard no_gradients;
  const Tensor& tokens = batch.at("tokens");                                     // [B, N]
  const Tensor places = (tokens == shape_.mask).flatten().nonzero().squeeze(1);  // [M]
  const Tensor hidden = hidden_of(batch, tokens, nullptr, nullptr);
  const int64_t width = tokens.size(1);
  return {places.div(width, "floor"), places.remainder(width),
          piece_logits(hidden, places).log_softmax(-1)};
}

}  // namespace fovea
