#include "fovea/models/lstm_tagger.h"

#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kWordDeviation = 0.1;  // of fresh embeddings
const MapLabel kMap{"attention", "words", "words"};

}  // namespace

void LstmTaggerOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"lstm"});
  list.add("embedding", embedding, "numbers per word").at_least(1);
  list.add("letters", letters, "cnn: what a word's letters say is added; none: words alone")
      .choices({"cnn", "none"});
  list.add("letter_embedding", letter_embedding, "numbers per letter").at_least(1);
  list.add("letter_filters", letter_filters, "numbers that the letters of a word become")
      .at_least(1);
  list.add("letter_width", letter_width, "neighbouring letters that are seen together; odd")
      .at_least(1);
  list.add("hidden", hidden, "numbers per word of each direction of the recurrence").at_least(1);
  list.add("layers", layers, "stacked layers of the recurrence").within(1, 16);
  list.add("heads", heads, "attention heads; must divide 2 x hidden").at_least(1);
  list.add("dropout", dropout, "of embeddings, between layers and of what attention adds").rate();
  list.add("word_dropout", word_dropout, "share of the words taken for unknown in training").rate();
  list.add("rare_word_dropout", rare_word_dropout,
           "r: words that training has n times are taken for unknown with probability r / (r + n); "
           "0: never")
      .at_least(0);
  list.add("crf", crf, "tags that stand beside each other are scored as well: a linear-chain CRF");
  list.add("features", features,
           "a word's case, beginnings, endings and neighbours are scored directly, besides the "
           "network");
  list.add("feature_dropout", feature_dropout, "share of these left out in training").rate();
  list.add("pruned_heads", pruned_heads,
           "heads that were taken out, map:head,… as attention:2,3; empty: none");
}

LstmTagger::LstmTagger(LstmTaggerOptions options, LstmTaggerShape shape, TagRules rules)
    : Tagger(std::move(rules), options.crf), options_(std::move(options)), shape_(shape) {
  const auto& o = options_;
  const int64_t width = 2 * o.hidden;
  require(o.letter_width % 2 == 1, ErrorKind::InvalidArgument,
          "model.letter_width=", o.letter_width,
          " must be odd, so that a letter stands in the middle");
  require(width % o.heads == 0, ErrorKind::InvalidArgument, "model.heads=", o.heads,
          " must divide the ", width, " numbers of both directions (2 x model.hidden)");
  words_ = register_module("words", torch::nn::Embedding(shape_.words, o.embedding));
  int64_t input = o.embedding;
  if (o.letters == "cnn") {
    letters_ = register_module("letters", torch::nn::Embedding(shape_.letters, o.letter_embedding));
    filters_ = register_parameter(
        "filters_weight", at::zeros({o.letter_filters, o.letter_embedding, o.letter_width}));
    filters_bias_ = register_parameter("filters_bias", at::zeros({o.letter_filters}));
    input += o.letter_filters;
  }
  if (shape_.vectors > 0) {  // no parameter: training leaves it alone
    vectors_ = register_buffer("vectors", at::zeros({shape_.vectors, shape_.vector_size}));
    input += shape_.vector_size;
  }
  recurrent_ = register_module("recurrent", std::make_shared<Recurrent>(RecurrentOptions{
                                                "lstm", input, o.hidden, o.layers,
                                                /*bidirectional=*/true, o.dropout}));
  MultiHeadOptions heads;
  heads.width = width;
  heads.heads = o.heads;
  heads.dropout = o.dropout;
  attention_ = register_module("attention", std::make_shared<MultiHeadAttention>(heads));
  prune_heads(head_blocks(), parse_pruned_heads(o.pruned_heads));
  norm_ = register_module("norm", std::make_shared<LayerNorm>(width));
  output_ = register_projection(*this, "output", {width, tags()});
  if (o.features) features_ = register_parameter("features", at::zeros({shape_.features, tags()}));
  if (o.rare_word_dropout > 0 && !shape_.word_counts.empty()) {
    const Tensor counts = at::tensor(shape_.word_counts, at::kFloat);  // [words]
    hidden_share_ = o.rare_word_dropout / (o.rare_word_dropout + counts);
  }
}

