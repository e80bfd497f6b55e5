#include "tests/export/cases.h"

#include "fovea/attention/multi_head.h"
#include "fovea/attention/normaliser.h"
#include "fovea/models/context_attention.h"
#include "fovea/models/feature_attention.h"
#include "fovea/models/table_network.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea::testing {

using kernels::TabularLoss;

void randomise(Model& model, uint64_t seed) {
  torch::NoGradGuard no_gradients;
  model.initialise(Random(seed));
  uint64_t number = 0;
  for (auto& item : model.named_parameters()) {
    at::Tensor& parameter = item.value();
    parameter.add_(Random(seed).split("noise").split(number++).normal_tensor(parameter.sizes(), 0,
                                                                             0.3, at::kFloat));
  }
  model.eval();
}

void prune_heads(Model& model) {
  bool all = false;
  for (const auto& part : model.modules(/*include_self=*/false)) {
    auto* attention = dynamic_cast<MultiHeadAttention*>(part.get());
    if (attention == nullptr) continue;
    attention->prune(all ? attention->heads() : std::vector<int64_t>{0});
    all = !all;
  }
}

Json tensor_json(const at::Tensor& tensor) {
  const auto kind = tensor.scalar_type();
  const at::Tensor numbers = tensor.detach().flatten().to(at::kDouble).contiguous();
  const double* first = numbers.data_ptr<double>();
  return {{"type", kind == at::kLong   ? "int64"
                   : kind == at::kBool ? "bool"
                                       : "float32"},
          {"shape", tensor.sizes().vec()},
          {"data", std::vector<double>(first, first + numbers.numel())}};
}

namespace {

at::Tensor numbers(at::IntArrayRef shape, uint64_t seed) {
  return Random(seed).normal_tensor(shape, 0, 1, at::kFloat);
}

Json feature_answers(const Model& model, int64_t rows, int64_t width) {
  torch::NoGradGuard no_gradients;
  Batch batch;
  batch.size = rows;
  batch.tensors["inputs"] = numbers({rows, width}, 11 + uint64_t(rows));
  const Predictions predictions = model.predict(batch);
  Json outputs = Json::object();
  if (predictions.scores.defined()) outputs["probabilities"] = tensor_json(predictions.scores);
  if (predictions.values.defined()) outputs["value"] = tensor_json(predictions.values);
  Tap tap;
  model.replay(batch, predictions, &tap);
  if (has_map(tap, "attention"))
    outputs["attention"] = tensor_json(tap.map("attention").weights.mean(1).flatten(1));
  return {{"inputs", {{"inputs", tensor_json(batch.at("inputs"))}}}, {"outputs", outputs}};
}

ExportCase feature_case(const std::string& name, FeatureAttentionOptions options,
                        TabularLoss loss) {
  FeatureShape shape{{"a", "b", "c", "d"}, {0, 0, 0, 1, 2, 2, 3}, 1, loss};
  if (loss == TabularLoss::CrossEntropy) shape.outputs = 3;
  const auto model = std::make_shared<FeatureAttention>(std::move(options), shape);
  randomise(*model, 3);
  return {"features-" + name,
          [model](const ExportOptions& chosen) { return export_model(*model, chosen); },
          [model](int64_t rows, int64_t) { return feature_answers(*model, rows, 7); }};
}

ExportCase table_case(const std::string& name, int64_t members, TabularLoss loss) {
  FeatureShape shape{{"a", "b", "c", "d"}, {0, 0, 0, 1, 2, 2, 3}, 1, loss, {0, 3, 4, 5, 6}};
  if (loss == TabularLoss::CrossEntropy) shape.outputs = 3;
  TableNetworkOptions options;
  options.name = name;
  options.members = members;
  options.hidden = {6};
  options.width = 8;
  options.heads = 2;
  const auto model = std::make_shared<TableNetwork>(options, shape);
  randomise(*model, 3);
  return {concat("table-", name, "-", members),
          [model](const ExportOptions& chosen) { return export_model(*model, chosen); },
          [model](int64_t rows, int64_t) { return feature_answers(*model, rows, 7); }};
}

ExportCase context_case(const std::string& name) {
  constexpr int64_t kContexts = 5, kPositions = 8;
  const auto model = std::make_shared<ContextAttention>(
      ContextAttentionOptions{name}, ContextAttentionShape{kContexts, kPositions});
  randomise(*model, 4);
  const auto answers = [model](int64_t rows, int64_t) -> Json {
    torch::NoGradGuard no_gradients;
    Batch batch;
    batch.size = rows;
    batch.tensors["inputs"] = numbers({rows, kPositions}, 12 + uint64_t(rows));
    batch.tensors["context"] = at::arange(rows, at::kLong).remainder(kContexts);
    Json outputs{{"value", tensor_json(model->predict(batch).values)}};
    Tap tap;
    model->replay(batch, {}, &tap);
    for (const AttentionMap& map : tap.maps())
      outputs[map.name] = tensor_json(map.weights.flatten(1));
    return {{"inputs",
             {{"inputs", tensor_json(batch.at("inputs"))},
              {"context", tensor_json(batch.at("context"))}}},
            {"outputs", outputs}};
  };
  return {"context-" + name,
          [model](const ExportOptions& chosen) { return export_model(*model, chosen); }, answers};
}

}  // namespace

std::vector<ExportCase> feature_cases() {
  const auto two = TabularLoss::BinaryCrossEntropy;
  std::vector<ExportCase> cases;
  for (const std::string& normaliser : normaliser_names()) {
    if (normaliser == "hard") continue;  // the model itself refuses it
    FeatureAttentionOptions options;
    options.normaliser = {normaliser, 0.5, 2};
    cases.push_back(feature_case(normaliser, options, two));
  }
  FeatureAttentionOptions deep;
  deep.hidden = {6, 5};
  cases.push_back(feature_case("deep-classes", deep, TabularLoss::CrossEntropy));
  cases.push_back(feature_case("number", {}, TabularLoss::SquaredError));
  for (const std::string name : {"tutorial-plain", "tutorial-linear"}) {
    FeatureAttentionOptions options;
    options.name = name;
    cases.push_back(feature_case(name, options, two));
  }
  cases.push_back(table_case("attention", 3, two));
  cases.push_back(table_case("attention", 1, TabularLoss::SquaredError));
  cases.push_back(table_case("transformer", 2, TabularLoss::CrossEntropy));
  cases.push_back(table_case("plain", 2, two));
  cases.push_back(table_case("linear", 1, TabularLoss::CrossEntropy));
  return cases;
}

std::vector<ExportCase> context_cases() {
  std::vector<ExportCase> cases;
  for (const std::string name : {"free", "softmax"}) cases.push_back(context_case(name));
  return cases;
}

std::vector<ExportCase> all_cases() {
  std::vector<ExportCase> all = feature_cases();
  for (auto& cases : {&context_cases, &seq2seq_cases, &transformer_cases, &bert_cases,
                      &lstm_tagger_cases, &hierarchical_cases, &words_cases, &caption_cases,
                      &image_cases, &series_cases, &language_cases, &attention_cases})
    for (ExportCase& one : cases()) all.push_back(std::move(one));
  return all;
}

}  // namespace fovea::testing
