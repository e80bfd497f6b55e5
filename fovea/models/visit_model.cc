#include "fovea/models/visit_model.h"

#include <algorithm>
#include <array>
#include <memory>

#include "fovea/attention/attend.h"
#include "fovea/base/error.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kAbsentTogether = 256;  // codes that are left out side by side
constexpr const char* kAbsent = "absent";

/// "absent" [B, 1, O, K], computed when it is asked for.
class AbsentCodes : public WeightSource {
 public:
  AbsentCodes(const VisitModel& model, Batch batch) : model_(model), batch_(std::move(batch)) {}
  std::array<int64_t, 4> sizes() const override {
    return {batch_.size, 1, model_.shape().outcomes(), batch_.at("codes").size(1)};
  }
  Tensor rows(int64_t example, int64_t, int64_t first, int64_t count) const override {
    return model_.effect_of_absence(batch_, example).narrow(0, first, count);
  }

 private:
  const VisitModel& model_;
  Batch batch_;
};

}  // namespace

VisitModel::VisitModel(VisitShape shape, double l2, const std::string& class_weights)
    : Classifier(ClassifierTarget{shape.labels.empty() ? AnswerKind::Class : AnswerKind::Labels,
                                  class_weights, shape.class_counts, shape.rows}),
      shape_(std::move(shape)),
      l2_(l2) {}

Schema VisitModel::schema() const {
  return {{"codes", at::kLong, {-1, -1}},       {"codes.keep", at::kBool, {-1, -1}},
          {"visit_of", at::kLong, {-1, -1}},    {"gaps", at::kFloat, {-1, -1}},
          {"visits.keep", at::kBool, {-1, -1}}, target_schema(shape_.outcomes())};
}

ParameterRule VisitModel::rule_of(const std::string& name) const {
  return {.decays = name.find("bias") == std::string::npos};
}

Loss VisitModel::loss(const Batch& batch, const StepContext& context) {
  Loss loss = Classifier::loss(batch, context);
  if (l2_ > 0)
    for (const Tensor& parameter : penalised())
      loss.objective = loss.objective + l2_ * parameter.square().sum();
  return loss;
}

Tensor VisitModel::log_odds(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Tensor all = logit_of(batch, nullptr, nullptr);  // [B, O]
  return shape_.labels.empty() ? all.squeeze(1) : all;
}

/// log p is that of softmax over [0, log odds].
Tensor VisitModel::logits_of(const Batch& batch, const Random* random, Tap* tap) const {
  const Tensor all = logit_of(batch, random, tap);  // [B, O]
  if (!shape_.labels.empty()) return all;
  const Tensor log_odds = all.squeeze(1);  // [B]
  return at::stack({at::zeros_like(log_odds), log_odds}, 1);
}

Tensor VisitModel::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  const Tensor log_probability = Classifier::replay(batch, predictions, tap);
  if (tap && !tap->needs_live(kAbsent)) {
    AttentionMap map = labelled_map({kAbsent, "outcome", "codes"}, {}, MapKind::Free);
    map.source = std::make_shared<AbsentCodes>(*this, batch);
    tap->report(std::move(map));
  }
  return log_probability;
}

Tensor VisitModel::effect_of_absence(const Batch& batch, int64_t row) const {
  torch::NoGradGuard no_gradients;
  Batch alone{{}, 1};
  for (const auto& [name, tensor] : batch.tensors) alone.tensors[name] = tensor.narrow(0, row, 1);
  const Tensor& codes = alone.at("codes");                  // [1, K]
  const Tensor before = logit_of(alone, nullptr, nullptr);  // [1, O]
  const Tensor effects = at::zeros({shape_.outcomes(), codes.size(1)}, before.options());
  for (int64_t begin = 0; begin < codes.size(1); begin += kAbsentTogether) {
    const int64_t count = std::min(kAbsentTogether, codes.size(1) - begin);
    Batch without{{}, count};
    for (const auto& [name, tensor] : alone.tensors) {
      std::vector<int64_t> sizes = tensor.sizes().vec();
      sizes[0] = count;
      without.tensors[name] = tensor.expand(sizes).clone(at::MemoryFormat::Contiguous);
    }
    // Row i of the copies lacks code begin + i.
    without.tensors["codes"].narrow(1, begin, count).diagonal().fill_(shape_.unknown);
    effects.narrow(1, begin, count).copy_((logit_of(without, nullptr, nullptr) - before).t());
  }
  return effects.masked_fill(alone.at("codes.keep")[0].logical_not(), 0);
}

Tensor VisitModel::real_codes(const Batch& batch) const {
  return batch.at("codes.keep") & (batch.at("codes") >= shape_.first);
}

Tensor VisitModel::embed_codes(const Batch& batch, const Tensor& table, Tap* tap) const {
  const Tensor real = real_codes(batch).unsqueeze(-1);  // [B, K, 1]
  const Tensor codes = embedding_lookup(table, batch.at("codes"));
  return leaf_of(tap, "codes", codes * real.to(codes.scalar_type()));
}

Tensor VisitModel::visits_of(const Batch& batch, const Tensor& codes) {
  const int64_t visits = batch.at("gaps").size(1);
  const Tensor places = batch.at("visit_of").unsqueeze(-1).expand_as(codes);  // [B, K, E]
  return at::zeros({codes.size(0), visits, codes.size(2)}, codes.options())
      .scatter_add(1, places, codes);
}

Tensor VisitModel::sum_contributions(const Tensor& contributions, const Tensor& bias,
                                     Tap* tap) const {
  AttentionMap map = labelled_map({"contributions", "outcome", "codes"}, contributions.unsqueeze(1),
                                  MapKind::Contribution);
  map.total = shape_.labels.empty() ? concat("log odds of ", shape_.outcome, ", less the bias of ",
                                             format_number(bias.item<double>(), 6))
                                    : std::string("log odds of each label, less its bias");
  const Tensor used = report_to(tap, std::move(map));  // [B, 1, O, K]
  return used.sum(-1).squeeze(1) + bias;               // [B, O]
}

}  // namespace fovea
