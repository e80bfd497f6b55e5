#include "fovea/models/bert_model.h"

#include "fovea/base/error.h"
#include "fovea/models/classifier.h"
#include "fovea/models/initialise.h"
#include "fovea/models/tagger.h"
#include "fovea/tensor/torch.h"

namespace fovea {

void BertModelOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"bert"});
  encoder.describe(list);
  fine_tuning.describe(list);
}

template <class Base>
void BertModel<Base>::build(const BertModelOptions& options, const BertModelShape& shape) {
  encoder_ = this->register_module(
      "encoder", std::make_shared<BertEncoder>(options.encoder, shape.vocabulary));
  const BertOptions& o = encoder_->options();
  output_ = register_projection(*this, "output", {o.hidden, shape.outputs});
  require(window_ <= o.maximum_length, ErrorKind::InvalidArgument, shape.inputs, " of ", window_,
          " tokens do not fit the ", o.maximum_length,
          " positions of model.maximum_length; set a smaller data.longest");
  fine_tuning_ = options.fine_tuning;
  fine_tuning_.check(encoder_->layers());
}

template <class Base>
void BertModel<Base>::initialise(const Random& random) {
  constexpr double kDeviation = 0.02;  // of fresh weights, as BERT has it
  torch::NoGradGuard no_gradients;
  encoder_->initialise(random.split("encoder"));
  initialise_normal(output_->weight, kDeviation, random.split("output"));
  output_->bias.zero_();
}

template <class Base>
std::vector<LayerSummary> BertModel<Base>::summary() const {
  const BertOptions& o = encoder_->options();
  return {{concat("BERT (", o.layers, " layers, ", o.heads, " heads, ", vocabulary_, " pieces)"),
           {o.hidden},
           count_parameters(*encoder_)},
          {head_name(), {output_->bias.size(0)}, count_parameters(*output_)}};
}

template <class Base>
ParameterRule BertModel<Base>::rule_of(const std::string& name) const {
  if (!uses_pooler() && name.starts_with("encoder.pooler.")) return {0, false};  // takes no part
  return fine_tuning_.rule_of(name, "encoder.", encoder_->layers());
}

template class BertModel<Model>;
template class BertModel<Classifier>;
template class BertModel<Tagger>;

}  // namespace fovea
