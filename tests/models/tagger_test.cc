// What the taggers must do: BERT, BERT in windows, and the BiLSTM with and without letters.
#include "fovea/models/tagger.h"

#include <gtest/gtest.h>

#include "fovea/core/error.h"
#include "fovea/models/bert_tagger.h"
#include "fovea/models/lstm_tagger.h"
#include "tests/models/token_batch.h"
#include "tests/support/golden.h"

namespace fovea {
namespace {

using testing::golden;
using testing::kPieces;
using testing::kTags;
using testing::largest_difference;
using testing::tensor_of;
using testing::word_batch;

const std::vector<std::string> kNames = {"O", "B-a", "I-a", "B-b", "I-b"};

BertTaggerOptions small_bert() {
  BertTaggerOptions options;
  options.encoder.layers = 2;
  options.encoder.hidden = 8;
  options.encoder.heads = 2;
  options.encoder.feed_forward = 12;
  options.encoder.maximum_length = 16;
  options.encoder.dropout = options.encoder.attention_dropout = 0;
  return options;
}

LstmTaggerOptions small_lstm() {
  LstmTaggerOptions options;
  options.embedding = 6;
  options.letter_embedding = 3;
  options.letter_filters = 4;
  options.hidden = 4;
  options.heads = 2;
  options.dropout = options.word_dropout = 0;
  return options;
}

struct Case {
  std::string name;
  std::string axis;
  std::function<std::shared_ptr<Tagger>(TagRules)> make;
};

std::shared_ptr<Tagger> make_lstm(const LstmTaggerOptions& options, TagRules rules) {
  return std::make_shared<LstmTagger>(options, LstmTaggerShape{kPieces, 6, 1}, std::move(rules));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int64_t window : {16, 3})
    all.push_back({window == 3 ? "bert_in_windows" : "bert", "tokens", [window](TagRules rules) {
                     return std::make_shared<BertTagger>(small_bert(), kPieces, window, rules);
                   }});
  all.push_back({"lstm", "words", [](TagRules rules) { return make_lstm(small_lstm(), rules); }});
  all.push_back({"lstm_without_letters", "words", [](TagRules rules) {
                   LstmTaggerOptions options = small_lstm();
                   options.letters = "none";
                   options.layers = 2;
                   return make_lstm(options, rules);
                 }});
  return all;
}

/// BERT reads where words begin, the other one their numbers.
Batch batch_for(const Case& one, int64_t rows, int64_t longest = 7, int64_t extra = 0) {
  Batch batch = word_batch(rows, longest, extra);
  const int64_t words = batch.at("words.keep").size(1);
  if (one.axis == "tokens")
    batch.tensors["words"] = torch::arange(1, words + 1).expand({rows, words}).contiguous();
  else
    batch.tensors["words"] = batch.at("tokens").narrow(1, 1, words).contiguous();
  return batch;
}

class TaggerContract : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<Tagger> fresh(uint64_t seed = 1, bool entities = true) {
    auto model = GetParam().make(entities ? iob_rules(kNames) : free_rules(kTags));
    model->initialise(Random(seed));
    torch::NoGradGuard no_gradients;  // fresh weights are small: larger ones tell paths apart
    for (auto& parameter : model->parameters()) parameter.mul_(3);
    return model;
  }
  Batch batch(int64_t rows, int64_t extra = 0) { return batch_for(GetParam(), rows, 7, extra); }
};

TEST_P(TaggerContract, FitsItsSchemaAndSummary) {
  auto model = fresh();
  check_batch(batch(4), model->schema());
  int64_t summed = 0;
  for (const auto& layer : model->summary()) summed += layer.parameters;
  EXPECT_EQ(summed, count_parameters(*model));
  EXPECT_TRUE(flat_parameters(*model).equal(flat_parameters(*fresh(1))));
  EXPECT_FALSE(flat_parameters(*model).equal(flat_parameters(*fresh(2))));
}

TEST_P(TaggerContract, OverfitsEightExamples) {
  auto model = fresh(1, false);
  const Batch rows = batch(8);
  torch::optim::Adam optimiser(model->parameters(), torch::optim::AdamOptions(0.02));
  const double before = model->negative_log_likelihood(rows);
  for (int step = 0; step < 150; ++step) {
    optimiser.zero_grad();
    model->loss(rows, {Random(1), step}).objective.backward();
    for (const auto& item : model->named_parameters()) {
      if (model->rule_of(item.key()).rate == 0) continue;
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      ASSERT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
    }
    optimiser.step();
  }
  EXPECT_LT(model->negative_log_likelihood(rows), 0.3 * before);
}

