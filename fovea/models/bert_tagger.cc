#include "fovea/models/bert_tagger.h"

#include "fovea/base/error.h"
#include "fovea/models/bert_windows.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kDeviation = 0.02;  // of fresh weights, as BERT has it

}  // namespace

void BertTaggerOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"bert"});
  encoder.describe(list);
  fine_tuning.describe(list);
}

BertTagger::BertTagger(BertTaggerOptions options, int64_t vocabulary, int64_t window,
                       TagRules rules)
    : Tagger(std::move(rules)),
      options_(std::move(options)),
      vocabulary_(vocabulary),
      window_(window),
      encoder_(
          register_module("encoder", std::make_shared<BertEncoder>(options_.encoder, vocabulary))),
      output_(register_projection(*this, "output", {encoder_->options().hidden, tags()})) {
  require(window_ <= encoder_->options().maximum_length, ErrorKind::InvalidArgument,
          "sentences of ", window_, " tokens do not fit the ", encoder_->options().maximum_length,
          " positions of model.maximum_length; set a smaller data.longest");
  options_.fine_tuning.check(encoder_->layers());
}

void BertTagger::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  encoder_->initialise(random.split("encoder"));
  initialise_normal(output_->weight, kDeviation, random.split("output"));
  output_->bias.zero_();
}

Schema BertTagger::schema() const {
  return {{"tokens", at::kLong, {-1, -1}},
          {"tokens.keep", at::kBool, {-1, -1}},
          {"words", at::kLong, {-1, -1}},
          {"words.keep", at::kBool, {-1, -1}},
          {"target", at::kLong, {-1, -1}}};
}

std::vector<LayerSummary> BertTagger::summary() const {
  const BertOptions& o = encoder_->options();
  return {{concat("BERT (", o.layers, " layers, ", o.heads, " heads, ", vocabulary_, " pieces)"),
           {o.hidden},
           count_parameters(*encoder_)},
          {"output (softmax of each word)", {tags()}, count_parameters(*output_)}};
}

ParameterRule BertTagger::rule_of(const std::string& name) const {
  if (name.starts_with("encoder.pooler.")) return {0, false};  // takes no part
  return options_.fine_tuning.rule_of(name, "encoder.", encoder_->layers());
}

Tensor BertTagger::logits_of(const Batch& batch, const Random* random, Tap* tap) const {
  const Tensor hidden =
      encode_windows(*encoder_, {batch.at("tokens"), Tensor(), batch.at("tokens.keep")}, window_,
                     random, tap);  // [B, T, D]
  const Tensor& words = batch.at("words");
  Tensor first = hidden.gather(
      1, words.unsqueeze(-1).expand({words.size(0), words.size(1), hidden.size(2)}));  // [B, W, D]
  const double rate = options_.encoder.dropout;
  first = dropout(first, rate, random, "words");
  return output_->forward(first);  // [B, W, K]
}

}  // namespace fovea
