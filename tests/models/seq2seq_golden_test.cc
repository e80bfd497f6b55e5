// The recurrent networks and whole sequence-to-sequence models, those of the papers, against
// PyTorch: outputs, loss, and every gradient, in double precision.
#include <gtest/gtest.h>

#include "fovea/models/seq2seq.h"
#include "tests/support/golden.h"

namespace fovea::seq2seq_golden_test {
namespace {

using namespace testing;

void expect_gradients(const torch::nn::Module& module, const Json& gradients) {
  for (const auto& item : module.named_parameters())
    EXPECT_LT(largest_difference(item.value().grad(), packed(gradients.at(item.key()))), 1e-10)
        << item.key();
}

class RecurrentGolden : public ::testing::TestWithParam<int> {};

TEST_P(RecurrentGolden, AgreesWithPyTorch) {
  const Json reference = golden("seq2seq")["recurrent"][size_t(GetParam())];
  Recurrent network({reference["cell"], 3, 4, 2, true, 0});
  network.to(at::kDouble);
  set_parameters(network, reference["parameters"]);
  const at::Tensor x = packed(reference["x"]).requires_grad_();
  const at::Tensor lengths = tensor_of(reference["lengths"], at::kLong);
  const RecurrentOutput result = network.run(x, lengths, {}, {});
  EXPECT_LT(largest_difference(result.outputs, packed(reference["outputs"])), 1e-12);
  const at::Tensor hidden = at::stack(result.state.hidden);
  EXPECT_LT(largest_difference(hidden, packed(reference["hidden"])), 1e-12);
  const Json& coefficients = reference["coefficients"];
  at::Tensor loss =
      (result.outputs * packed(coefficients[0])).sum() + (hidden * packed(coefficients[1])).sum();
  if (!result.state.cell.empty()) {
    const at::Tensor cell = at::stack(result.state.cell);
    EXPECT_LT(largest_difference(cell, packed(reference["memory"])), 1e-12);
    loss = loss + (cell * packed(coefficients[2])).sum();
  }
  loss.backward();
  EXPECT_LT(largest_difference(x.grad(), packed(reference["input_gradient"])), 1e-10);
  expect_gradients(network, reference["gradients"]);
}

INSTANTIATE_TEST_SUITE_P(Cells, RecurrentGolden, ::testing::Range(0, 3));

Seq2SeqOptions options_of(const std::string& name) {
  Seq2SeqOptions options;
  options.hidden = 4;
  options.embedding = 3;
  options.label_smoothing = 0.1;
  if (name == "bahdanau") {
    options.decoder = "bahdanau";
    options.bridge = "backward";
    options.readout = "maxout";
    options.readout_from = "previous";
    options.readout_size = 3;
    options.score.name = "additive";
    options.score.hidden_size = 5;
  } else if (name == "luong") {
    options.cell = "lstm";
    options.input_feeding = true;
    options.score.name = "general";
  } else if (name == "cho") {
    options.attention = "none", options.bidirectional = false, options.reset = "before";
    options.summary_gated = true, options.bridge = "summary";
    options.readout = "maxout", options.readout_size = 3, options.output_rank = 2;
  } else if (name == "sutskever") {
    options.attention = "none", options.bidirectional = false, options.reverse_source = true;
    options.cell = "lstm", options.layers = 2, options.summary = false;
    options.bridge = "copy", options.readout = "state";
  } else {
    options.one_hot = true, options.encoder_cell = "lstm", options.encoder_hidden = 2;
    options.reset = "before", options.bridge = "first", options.feedback = "own";
    options.decoder = "bahdanau", options.readout = "linear", options.readout_from = "previous";
    options.score.name = "additive", options.score.bias = true, options.score.hidden_size = 5;
  }
  return options;
}

class Seq2SeqGolden : public ::testing::TestWithParam<int> {};

TEST_P(Seq2SeqGolden, LossAndGradientsAgreeWithPyTorch) {
  const Json all = golden("seq2seq");
  const Json& reference = all["models"][size_t(GetParam())];
  SequenceShape shape;
  shape.source_symbols = 8;
  shape.target_symbols = 7;
  Seq2Seq model(options_of(reference["name"]), {}, shape);
  model.to(at::kDouble);
  set_parameters(model, reference["parameters"]);
  const at::Tensor target = tensor_of(all["target"], at::kLong);
  Batch batch{{{"source", tensor_of(all["source"], at::kLong)},
               {"source.keep", tensor_of(all["keep"], at::kBool)},
               {"target", target},
               {"target.keep", target != 0}},
              2};
  const Loss loss = model.loss(batch, {Random(1), 0});
  EXPECT_NEAR(loss.objective.item<double>(), reference["loss"].get<double>(), 1e-12);
  EXPECT_EQ(loss.units.item<int64_t>(), 6);
  loss.objective.backward();
  expect_gradients(model, reference["gradients"]);
}

INSTANTIATE_TEST_SUITE_P(Models, Seq2SeqGolden, ::testing::Range(0, 5));

}  // namespace
}  // namespace fovea::seq2seq_golden_test
