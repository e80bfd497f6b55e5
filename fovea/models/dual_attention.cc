#include "fovea/models/dual_attention.h"

#include <algorithm>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kDeviation = 0.1;  // of fresh embeddings

}  // namespace

void DualAttentionOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"dattn"});
  list.add("embedding", embedding, "numbers per word; data.vectors of another size set it")
      .at_least(1);
  list.add("window", window, "words that local attention sees together; odd").at_least(1);
  list.add("local_filters", local_filters, "filters over single words").at_least(1);
  list.add("global_filters", global_filters, "filters of each width over neighbouring words")
      .at_least(1);
  list.add("widths", widths, "words that these filters see together").within(1, 64);
  list.add(
          "global_attention", global_attention,
          "score of a word from the whole document: matched with the mean of its words; filter, as "
          "long as the document, at each word, as in the paper; scale, the same filter once, one "
          "number for all words")
      .choices({"matched", "filter", "scale"});
  list.add("hidden", hidden, "numbers of the layer between the filters and the factors")
      .at_least(1);
  list.add("factors", factors, "numbers that a document becomes").at_least(1);
  list.add("dropout", dropout, "of the hidden layer").rate();
  ReadingOptions::describe(list);
}

DocumentTower::DocumentTower(const DualAttentionOptions& options, std::string side,
                             int64_t longest_document)
    : side_(std::move(side)),
      embedding_(options.embedding),
      global_attention_(options.global_attention) {
  window_ = make_filters("window", 1, options.window);
  if (global_attention_ == "matched") {
    match_ = register_parameter("match_weight", at::zeros({embedding_, embedding_}));
    match_bias_ = register_parameter("match_bias", at::zeros({1}));
  } else {
    document_ = make_filters("document", 1, longest_document);
  }
  local_ = make_filters("local", options.local_filters, 1);
  for (const int64_t width : options.widths)
    global_.push_back(make_filters(concat("global", width), options.global_filters, width));
}

DocumentTower::Filters DocumentTower::make_filters(const std::string& name, int64_t count,
                                                   int64_t width) {
  return {register_parameter(name + "_weight", at::zeros({count, embedding_, width})),
          register_parameter(name + "_bias", at::zeros({count}))};
}

void DocumentTower::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  for (auto& item : named_parameters()) {
    Tensor& parameter = item.value();
    if (parameter.dim() == 1)
      parameter.zero_();
    else
      initialise_like_pytorch(parameter, parameter[0].numel(), random.split(item.key()));
  }
}

int64_t DocumentTower::outputs() const {
  int64_t count = local_.bias.numel();
  for (const Filters& filters : global_) count += filters.bias.numel();
  return count;
}

Tensor DocumentTower::gates(const Filters& filter, const SideWords& words) {
  const int64_t width = filter.weight.size(2), before = width / 2;
  const Tensor around = at::constant_pad_nd(words.vectors.transpose(1, 2),
                                            {before, width - 1 - before});  // [B, E, K + width - 1]
  return at::conv1d(around, filter.weight, filter.bias).squeeze(1).sigmoid();  // [B, K]
}

Tensor DocumentTower::local_weights(const SideWords& words) const {
  return gates(window_, words);
}

Tensor DocumentTower::global_weights(const SideWords& words) const {
  if (global_attention_ == "filter") return gates(document_, words);
  if (global_attention_ == "scale") {
    const int64_t size = std::min(words.vectors.size(1), document_.weight.size(2));
    const Tensor seen = words.vectors.narrow(1, 0, size).flatten(1);                 // [B, size E]
    const Tensor filter = document_.weight[0].narrow(1, 0, size).t().reshape({-1});  // [size E]
    return (seen.mv(filter) + document_.bias)
        .sigmoid()
        .unsqueeze(1)
        .expand({-1, words.vectors.size(1)});  // [B, K]
  }
  const Tensor count = words.keep.sum(1, /*keepdim=*/true).clamp_min(1);       // [B, 1]
  const Tensor document = words.vectors.sum(1) / count;                        // [B, E]
  const Tensor wanted = at::linear(document, match_).unsqueeze(2);             // [B, E, 1]
  return (at::bmm(words.vectors, wanted).squeeze(2) + match_bias_).sigmoid();  // [B, K]
}

Tensor DocumentTower::gated(const SideWords& words, const Tensor& weights, const char* name,
                            Tap* tap) const {
  const Tensor masked = weights.masked_fill(~words.keep, 0).unsqueeze(1).unsqueeze(1);
  const Tensor own = report_weights(words, masked, {side_ + name, "", side_ + " words"},
                                    MapKind::Gate, tap);  // [B, 1, 1, K]
  return words.vectors.transpose(1, 2) * own.squeeze(1);
}

