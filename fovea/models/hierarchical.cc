#include "fovea/models/hierarchical.h"

#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr const char* kWords = "words";
const MapLabel kSentences{"sentences", "document", "sentences"};

}  // namespace

void HierarchicalOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"han"});
  list.add("embedding", embedding, "numbers per word; data.vectors of another size set it")
      .at_least(1);
  list.add("embedding_deviation", embedding_deviation,
           "standard deviation of fresh embeddings; small ones let attention look at neighbours")
      .above(0);
  list.add("hidden", hidden, "numbers of each direction of both recurrences").at_least(1);
  pooling.describe(list);
  list.add("dropout", dropout, "of embeddings, of sentences and of the document").rate();
  describe_class_weights(list, class_weights);
  describe_number_loss(list, loss);
}

HierarchicalAttention::HierarchicalAttention(HierarchicalOptions options, HierarchicalShape shape)
    : Classifier({shape.kind, options.class_weights, shape.class_counts, shape.rows, options.loss}),
      options_(std::move(options)),
      shape_(std::move(shape)) {
  const auto& o = options_;
  const int64_t width = 2 * o.hidden;
  const auto encoder = [&](const char* name, int64_t input) {
    return register_module(name, std::make_shared<Recurrent>(RecurrentOptions{
                                     "gru", input, o.hidden, 1, /*bidirectional=*/true, 0}));
  };
  const auto pooling = [&](const char* name, int64_t longest) {
    return register_module(name, std::make_shared<SequencePooling>(o.pooling, width, longest));
  };
  words_ = register_module("words", torch::nn::Embedding(shape_.words, o.embedding));
  word_encoder_ = encoder("word_encoder", o.embedding);
  word_pooling_ = pooling("word_pooling", shape_.longest_sentence);
  sentence_encoder_ = encoder("sentence_encoder", width);
  sentence_pooling_ = pooling("sentence_pooling", shape_.longest_document);
  output_ = register_projection(*this, "output", {width, shape_.classes});
}

void HierarchicalAttention::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  initialise_normal(words_->weight, options_.embedding_deviation, random.split("words"));
  word_encoder_->initialise(random.split("word_encoder"));
  word_pooling_->initialise(random.split("word_pooling"));
  sentence_encoder_->initialise(random.split("sentence_encoder"));
  sentence_pooling_->initialise(random.split("sentence_pooling"));
  output_->initialise(random.split("output"));
  if (kind() == AnswerKind::Labels) initialise_bias(output_->bias);
}

void HierarchicalAttention::take_vectors(const Tensor& vectors, const Tensor& known) {
  take_word_vectors(words_->weight, vectors, known);
}

Schema HierarchicalAttention::schema() const {
  return {{"words", at::kLong, {-1, -1}},
          {"sentences", at::kLong, {-1, -1}},
          target_schema(shape_.classes)};
}

std::vector<LayerSummary> HierarchicalAttention::summary() const {
  const auto& o = options_;
  const int64_t width = 2 * o.hidden;
  const std::string pooling =
      word_pooling_->attends() ? concat("attention (", o.pooling.score, ")") : o.pooling.pooling;
  return {{concat("words (", shape_.words, ")"), {o.embedding}, count_parameters(*words_)},
          {"BiGRU over the words of a sentence", {width}, count_parameters(*word_encoder_)},
          {concat("sentence: ", pooling), {width}, count_parameters(*word_pooling_)},
          {"BiGRU over the sentences", {width}, count_parameters(*sentence_encoder_)},
          {concat("document: ", pooling), {width}, count_parameters(*sentence_pooling_)},
          {output_name(), {shape_.classes}, count_parameters(*output_)}};
}

ParameterRule HierarchicalAttention::rule_of(const std::string& name) const {
  return {.decays = name.find("bias") == std::string::npos};
}

struct HierarchicalAttention::Pass {
  const Batch& batch;
  SentenceLayout layout;
  const Random* random;  // null: nothing is dropped
  Tap* tap;
};

/// Of one group: [N, T, D], 0 at padding. `table` holds a row for every word of the vocabulary or,
/// with a tap, for every word of the batch.
Tensor HierarchicalAttention::word_states(const Pass& pass, const Tensor& table,
                                          size_t group) const {
  const SentenceGroup& sentences = pass.layout.groups[group];
  Tensor rows = sentences.words;  // [N, T]
  if (!pass.tap)
    rows = pass.batch.at("words").flatten().index_select(0, rows.flatten()).view_as(rows);
  Tensor x = embedding_lookup(table, rows);  // [N, T, E]
  if (pass.random && options_.dropout > 0) {
    const Random own = pass.random->split("words").split(group);
    x = sequence_dropout(x, options_.dropout, &own);
  }
  return word_encoder_->run(x, sentences.lengths, {}, {}).outputs;
}

/// 0 behind the last sentence of a document. Weights that a tap may replace can be any, so each
/// sentence is then a sum over all words of its document.
Tensor HierarchicalAttention::sentence_vectors(const Pass& pass) const {
  const SentenceLayout& layout = pass.layout;
  Tensor table = words_->weight;  // [V, E]
  if (pass.tap)                   // [B W, E]
    table = pass.tap->leaf(kWords, embedding_lookup(table, pass.batch.at("words"))).flatten(0, 1);
  const bool shows = pass.tap && word_pooling_->attends();
  const auto weights = std::make_shared<WordWeights>(layout);
  std::vector<Tensor> states, vectors;
  for (size_t i = 0; i < layout.groups.size(); ++i) {
    const SentenceGroup& group = layout.groups[i];
    states.push_back(word_states(pass, table, i));  // [N, T, D]
    const auto pooled = word_pooling_->pool(states.back(), group.keep, /*keep_weights=*/shows);
    vectors.push_back(pooled.summary);  // [N, D]
    if (shows) weights->add(group, pooled.weights);
  }
  if (!shows) return sentences_in_place(layout, vectors);
  AttentionMap map = labelled_map({kWords, kSentences.key_axis, kWords}, {},
                                  layout.is_full() ? MapKind::Distribution : MapKind::Partial);
  if (pass.tap->needs_live(kWords)) {
    map.weights = weights->dense();
    const Tensor used = pass.tap->report(std::move(map));           // [B, 1, S, W]
    return used.matmul(words_in_place(layout, states)).squeeze(1);  // [B, S, D]
  }
  map.source = weights;
  pass.tap->report(std::move(map));
  return sentences_in_place(layout, vectors);
}

Tensor HierarchicalAttention::document_vectors(const Pass& pass, const Tensor& sentences) const {
  const Tensor& lengths = pass.layout.lengths;  // [B]
  const Tensor keep = (at::arange(pass.layout.sentences).unsqueeze(0) < lengths.unsqueeze(1))
                          .to(sentences.device());  // [B, S]
  const Tensor states = sentence_encoder_->run(sentences, lengths.clamp_min(1), {}, {}).outputs;
  return sentence_pooling_->pool(states, keep, kSentences, pass.tap);
}

Tensor HierarchicalAttention::logits_of(const Batch& batch, const Random* random, Tap* tap) const {
  const Pass pass{batch, layout_of(batch.at("sentences"), batch.at("words").size(1)), random, tap};
  if (pass.layout.is_empty())
    return output_->forward(at::zeros({batch.size, 2 * options_.hidden}, words_->weight.options()));
  const Tensor sentences =
      leaf_of(tap, kSentences.key_axis,
              dropout(sentence_vectors(pass), options_.dropout, random, "sentences"));
  const Tensor document =
      dropout(document_vectors(pass, sentences), options_.dropout, random, "document");
  return output_->forward(document);
}

}  // namespace fovea