void LstmTagger::take_vectors(const Tensor& vectors) {
  require(vectors_.defined() && vectors.sizes() == vectors_.sizes(), ErrorKind::Internal,
          "the word vectors do not fit the tagger");
  torch::NoGradGuard no_gradients;
  vectors_.copy_(vectors);
}

std::vector<HeadBlock> LstmTagger::head_blocks() const {
  return {{kMap.name, kMap.layer, attention_}};
}

void LstmTagger::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  initialise_normal(words_->weight, kWordDeviation, random.split("words"));
  if (filters_.defined()) {
    initialise_normal(letters_->weight, kWordDeviation, random.split("letters"));
    const double deviation = std::sqrt(1.0 / double(filters_[0].numel()));
    initialise_normal(filters_, deviation, random.split("filters"));
    filters_bias_.zero_();
  }
  if (vectors_.defined()) initialise_normal(vectors_, 1, random.split("vectors"));
  recurrent_->initialise(random.split("recurrent"));
  attention_->initialise(random.split("attention"));
  norm_->initialise();
  output_->initialise(random.split("output"));
  if (features_.defined()) features_.zero_();
  if (chain_) chain_->initialise();
}

Schema LstmTagger::schema() const {
  Schema schema{{"words", at::kLong, {-1, -1}},
                {"words.keep", at::kBool, {-1, -1}},
                {"letters", at::kLong, {-1, -1, -1}},
                {"target", at::kLong, {-1, -1}}};
  if (features_.defined()) schema.push_back({"features", at::kLong, {-1, -1, -1}});
  if (vectors_.defined()) schema.push_back({"vectors", at::kLong, {-1, -1}});
  return schema;
}

std::vector<LayerSummary> LstmTagger::summary() const {
  const auto& o = options_;
  std::vector<LayerSummary> layers;
  layers.push_back(
      {concat("words (", shape_.words, ")"), {o.embedding}, count_parameters(*words_)});
  if (filters_.defined())
    layers.push_back({concat("letters (", shape_.letters, ", ", o.letter_width, " at a time)"),
                      {o.letter_filters},
                      count_parameters(*letters_) + filters_.numel() + filters_bias_.numel()});
  if (vectors_.defined())
    layers.push_back({concat("vectors of texts (", shape_.vectors, ")"), {shape_.vector_size}, 0});
  layers.push_back({concat("BiLSTM (", o.layers, o.layers == 1 ? " layer)" : " layers)"),
                    {2 * o.hidden},
                    count_parameters(*recurrent_)});
  layers.push_back({concat("attention (", o.heads, " heads)"),
                    {2 * o.hidden},
                    count_parameters(*attention_) + count_parameters(*norm_)});
  if (features_.defined()) layers.push_back({"features of words", {tags()}, features_.numel()});
  layers.push_back({chain_ ? "output (linear-chain CRF)" : "output (softmax of each word)",
                    {tags()},
                    count_parameters(*output_) + (chain_ ? count_parameters(*chain_) : 0)});
  return layers;
}

ParameterRule LstmTagger::rule_of(const std::string& name) const {
  return {.decays = name.find("bias") == std::string::npos && !name.starts_with("norm.")};
}

Tensor LstmTagger::spell(const Tensor& letters) const {
  const Tensor padding = (letters == 0).flatten(0, 1).unsqueeze(1);  // [B W, 1, L]
  const Tensor x = embedding_lookup(letters_->weight, letters.flatten(0, 1))
                       .transpose(1, 2)
                       .masked_fill(padding, 0);  // [B W, I, L]
  const Tensor seen =
      at::conv1d(x, filters_, filters_bias_, /*stride=*/1, options_.letter_width / 2).relu();
  // What the filters give is at least 0 after relu, so 0 says that nothing was found.
  const Tensor found = seen.masked_fill(padding, 0).amax(-1);  // [B W, F]
  return found.view({letters.size(0), letters.size(1), -1});
}

