// What the network is made of; show_attend_tell.cc has what it does.
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/models/show_attend_tell.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

void copy_parameters(const torch::nn::Module& from, torch::nn::Module& to) {
  const auto source = from.named_parameters();
  for (auto& item : to.named_parameters()) item.value().copy_(source[item.key()]);
}

}  // namespace

ShowAttendTellOptions::ShowAttendTellOptions() {
  score.name = "additive";
  score.bias = true;
}

void ShowAttendTellOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"show_attend_tell"});
  encoder.describe(list);
  list.add("positions", positions, "every cell has a learned vector for its place");
  list.add("embedding", embedding, "numbers per word").at_least(1);
  list.add("hidden", hidden, "units of the LSTM").at_least(1);
  list.add(
          "attention", attention,
          "soft: a mixture of all cells; hard: one cell, drawn, learned by REINFORCE; none: always "
          "the mean of all cells")
      .choices({"soft", "hard", "none"});
  list.add("gate", gate, "a number in 0..1 for each word says how much of the picture counts");
  list.add("output", output, "before the output layer: tanh of the sum, or the sum")
      .choices({"tanh", "linear"});
  list.add("dropout", dropout, "of embeddings and before the output layer").rate();
  list.add("word_dropout", word_dropout,
           "share of the words before that training hides: what comes next must then be seen, not "
           "guessed")
      .rate();
  list.add("attention_dropout", attention_dropout,
           "soft: share of the weights that training hides: one cell is then not enough, and words "
           "look at the middle of what they name")
      .rate();
  list.add("label_smoothing", label_smoothing, "share of the target spread over all words").rate();
  list.add("penalty", penalty,
           "soft: weight of sum over cells (1 - sum over words alpha)^2; 0: off, the paper has 1")
      .at_least(0);
  list.add("baseline", baseline,
           "hard: what a draw is held against. soft: the same words told softly; moving: the mean "
           "of the batches before, as in the paper")
      .choices({"soft", "moving"});
  list.add("baseline_decay", baseline_decay, "moving: share of the old baseline after each batch")
      .rate();
  list.add("reward_weight", reward_weight, "hard: of the term that teaches where to look")
      .at_least(0);
  list.add("entropy_weight", entropy_weight,
           "hard: reward for looking everywhere; without it all words soon look at one cell")
      .at_least(0);
  list.add("semi_sampling", semi_sampling, "hard: share of the loss that looks softly")
      .within(0, 1);
  score.describe(list);
  normaliser.describe(list);
  list.group("augment", augment);
}

ShowAttendTell::ShowAttendTell(ShowAttendTellOptions options, SearchOptions search,
                               CaptionShape shape)
    : SequenceModel(std::move(search), {.target_symbols = shape.symbols,
                                        .padding = shape.padding,
                                        .begin = shape.begin,
                                        .end = shape.end}),
      options_(std::move(options)),
      caption_(shape) {
  auto& o = options_;
  encoder_ = register_module("encoder", make_image_encoder(o.encoder));
  grid_ = shape.image_size / encoder_->stride();
  require(grid_ >= 1 && shape.image_size % encoder_->stride() == 0, ErrorKind::InvalidArgument,
          "pictures of ", shape.image_size,
          " pixels a side (data.image_size) cannot become cells of ", encoder_->stride(),
          "; the side must be a multiple of that");
  const int64_t features = encoder_->features();
  if (o.positions)
    positions_ = register_parameter("positions", at::zeros({grid_ * grid_, features}));
  const auto layer = [&](const char* name, int64_t in, int64_t out, bool bias = true) {
    return register_projection(*this, name, {in, out, bias});
  };
  words_ = register_module("words", torch::nn::Embedding(shape.symbols, o.embedding));
  first_hidden_ = layer("first_hidden", features, o.hidden);
  first_cell_ = layer("first_cell", features, o.hidden);
  recurrent_ = register_module("recurrent", std::make_shared<Recurrent>(RecurrentOptions{
                                                "lstm", o.embedding + features, o.hidden}));
  if (o.attends()) {
    require(o.normaliser.traits().is_differentiable, ErrorKind::InvalidArgument,
            "model.normaliser=", o.normaliser.name,
            ": say model.attention=hard, which also learns where to look");
    require(!o.score.traits().depends_on_order, ErrorKind::InvalidArgument,
            "model.score=", o.score.name,
            " counts along a line, and cells are a grid; try additive");
    o.score.query_size = o.hidden;
    o.score.key_size = features;
    score_ = register_module("score", make_score(o.score, Random()));
  }
  if (o.gate) gate_ = layer("gate", o.hidden, 1);
  from_hidden_ = layer("from_hidden", o.hidden, o.embedding);
  from_context_ = layer("from_context", features, o.embedding, false);
  output_ = layer("output", o.embedding, shape.symbols);
  if (!is_hard() || o.baseline != "moving") return;
  baseline_ = register_buffer("baseline", at::zeros({}, at::kDouble));
  baseline_batches_ = register_buffer("baseline_batches", at::zeros({}, at::kLong));
  newest_sum_ = register_buffer("newest_sum", at::zeros({}, at::kLong));
  newest_count_ = register_buffer("newest_count", at::zeros({}, at::kLong));
  newest_step_ = register_buffer("newest_step", at::full({}, -1, at::kLong));
}