TEST_P(TaggerContract, ReplayEqualsPredictAndTagsAreAllowed) {
  for (const bool entities : {true, false}) {
    auto model = fresh(2, entities);
    torch::NoGradGuard no_gradients;
    const Batch rows = batch(20);
    const Predictions predictions = model->predict(rows);
    Tap tap;
    const at::Tensor replayed = model->replay(rows, predictions, &tap);  // [B, W]
    EXPECT_EQ(replayed.masked_select(~rows.at("words.keep")).abs().sum().item<float>(), 0);
    const at::Tensor words = rows.at("words.keep").sum(1);
    for (int64_t row = 0; row < 20; ++row) {
      const Decoded& output = predictions.outputs[size_t(row)].at(0);
      EXPECT_EQ(int64_t(output.tokens.size()), words[row].item<int64_t>());
      EXPECT_NEAR(replayed[row].sum().item<double>(), output.log_probability, 1e-4);
      std::string before = "O";
      for (const int64_t tag : output.tokens) {
        const std::string now = kNames.at(size_t(tag));
        if (entities && now[0] == 'I') {
          EXPECT_TRUE(before != "O" && before.substr(2) == now.substr(2)) << before << " " << now;
        }
        before = now;
      }
    }
  }
}

TEST_P(TaggerContract, LossIsTheMeanOverRealWords) {
  auto model = fresh();
  const Batch rows = batch(6), padded = batch(6, 3);
  const Loss loss = model->loss(rows, {Random(1), 0});
  const double words = rows.at("words.keep").sum().item<double>();
  EXPECT_EQ(loss.units.item<double>(), words);
  EXPECT_NEAR(loss.objective.item<double>(), model->negative_log_likelihood(rows) / words, 1e-5);
  EXPECT_NEAR(model->loss(padded, {Random(1), 0}).objective.item<double>(),
              loss.objective.item<double>(), 1e-5);
}

TEST_P(TaggerContract, RecordsMapsAndNothingOnPadding) {
  auto model = fresh();
  const Batch rows = batch(6);
  Tap tap;
  model->replay(rows, model->predict(rows), &tap);
  ASSERT_EQ(tap.maps().size(), GetParam().axis == "tokens" ? 2u : 1u);
  const at::Tensor real = rows.at(GetParam().axis + ".keep");
  const int64_t window = GetParam().name == "bert_in_windows" ? 3 : 100;
  const at::Tensor place = torch::arange(real.size(1)).floor_divide(window);
  const at::Tensor keep = real.unsqueeze(1) & real.unsqueeze(2) &
                          (place.unsqueeze(0) == place.unsqueeze(1)).unsqueeze(0);
  for (const AttentionMap& map : tap.maps()) {
    EXPECT_EQ(map.query_axis, GetParam().axis);
    EXPECT_EQ(map.key_axis, GetParam().axis);
    EXPECT_EQ(check_map(map, keep), "") << map.layer;
  }
}

TEST_P(TaggerContract, AReplacedMapChangesTheOutput) {
  auto model = fresh();
  const Batch rows = batch(5);
  const Predictions predictions = model->predict(rows);
  Tap plain, tap;
  const at::Tensor before = model->replay(rows, predictions, &plain);
  tap.replace("attention", [](const AttentionMap& map) { return map.weights.flip(-1) * 3; });
  EXPECT_GT(largest_difference(model->replay(rows, predictions, &tap), before), 1e-5);
}

TEST_P(TaggerContract, GradientsReachEveryUnit) {
  auto model = fresh();
  const Batch rows = batch(5);
  Tap tap;
  model->replay(rows, model->predict(rows), &tap).sum().backward();
  ASSERT_EQ(tap.leaves().count(GetParam().axis), 1u);
  const at::Tensor& leaf = tap.leaves().at(GetParam().axis).values;
  ASSERT_EQ(leaf.size(1), rows.at(GetParam().axis + ".keep").size(1));
  EXPECT_GT(leaf.grad().abs().sum().item<double>(), 0);
}

TEST_P(TaggerContract, RowsDoNotMatter) {
  auto model = fresh();
  const Batch rows = batch(6);
  const Predictions together = model->predict(rows);
  for (int64_t row = 0; row < 6; ++row) {
    Batch alone;
    alone.size = 1;
    for (const auto& [name, tensor] : rows.tensors) alone.tensors[name] = tensor.narrow(0, row, 1);
    EXPECT_EQ(model->predict(alone).outputs[0][0].tokens, together.outputs[size_t(row)][0].tokens);
  }
}

