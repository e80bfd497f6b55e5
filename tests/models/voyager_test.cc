#include "fovea/models/voyager.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/models/contract.h"
#include "tests/support/gradient_check.h"

namespace fovea::voyager_test {
namespace {

using namespace testing;  // contract.h

constexpr int64_t kPages = 9, kPcs = 4, kAccesses = 6;

VoyagerOptions small(const std::string& history = "last") {
  VoyagerOptions options;
  options.page = 6;
  options.experts = 3;
  options.pc = 3;
  options.hidden = 8;
  options.history = history;
  options.dropout = 0;
  options.degree = 3;
  return options;
}

std::shared_ptr<Voyager> fresh(const VoyagerOptions& options = small(), uint64_t seed = 1) {
  auto model = std::make_shared<Voyager>(options, VoyagerShape{kPages, kPcs});
  model->initialise(Random(seed));
  return model;
}

at::Tensor draw(const char* name, int64_t rows, int64_t bound) {
  return Random(5)
      .split(name)
      .uniform_tensor({rows, kAccesses}, 0, double(bound), at::kDouble)
      .floor()
      .to(at::kLong);
}

Batch windows(int64_t rows) {
  return {{{"pages", draw("pages", rows, kPages)},
           {"offsets", draw("offsets", rows, 65)},
           {"pcs", draw("pcs", rows, kPcs)},
           {"target_pages", draw("target pages", rows, kPages)},
           {"target_offsets", draw("target offsets", rows, 64)}},
          rows};
}

TEST(Voyager, EqualsPyTorch) {
  const Json reference = golden("voyager");
  const Json& sizes = reference["sizes"];
  Batch batch{{}, int64_t(reference["inputs"]["pages"].size())};
  for (const auto& [name, values] : reference["inputs"].items())
    batch.tensors[name] = tensor_of(values, at::kLong);
  for (const Json& own : reference["cases"]) {
    VoyagerOptions options;
    options.page = sizes["page"].get<int64_t>();
    options.experts = sizes["experts"].get<int64_t>();
    options.pc = sizes["pc"].get<int64_t>();
    options.hidden = sizes["hidden"].get<int64_t>();
    options.layers = own["layers"].get<int64_t>();
    options.history = own["history"].get<std::string>();
    options.targets = own["targets"].get<std::string>();
    options.dropout = 0;
    SCOPED_TRACE(options.history + " " + options.targets);
    Voyager model(options, {sizes["pages"].get<int64_t>(), sizes["pcs"].get<int64_t>()});
    take_parameters(model, own["parameters"]);
    expect_loss_of(model, batch, own);
    const Predictions predictions = model.predict(batch);
    Tap tap;
    const at::Tensor replayed = model.replay(batch, predictions, &tap);  // [B, 2]
    EXPECT_LT(largest_difference(replayed, packed(own["best"])), 1e-10);
    for (int64_t row = 0; row < batch.size; ++row)
      EXPECT_NEAR(predictions.outputs[size_t(row)][0].log_probability,
                  replayed[row].sum().item<double>(), 1e-10);
    EXPECT_LT(largest_difference(tap.map("experts").weights.squeeze(1), packed(own["experts"])),
              1e-12);
    if (options.history == "attention") {
      EXPECT_LT(largest_difference(tap.map("history").weights.squeeze(1), packed(own["looked"])),
                1e-12);
    }
  }
}

TEST(Voyager, FitsItsSchemaAndSummary) {
  for (const char* history : {"last", "attention"})
    expect_schema_and_seeds(windows(4), [&](uint64_t seed) { return fresh(small(history), seed); });
}

TEST(Voyager, GradientsAreSlopes) {
  for (const char* history : {"last", "attention"}) {
    SCOPED_TRACE(history);
    expect_slopes(*fresh(small(history)), windows(3), 1e-6);
  }
}

TEST(Voyager, OverfitsEightWindows) {
  for (const char* targets : {"every", "last"}) {
    VoyagerOptions options = small("attention");
    options.hidden = 32;
    options.targets = targets;
    const auto model = fresh(options);
    const Batch rows = windows(8);
    overfit(*model, rows, 0.02);
    EXPECT_LT(loss_of(*model, rows), 0.5) << targets;
    const Predictions predictions = model->predict(rows);
    for (int64_t row = 0; row < 8; ++row) {
      const Decoded& best = predictions.outputs[size_t(row)][0];
      EXPECT_EQ(best.tokens[0], rows.at("target_pages")[row][kAccesses - 1].item<int64_t>());
      EXPECT_EQ(best.tokens[1], rows.at("target_offsets")[row][kAccesses - 1].item<int64_t>());
    }
  }
}

TEST(Voyager, NamesTheLikeliestPairs) {
  VoyagerOptions options = small();
  options.degree = 20;  // more than there are pages
  const auto model = fresh(options);
  const Batch rows = windows(4);
  const Predictions predictions = model->predict(rows);
  for (int64_t row = 0; row < rows.size; ++row) {
    const std::vector<Decoded>& outputs = predictions.outputs[size_t(row)];
    ASSERT_EQ(outputs.size(), 20u);
    std::set<std::vector<int64_t>> different;
    for (size_t k = 0; k < outputs.size(); ++k) {
      different.insert(outputs[k].tokens);
      EXPECT_LE(outputs[k].log_probability, outputs[k > 0 ? k - 1 : 0].log_probability);
      // What it says of a pair is what a replay of that pair gives.
      Predictions one;
      one.outputs = {{outputs[k]}};
      const at::Tensor replayed = model->replay(row_of(rows, row), one, nullptr);
      EXPECT_NEAR(replayed.sum().item<double>(), outputs[k].log_probability, 1e-4);
    }
    EXPECT_EQ(different.size(), 20u);
  }
}

TEST(Voyager, MapsAreWhatTheyClaim) {
  const auto model = fresh(small("attention"));
  const Batch rows = windows(5);
  const Predictions predictions = model->predict(rows);
  Tap tap;
  model->replay(rows, predictions, &tap);
  ASSERT_EQ(tap.maps().size(), 2u);
  for (const AttentionMap& map : tap.maps()) EXPECT_EQ(check_map(map), "") << map.name;
  EXPECT_EQ(tap.map("experts").weights.sizes(), at::IntArrayRef({5, 1, kAccesses, 3}));
  EXPECT_EQ(tap.map("history").weights.sizes(), at::IntArrayRef({5, 1, 2, kAccesses}));
  expect_replaced_map_counts(*model, rows, predictions, "experts");
  expect_replaced_map_counts(*model, rows, predictions, "history");
  EXPECT_EQ(expect_leaf(*model, rows, predictions, "accesses").sizes(),
            at::IntArrayRef({5, kAccesses, 3 + 2 * 6}));
}

TEST(Voyager, ExpertsThatAreNotThereTakeNoPart) {
  const auto model = fresh();
  Batch rows = windows(4);
  const Predictions predictions = model->predict(rows);
  Tap all, some, none;
  const at::Tensor before = model->replay(rows, predictions, &all);
  rows.tensors["experts"] = at::ones({4, 3}, at::kBool);
  EXPECT_LT(largest_difference(model->replay(rows, predictions, nullptr), before), 1e-6);
  rows.tensors["experts"].select(1, 1).fill_(false);
  EXPECT_GT(largest_difference(model->replay(rows, predictions, &some), before), 1e-5);
  const at::Tensor left = some.map("experts").weights;
  EXPECT_EQ(left.select(-1, 1).abs().sum().item<double>(), 0);
  EXPECT_LT(largest_difference(left.sum(-1), at::ones({4, 1, kAccesses})), 1e-5);
  rows.tensors["experts"].fill_(false);
  EXPECT_TRUE(all_finite(model->replay(rows, predictions, &none)));
  EXPECT_EQ(none.map("experts").weights.sum().item<double>(), 0);
}

TEST(Voyager, AnAccessDoesNotSeeWhatComesAfterIt) {
  // With every access as a target, what stands behind one must not reach its loss.
  VoyagerOptions options = small("attention");
  const auto model = fresh(options);
  Batch rows = windows(4);
  rows.tensors["target_pages"].narrow(1, 3, 3).fill_(-100);
  rows.tensors["target_offsets"].narrow(1, 3, 3).fill_(-100);
  const double before = loss_of(*model, rows);
  for (const char* name : {"pages", "offsets", "pcs"}) rows.tensors[name].narrow(1, 3, 3).fill_(1);
  EXPECT_DOUBLE_EQ(loss_of(*model, rows), before);
  rows.tensors["pages"].narrow(1, 2, 1).fill_(1);
  EXPECT_NE(loss_of(*model, rows), before);
}

TEST(Voyager, RowsDoNotSeeEachOther) {
  const auto model = fresh(small("attention"));
  const Batch rows = windows(4);
  const Predictions together = model->predict(rows);
  for (int64_t row = 0; row < 4; ++row) {
    const Predictions alone = model->predict(row_of(rows, row));
    EXPECT_EQ(alone.outputs[0][0].tokens, together.outputs[size_t(row)][0].tokens);
    EXPECT_NEAR(alone.outputs[0][0].log_probability,
                together.outputs[size_t(row)][0].log_probability, 1e-5);
  }
}

TEST(Voyager, DropoutDependsOnTheStepAlone) {
  VoyagerOptions options = small();
  options.dropout = 0.3;
  const auto model = fresh(options);
  const Batch rows = windows(4);
  expect_loss_by_stream(*model, rows);
}

}  // namespace
}  // namespace fovea::voyager_test
