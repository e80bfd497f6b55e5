#include "fovea/models/words.h"
#include "fovea/tensor/torch.h"
#include "tests/export/cases.h"

namespace fovea::testing {

namespace {

constexpr int64_t kUnits = 20, kClasses = 3;

/// Bags of falling length, the last of several without a known word.
Batch bags(int64_t rows, int64_t length) {
  const Random random(53);
  const at::Tensor units = at::zeros({rows, length, 2}, at::kLong);
  const at::Tensor shares = at::zeros({rows, length, 2});
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < (rows == 1 ? length : length * (rows - 1 - row) / (rows - 1)); ++i)
      for (int64_t unit = 0; unit < 2; ++unit) {
        units[row][i][unit] =
            1 + int64_t(random.below(uint64_t(row * 1000 + i * 10 + unit), kUnits - 1));
        shares[row][i][unit] = 1.0 / double(1 + (i + unit) % 3);
      }
  return {{{"units", units}, {"shares", shares}}, rows};
}

}  // namespace

/// A bag with answers of this kind.
static ExportCase words_case(const std::string& name, AnswerKind kind) {
  const int64_t outputs = kind == AnswerKind::Number ? 1 : kClasses;
  const auto model =
      std::make_shared<Words>(WordsOptions(), WordsShape{kUnits, outputs, {}, {}, kind});
  randomise(*model, 12);
  const auto answers = [model](int64_t rows, int64_t length) -> Json {
    torch::NoGradGuard no_gradients;
    const Batch batch = bags(rows, length);
    Tap tap;
    const Predictions predictions = model->predict(batch);
    model->replay(batch, predictions, &tap);
    return {
        {"inputs",
         {{"units", tensor_json(batch.at("units"))}, {"shares", tensor_json(batch.at("shares"))}}},
        {"outputs",
         {{model->kind() == AnswerKind::Number ? "value" : "probabilities",
           tensor_json(model->kind() == AnswerKind::Number ? predictions.values
                                                           : predictions.scores)},
          {"attention",
           tensor_json(tap.map("words").weights.squeeze(1).squeeze(1).contiguous())}}}};
  };
  return {name, [model](const ExportOptions& chosen) { return export_model(*model, chosen); },
          answers};
}

std::vector<ExportCase> words_cases() {
  return {words_case("words", AnswerKind::Class), words_case("words-labels", AnswerKind::Labels),
          words_case("words-number", AnswerKind::Number)};
}

}  // namespace fovea::testing
