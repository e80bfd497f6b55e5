#include "fovea/models/copy_lstm.h"

#include "fovea/base/text.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

void CopyLstmOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"lstm"});
  list.add("hidden", hidden, "numbers of each layer").at_least(1);
  list.add("layers", layers, "stacked layers").within(1, 16);
}

CopyLstm::CopyLstm(CopyLstmOptions options, CopyWidths widths)
    : CopyModel(widths), options_(std::move(options)) {
  const auto& o = options_;
  recurrent_ = register_module("recurrent", std::make_shared<Recurrent>(RecurrentOptions{
                                                "lstm", inputs(), o.hidden, o.layers}));
  output_ = register_projection(*this, "output", {o.hidden, bits()});
}

void CopyLstm::initialise(const Random& random) {
  recurrent_->initialise(random.split("recurrent"));
  output_->initialise(random.split("output"));
}

std::vector<LayerSummary> CopyLstm::summary() const {
  const auto& o = options_;
  return {{concat("LSTM (", o.layers, o.layers == 1 ? " layer)" : " layers)"),
           {o.hidden},
           count_parameters(*recurrent_)},
          {"output (sigmoid of each bit)", {bits()}, count_parameters(*output_)}};
}

Tensor CopyLstm::logits_of(const Batch& batch, Tap* tap) const {
  const Tensor inputs =
      leaf_of(tap, "steps", batch.at("inputs").to(output_->weight.scalar_type()));  // [B, S, I]
  return output_->forward(recurrent_->run(inputs, {}, {}, {}).outputs);             // [B, S, W]
}

}  // namespace fovea
