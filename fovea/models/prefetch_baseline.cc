#include "fovea/models/prefetch_baseline.h"

#include "fovea/models/initialise.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kTrustDeviation = 0.01;  // of fresh trust

}  // namespace

void PrefetchBaselineOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"next_line", "stride", "last_successor"});
  list.add("degree", degree, "lines that are named after each access, at most").within(1, 64);
  if (name == "last_successor")
    list.add("frozen", frozen, "the table learns from the training part alone; no: as it goes");
}

PrefetchBaseline::PrefetchBaseline(PrefetchBaselineOptions options) : options_(std::move(options)) {
  trust_ = register_parameter("trust", at::zeros({options_.degree}));
}

void PrefetchBaseline::initialise(const Random& random) {
  initialise_normal(trust_, kTrustDeviation, random.split("trust"));
}

Schema PrefetchBaseline::schema() const {
  return {{"candidates", at::kLong, {-1, options_.degree}}, {"next", at::kLong, {-1}}};
}

std::vector<LayerSummary> PrefetchBaseline::summary() const {
  return {{options_.name + " (how far each line is trusted)", {options_.degree}, trust_.numel()}};
}

Loss PrefetchBaseline::loss(const Batch& batch, const StepContext&) {
  const Tensor& named = batch.at("candidates");                // [B, K]
  const Tensor known = (named >= 0).to(trust_.scalar_type());  // [B, K]
  const Tensor came = (named == batch.at("next").unsqueeze(1)).to(trust_.scalar_type());
  const Tensor each = at::binary_cross_entropy_with_logits(
      trust_.expand_as(came), came, /*weight=*/{}, /*pos_weight=*/{}, at::Reduction::None);
  Loss loss;
  loss.objective = (each * known).sum() / double(batch.size);
  return loss;
}

Predictions PrefetchBaseline::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Tensor named = batch.at("candidates").to(at::kCPU).contiguous();  // [B, K]
  const Tensor sure = at::log_sigmoid(trust_).to(at::kCPU, at::kDouble).contiguous();
  const int64_t* line = named.data_ptr<int64_t>();
  Predictions predictions;
  for (int64_t row = 0; row < batch.size; ++row) {
    std::vector<Decoded>& outputs = predictions.outputs.emplace_back();
    for (int64_t k = 0; k < options_.degree; ++k, ++line)
      if (*line >= 0) outputs.push_back({{*line}, sure.data_ptr<double>()[k], ""});
  }
  return predictions;
}

Tensor PrefetchBaseline::replay(const Batch& batch, const Predictions&, Tap*) const {
  return at::log_sigmoid(trust_).narrow(0, 0, 1).expand({batch.size, 1});
}

}  // namespace fovea