void ShowAttendTell::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  encoder_->initialise(random.split("encoder"));
  const auto fill = [&](at::Tensor& table, const char* name) {
    const double deviation = 1 / std::sqrt(double(table.size(1)));
    table.copy_(random.split(name).normal_tensor(table.sizes(), 0, deviation, at::kFloat));
  };
  if (positions_.defined()) fill(positions_, "positions");
  fill(words_->weight, "words");
  recurrent_->initialise(random.split("recurrent"));
  if (score_) copy_parameters(*make_score(options_.score, random.split("score")), *score_);
  for (auto& item : named_children())
    if (auto layer = std::dynamic_pointer_cast<Projection>(item.value()))
      layer->initialise(random.split(item.key()));
  if (!baseline_.defined()) return;
  for (at::Tensor* own : {&baseline_, &baseline_batches_, &newest_sum_, &newest_count_})
    own->zero_();
  newest_step_.fill_(-1);
}

Schema ShowAttendTell::schema() const {
  return {{"image", at::kByte, {-1, 3, caption_.image_size, caption_.image_size}},
          {"target", at::kLong, {-1, -1}},
          {"target.keep", at::kBool, {-1, -1}}};
}

std::vector<LayerSummary> ShowAttendTell::summary() const {
  const auto& o = options_;
  const int64_t cells = grid_ * grid_, features = encoder_->features();
  std::vector<LayerSummary> layers;
  layers.push_back({concat("image encoder (", o.encoder.name, o.encoder.freeze ? ", frozen" : "",
                           ", cells ", grid_, " x ", grid_, ")"),
                    {cells, features},
                    count_parameters(*encoder_)});
  if (positions_.defined()) layers.push_back({"places", {cells, features}, positions_.numel()});
  layers.push_back(
      {concat("words (", caption_.symbols, ")"), {o.embedding}, count_parameters(*words_)});
  layers.push_back({"first state",
                    {o.hidden},
                    count_parameters(*first_hidden_) + count_parameters(*first_cell_)});
  if (score_)
    layers.push_back({concat(o.attention, " attention (", o.score.name, ")"),
                      {cells},
                      count_parameters(*score_)});
  if (gate_) layers.push_back({"gate", {1}, count_parameters(*gate_)});
  layers.push_back({"lstm", {o.hidden}, count_parameters(*recurrent_)});
  layers.push_back({concat("deep output (", o.output, ")"),
                    {o.embedding},
                    count_parameters(*from_hidden_) + count_parameters(*from_context_)});
  layers.push_back({"output (softmax)", {caption_.symbols}, count_parameters(*output_)});
  return layers;
}

ParameterRule ShowAttendTell::rule_of(const std::string& name) const {
  ParameterRule rule;
  if (options_.encoder.freeze && name.starts_with("encoder.")) rule.rate = 0;
  rule.decays = !name.ends_with("bias") && name.find("norm") == std::string::npos;
  return rule;
}

}  // namespace fovea
