// What every model must do that reads one sequence and writes another.
#include "tests/models/sequence_contract.h"

#include "tests/models/contract.h"

namespace fovea::testing {

SequenceShape text_shape(bool shared) {
  SequenceShape shape;
  shape.source_symbols = shared ? kTarget : kSource;
  shape.target_symbols = kTarget;
  shape.shared_vocabulary = shared;
  return shape;
}

Predictions predictions_of(const at::Tensor& target) {
  Predictions predictions;
  for (int64_t row = 0; row < target.size(0); ++row) {
    const at::Tensor real = target[row].masked_select(target[row] != 0).contiguous();
    predictions.outputs.push_back(
        {{{real.data_ptr<int64_t>(), real.data_ptr<int64_t>() + real.numel()}, 0, ""}});
  }
  return predictions;
}

void expect_golden_sequences(Model& model, const Batch& rows, const Json& golden) {
  take_parameters(model, golden["parameters"]);
  expect_loss_of(model, rows, golden);
  Tap tap;
  const at::Tensor logs = model.replay(rows, predictions_of(rows.at("target")), &tap);
  for (int64_t row = 0; row < rows.size; ++row) {
    const at::Tensor wanted = packed(golden["log_probabilities"][size_t(row)]);
    EXPECT_LT(largest_difference(logs[row].narrow(0, 0, wanted.size(0)), wanted), 1e-10);
    if (golden["weights"].empty()) continue;  // it attends to nothing
    const at::Tensor weights = packed(golden["weights"][size_t(row)]);
    const at::Tensor found = tap.map("attention").weights[row][0].narrow(0, 0, weights.size(0));
    const int64_t padding = found.size(1) - weights.size(1);
    ASSERT_GE(padding, 0);
    EXPECT_LT(largest_difference(found, at::constant_pad_nd(weights, {0, padding})), 1e-10);
  }
}

namespace {

Batch number_batch(int64_t rows) {
  const auto source = Random(6).normal_tensor({rows, 5, 2}, 0, 1, torch::kFloat);
  return {{{"source", source},
           {"source.keep", torch::ones({rows, 5}, torch::kBool)},
           {"target", source.narrow(1, 1, 3).narrow(2, 0, 1).contiguous()},
           {"target.keep", torch::ones({rows, 3}, torch::kBool)}},
          rows};
}

}  // namespace

std::shared_ptr<SequenceModel> SequenceContract::fresh(uint64_t seed, SearchOptions search) const {
  search.maximum_length = 9;
  auto model = GetParam().make(search);
  model->initialise(Random(seed));
  return model;
}

Batch SequenceContract::batch(int64_t rows) const {
  return GetParam().numbers ? number_batch(rows) : text_batch(rows);
}

Predictions SequenceContract::predictions(const SequenceModel& model, const Batch& rows) const {
  return GetParam().numbers ? model.predict(rows) : predictions_of(rows.at("target"));
}

TEST_P(SequenceContract, FitsItsSchemaAndSummary) {
  expect_schema_and_seeds(batch(4), [&](uint64_t seed) { return fresh(seed); });
}

TEST_P(SequenceContract, OverfitsEightExamples) {
  auto model = fresh();
  const Batch rows = batch(8);
  expect_overfits(*model, rows, {0.5, GetParam().rate}, [&] {
    return GetParam().numbers ? loss_of(*model, rows) : model->negative_log_likelihood(rows).first;
  });
}

TEST_P(SequenceContract, ReplayEqualsPredict) {
  for (const std::string method : {"greedy", "beam"}) {  // beams re-order what a decoder keeps
    if (method == "beam" && (GetParam().numbers || GetParam().feeds_itself)) continue;
    SearchOptions search;
    search.method = method;
    search.beam = 3;
    search.length_penalty = 0;
    auto model = fresh(1, search);
    const Batch rows = batch(20);
    const Predictions found = model->predict(rows);
    Tap tap;
    torch::NoGradGuard no_gradients;
    const at::Tensor replayed = model->replay(rows, found, &tap);
    if (GetParam().numbers) {
      EXPECT_LT(largest_difference(replayed, found.values), 1e-5);
      continue;
    }
    for (int64_t row = 0; row < 20; ++row)
      EXPECT_NEAR(replayed[row].sum().item<double>(), found.outputs[size_t(row)][0].log_probability,
                  1e-4)
          << method;
  }
}

TEST_P(SequenceContract, RecordsItsMapsAndNothingOnPadding) {
  auto model = fresh();
  const Batch rows = batch(6);
  Tap tap;
  model->replay(rows, predictions(*model, rows), &tap);
  EXPECT_EQ(tap.maps().size(), GetParam().maps.empty() ? 0 : GetParam().layers);
  const at::Tensor sources = rows.at("source.keep");
  for (const AttentionMap& map : tap.maps()) {
    EXPECT_NE(std::find(GetParam().maps.begin(), GetParam().maps.end(), map.name),
              GetParam().maps.end())
        << map.name;
    if (map.key_axis != "source") continue;
    at::Tensor keep = sources.unsqueeze(1).expand({6, map.weights.size(2), map.weights.size(3)});
    if (map.query_axis == "source") keep = keep & sources.unsqueeze(2);
    EXPECT_EQ(check_map(map, keep), "") << map.name << " " << map.layer;
  }
}

TEST_P(SequenceContract, AReplacedMapChangesTheOutput) {
  auto model = fresh();
  const Batch rows = batch(5);
  for (const std::string& map : GetParam().maps)
    expect_replaced_map_counts(*model, rows, predictions(*model, rows), map);
}

TEST_P(SequenceContract, GradientsReachTheSourceLeaf) {
  auto model = fresh();
  const Batch rows = batch(5);
  expect_leaf(*model, rows, predictions(*model, rows), "source");
}

TEST_P(SequenceContract, RowsAndPaddingDoNotMatter) {
  if (GetParam().numbers) return;
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = text_batch(6), padded = text_batch(6, 3);
  EXPECT_NEAR(loss_of(*model, padded), loss_of(*model, rows), 1e-5);
  const Predictions together = model->predict(rows), wide = model->predict(padded);
  for (int64_t row = 0; row < 6; ++row) {
    const auto& expected = together.outputs[size_t(row)][0];
    EXPECT_EQ(model->predict(row_of(rows, row)).outputs[0][0].tokens, expected.tokens);
    EXPECT_EQ(wide.outputs[size_t(row)][0].tokens, expected.tokens);
  }
}

TEST_P(SequenceContract, BeamOfOneIsGreedy) {
  if (GetParam().numbers || GetParam().feeds_itself) return;
  SearchOptions beam;
  beam.method = "beam";
  beam.beam = 1;
  const Batch rows = text_batch(6);
  const Predictions greedy = fresh()->predict(rows), narrow = fresh(1, beam)->predict(rows);
  for (size_t row = 0; row < 6; ++row)
    EXPECT_EQ(greedy.outputs[row][0].tokens, narrow.outputs[row][0].tokens);
}

TEST_P(SequenceContract, AnEmptySourceGivesAnEmptyOutput) {
  if (GetParam().numbers) return;
  Batch rows = text_batch(3);
  rows.tensors["source"] = rows.at("source").clone();
  rows.tensors["source"][1].zero_();
  rows.tensors["source.keep"] = rows.at("source") != 0;
  auto model = fresh();
  const Predictions found = model->predict(rows);
  EXPECT_TRUE(found.outputs[1][0].tokens.empty());
  Tap tap;
  EXPECT_TRUE(model->replay(rows, found, &tap).isfinite().all().item<bool>());
  model->loss(rows, {Random(1), 0}).objective.backward();
  expect_gradients(*model);
}

}  // namespace fovea::testing