Tensor LstmTagger::hide_words(const Tensor& words, const Random& random) const {
  Tensor kept = at::ones_like(words, at::kBool);  // [B, W]
  if (options_.word_dropout > 0)
    kept = random.split("unknown")
               .bernoulli_tensor(words.sizes(), 1 - options_.word_dropout, at::kFloat)
               .to(words.device()) > 0;
  if (hidden_share_.defined()) {
    const Tensor draws =
        random.split("rare").uniform_tensor(words.sizes(), 0, 1, at::kFloat).to(words.device());
    kept = kept & (draws >= hidden_share_.to(words.device()).index({words}));
  }
  return at::where(kept | (words == 0), words, shape_.unknown_word);
}

Tensor LstmTagger::embed(const Batch& batch, const Random* random) const {
  Tensor words = batch.at("words");  // [B, W]
  if (random && (options_.word_dropout > 0 || hidden_share_.defined()))
    words = hide_words(words, *random);
  std::vector<Tensor> seen{embedding_lookup(words_->weight, words)};
  if (filters_.defined()) seen.push_back(spell(batch.at("letters")));
  if (vectors_.defined()) seen.push_back(embedding_lookup(vectors_, batch.at("vectors")));
  return seen.size() == 1 ? seen[0] : torch::cat(seen, -1);  // [B, W, E]
}

Tensor LstmTagger::feature_scores(const Batch& batch, const Random* random) const {
  const Tensor& features = batch.at("features");              // [B, W, F]
  Tensor kept = (features != 0).to(features_.scalar_type());  // [B, W, F]
  if (random && options_.feature_dropout > 0)
    kept = kept *
           random->split("features")
               .bernoulli_tensor(features.sizes(), 1 - options_.feature_dropout, at::kFloat)
               .to(kept.device()) /
           (1 - options_.feature_dropout);
  return (embedding_lookup(features_, features) * kept.unsqueeze(-1)).sum(2);  // [B, W, K]
}

Tensor LstmTagger::logits_of(const Batch& batch, const Random* random, Tap* tap) const {
  const Tensor& keep = batch.at("words.keep");  // [B, W]
  if (keep.size(1) == 0) return at::zeros({batch.size, 0, tags()}, words_->weight.options());
  const double rate = random ? options_.dropout : 0;
  const auto dropped = [&](const Tensor& x, const char* name) {
    if (rate == 0) return x;
    const Random own = random->split(name);
    return sequence_dropout(x, rate, &own);
  };
  const Tensor x = dropped(leaf_of(tap, "words", embed(batch, random)), "embedding");  // [B, W, E]
  std::vector<Tensor> masks;
  if (random) {
    const Random own = random->split("recurrent");
    masks = recurrent_->dropout_masks(batch.size, &own);
  }
  const Tensor lengths = keep.sum(1).clamp_min(1).to(at::kCPU, at::kLong);
  const Tensor h = dropped(recurrent_->run(x, lengths, {}, masks).outputs, "states");
  MultiHeadInput input;
  input.query = h;
  input.mask = KeepMask::from_keep(keep);
  if (tap) input.mask = input.mask & KeepMask::from_queries(keep);
  input.keep_weights = false;
  if (rate > 0) input.random = random->split("attention");
  input.map = kMap;
  const Tensor looked = attention_->forward_self(input, tap).attended.context;
  const Tensor a = norm_->forward(h + dropped(looked, "looked"));  // [B, W, 2 H]
  const Tensor scores = output_->forward(a);                       // [B, W, K]
  return features_.defined() ? scores + feature_scores(batch, random) : scores;
}

}  // namespace fovea