TEST_P(TaggerContract, ASentenceWithoutWordsHasNoTags) {
  auto model = fresh();
  Batch rows = batch(3);
  at::Tensor keep = rows.at("words.keep").clone();
  keep[1].fill_(false);
  rows.tensors["words.keep"] = keep;
  EXPECT_TRUE(model->predict(rows).outputs[1][0].tokens.empty());
  EXPECT_TRUE(model->loss(rows, {Random(1), 0}).objective.isfinite().item<bool>());
  Batch none = batch(1);  // nothing but such a sentence
  for (auto& [name, tensor] : none.tensors)
    if (name.substr(0, 6) != "tokens") tensor = tensor.narrow(1, 0, 0);
  const Predictions empty = model->predict(none);
  EXPECT_TRUE(empty.outputs[0][0].tokens.empty());
  Tap tap;
  EXPECT_EQ(model->replay(none, empty, &tap).numel(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, TaggerContract, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

at::Tensor packed(const Json& json) {
  return tensor_of(json.at("data"), at::kDouble).view(json.at("shape").get<std::vector<int64_t>>());
}

void expect_equal_to(const Json& reference, const Json& parameters, Tagger& model,
                     const Batch& batch) {
  model.to(at::kDouble);
  for (auto& item : model.named_parameters()) {
    torch::NoGradGuard no_gradients;
    item.value().copy_(packed(parameters.at(item.key())));
  }
  const Loss loss = model.loss(batch, {Random(1), 0});
  EXPECT_NEAR(loss.objective.item<double>(), reference["loss"].get<double>(), 1e-10);
  const at::Tensor wanted =
      packed(reference["logits"]).log_softmax(1).amax(1).sum();  // free rules: the largest
  double found = 0;
  for (const auto& outputs : model.predict(batch).outputs) found += outputs[0].log_probability;
  EXPECT_NEAR(found, wanted.item<double>(), 1e-5);
  loss.objective.backward();
  for (const auto& item : model.named_parameters()) {
    if (model.rule_of(item.key()).rate == 0) continue;
    EXPECT_LT(
        largest_difference(item.value().grad(), packed(reference["gradients"].at(item.key()))),
        1e-9)
        << item.key();
  }
}

TEST(BertTagger, EqualsPyTorch) {
  const Json reference = golden("bert");
  const Json& tagger = reference["tagger"];
  BertTaggerOptions options = small_bert();
  options.encoder.hidden = 4, options.encoder.feed_forward = 5, options.encoder.maximum_length = 6;
  BertTagger model(options, 9, 6, free_rules(3));
  expect_equal_to(tagger, reference["bert_parameters"], model,
                  {{{"tokens", tensor_of(reference["tokens"], at::kLong)},
                    {"tokens.keep", tensor_of(reference["keep"], at::kBool)},
                    {"words", tensor_of(tagger["words"], at::kLong)},
                    {"words.keep", tensor_of(tagger["keep"], at::kBool)},
                    {"target", tensor_of(tagger["tags"], at::kLong)}},
                   3});
}

TEST(LstmTagger, EqualsPyTorch) {
  const Json reference = golden("bert");
  const Json& lstm = reference["lstm"];
  LstmTaggerOptions options = small_lstm();
  options.embedding = 3, options.letter_embedding = 2, options.letter_filters = 4;
  options.hidden = 3;
  LstmTagger model(options, {7, 6, 1}, free_rules(3));
  expect_equal_to(lstm, reference["lstm_parameters"], model,
                  {{{"words", tensor_of(lstm["words"], at::kLong)},
                    {"letters", tensor_of(lstm["letters"], at::kLong)},
                    {"words.keep", tensor_of(lstm["keep"], at::kBool)},
                    {"target", tensor_of(lstm["tags"], at::kLong)}},
                   3});
}

TEST(LstmTagger, SomeWordsAreTakenForUnknown) {
  LstmTaggerOptions options = small_lstm();
  options.word_dropout = 0.5;
  LstmTagger model(options, {kPieces, 6, 1}, iob_rules(kNames));
  model.initialise(Random(1));
  const Batch rows = batch_for(cases()[2], 6);
  const auto loss = [&](uint64_t seed) {
    return model.loss(rows, {Random(seed), 0}).objective.item<double>();
  };
  EXPECT_EQ(loss(3), loss(3));
  EXPECT_NE(loss(3), loss(4));
}

TEST(Taggers, RefuseWhatCannotWork) {
  const auto lstm = [](auto change) {
    LstmTaggerOptions options = small_lstm();
    change(options);
    make_lstm(options, iob_rules(kNames));
  };
  EXPECT_THROW(lstm([](auto& o) { o.heads = 3; }), Error);
  EXPECT_THROW(lstm([](auto& o) { o.letter_width = 2; }), Error);
  EXPECT_THROW(BertTagger(small_bert(), kPieces, 17, iob_rules(kNames)), Error);
  auto model = make_lstm(small_lstm(), iob_rules(kNames));
  const Batch rows = batch_for(cases()[2], 2);
  Predictions wrong = model->predict(rows);
  wrong.outputs[0][0].tokens.pop_back();
  EXPECT_THROW(model->replay(rows, wrong, nullptr), Error);
}

}  // namespace
}  // namespace fovea