Tensor DocumentTower::strongest(const Filters& filters, const Tensor& x, const SideWords& words) {
  const int64_t width = filters.weight.size(2);
  const Tensor found = at::conv1d(at::constant_pad_nd(x, {0, width - 1}), filters.weight,
                                  filters.bias);  // [B, F, K]
  const Tensor best =
      found.masked_fill(~words.keep.unsqueeze(1),
                        -std::numeric_limits<double>::infinity())
          .amax(2);  // [B, F]
  return best.masked_fill(~words.known.unsqueeze(1), 0).tanh();
}

Tensor DocumentTower::forward(const SideWords& words, Tap* tap) const {
  std::vector<Tensor> parts;
  parts.push_back(
      strongest(local_, gated(words, local_weights(words), " local", tap), words));  // [B, L]
  const Tensor x = gated(words, global_weights(words), " global", tap);              // [B, E, K]
  for (const Filters& filters : global_) parts.push_back(strongest(filters, x, words));
  return at::cat(parts, 1);
}

DualAttention::DualAttention(DualAttentionOptions options, const RatingShape& shape,
                             int64_t longest_document)
    : RatingModel(options, shape), options_(std::move(options)) {
  const auto& o = options_;
  require(o.window % 2 == 1, ErrorKind::InvalidArgument, "model.window=", o.window,
          " must be odd, so that a word stands in the middle");
  require(!o.widths.empty(), ErrorKind::InvalidArgument,
          "model.widths: at least one width is needed");
  for (size_t i = 1; i < o.widths.size(); ++i)
    require(o.widths[i - 1] < o.widths[i], ErrorKind::InvalidArgument,
            "model.widths: expected rising numbers, found ", o.widths[i - 1], " before ",
            o.widths[i]);
  require(longest_document >= 1, ErrorKind::InvalidArgument, "documents of ", longest_document,
          " words cannot be read");
  words_ = register_module("words", torch::nn::Embedding(shape.words, o.embedding));
  user_ = register_module("user", std::make_shared<DocumentTower>(o, "user", longest_document));
  item_ = register_module("item", std::make_shared<DocumentTower>(o, "item", longest_document));
  hidden_ = register_projection(*this, "hidden", {user_->outputs(), o.hidden});
  output_ = register_projection(*this, "output", {o.hidden, o.factors});
}

void DualAttention::initialise(const Random& random) {
  initialise_biases();
  initialise_normal(words_->weight, kDeviation, random.split("words"));
  user_->initialise(random.split("user"));
  item_->initialise(random.split("item"));
  hidden_->initialise(random.split("hidden"));
  output_->initialise(random.split("output"));
}

Schema DualAttention::schema() const {
  return {{"user", at::kLong, {-1}},
          {"item", at::kLong, {-1}},
          {"user_words", at::kLong, {-1, -1}},
          {"item_words", at::kLong, {-1, -1}},
          {"target", at::kFloat, {-1}}};
}

std::vector<LayerSummary> DualAttention::summary() const {
  const auto& o = options_;
  std::vector<LayerSummary> layers;
  layers.push_back(
      {concat("words (", shape().words, ")"), {o.embedding}, count_parameters(*words_)});
  layers.push_back({"attention and filters (user, item)",
                    {user_->outputs()},
                    count_parameters(*user_) + count_parameters(*item_)});
  layers.push_back({"hidden (relu)", {o.hidden}, count_parameters(*hidden_)});
  layers.push_back({"factors", {o.factors}, count_parameters(*output_)});
  summarise_biases(layers);
  return layers;
}

std::optional<RatingModel::OwnTerm> DualAttention::own_term(const Batch& batch,
                                                            const Random* random, Tap* tap) const {
  const auto factors = [&](const char* side, const DocumentTower& tower, Tensor& known) {
    const SideWords words = embed_side(batch, side, words_->weight, tap);
    known = words.known;
    Tensor h = hidden_->forward(tower.forward(words, tap)).relu();  // [B, hidden]
    if (random && options_.dropout > 0) h = dropout(h, options_.dropout, random->split(side));
    return output_->forward(h);  // [B, factors]
  };
  Tensor user_known, item_known;
  const Tensor user = factors("user", *user_, user_known);
  const Tensor item = factors("item", *item_, item_known);
  return OwnTerm{(user * item).sum(1), user_known & item_known};
}

}  // namespace fovea
