#include "fovea/models/series_seq2seq.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

void SeriesSeq2SeqOptions::describe(OptionList& list) {
  Seq2SeqOptions::describe(list);
  list.add(
      "revin", revin,
      "reversible instance normalisation: each window without its own mean and deviation, which "
      "the forecast gets back; every target must be an input");
}

RevinSeq2Seq::RevinSeq2Seq(const Seq2SeqOptions& options, const SequenceShape& sequence,
                           SeriesShape shape)
    : shape_(std::move(shape)),
      network_(register_module("network",
                               std::make_shared<Seq2Seq>(options, SearchOptions{}, sequence))) {
  require(
      std::ranges::none_of(shape_.targets, [](int64_t input) { return input < 0; }),
      ErrorKind::InvalidArgument,
      "model.revin gives a forecast the mean of its own past, but not every target is an input; "
      "name it with --columns input=…");
}

RevinSeq2Seq::Normalised RevinSeq2Seq::normalised(const Batch& batch) const {
  Normalised result{batch, {}, {}};
  const Tensor& source = batch.at("source");               // [B, S, F]
  const Tensor mean = source.mean(1, true);                // [B, 1, F]
  const Tensor deviation = revin_deviation(source, mean);  // [B, 1, F]
  result.batch.tensors["source"] = (source - mean) / deviation;
  const Tensor targets = torch::tensor(shape_.targets).to(source.device());
  result.mean = mean.index_select(2, targets);
  result.deviation = deviation.index_select(2, targets);
  if (batch.has("target"))
    result.batch.tensors["target"] = (batch.at("target") - result.mean) / result.deviation;
  return result;
}

Tensor RevinSeq2Seq::restored(const Tensor& values, const Normalised& from) const {
  const Tensor steps = values.view({values.size(0), shape_.horizon, -1});  // [B, T, O]
  return (steps * from.deviation + from.mean).flatten(1);
}

Loss RevinSeq2Seq::loss(const Batch& batch, const StepContext& context) {
  return network_->loss(normalised(batch).batch, context);
}

Predictions RevinSeq2Seq::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Normalised own = normalised(batch);
  Predictions predictions = network_->predict(own.batch);
  predictions.values = restored(predictions.values, own);
  return predictions;
}

Tensor RevinSeq2Seq::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  const Normalised own = normalised(batch);
  return restored(network_->replay(own.batch, predictions, tap), own);
}

}  // namespace fovea
