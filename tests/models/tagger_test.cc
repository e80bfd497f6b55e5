// What the taggers must do: BERT, BERT in windows, and the BiLSTM with and without letters, and
// with features and a linear chain of tags.
#include "fovea/models/tagger.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/models/bert_tagger.h"
#include "fovea/models/lstm_tagger.h"
#include "tests/models/contract.h"
#include "tests/models/token_batch.h"

namespace fovea::tagger_test {
namespace {

using namespace testing;  // contract.h, token_batch.h

const std::vector<std::string> kNames = {"O", "B-a", "I-a", "B-b", "I-b"};

BertTaggerOptions small_bert() {
  BertTaggerOptions options;
  options.encoder = small_bert_encoder();
  return options;
}

LstmTaggerOptions small_lstm() {
  LstmTaggerOptions options;
  options.embedding = 6, options.letter_embedding = 3, options.letter_filters = 4;
  options.hidden = 4, options.heads = 2;
  options.dropout = options.word_dropout = 0;
  return options;
}

struct Case {
  std::string name;
  std::string axis;
  std::function<std::shared_ptr<Tagger>(TagRules)> make;
};

std::shared_ptr<Tagger> make_lstm(const LstmTaggerOptions& options, TagRules rules) {
  return std::make_shared<LstmTagger>(options, LstmTaggerShape{kPieces, 6, 1, kPieces},
                                      std::move(rules));
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
  all.push_back({"lstm_vectors", "words", [](TagRules rules) {
                   LstmTaggerShape shape{kPieces, 6, 1, kPieces};
                   shape.vectors = kPieces, shape.vector_size = 5;
                   return std::make_shared<LstmTagger>(small_lstm(), shape, rules);
                 }});
  all.push_back({"lstm_chain", "words", [](TagRules rules) {
                   LstmTaggerOptions options = small_lstm();
                   options.crf = options.features = true;
                   options.feature_dropout = 0;
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
  batch.tensors["features"] = batch.at("words").unsqueeze(-1);
  batch.tensors["vectors"] = batch.at("words");
  return batch;
}

class TaggerContract : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<Tagger> fresh(uint64_t seed = 1, bool entities = true) {
    return initialised(GetParam().make(entities ? iob_rules(kNames) : free_rules(kTags)), seed, 3);
  }
  Batch batch(int64_t rows, int64_t extra = 0) { return batch_for(GetParam(), rows, 7, extra); }
};

TEST_P(TaggerContract, FitsItsSchemaAndSummary) {
  expect_schema_and_seeds(batch(4), [&](uint64_t seed) { return fresh(seed); });
}

TEST_P(TaggerContract, ALowerScoreOfATagGivesItToFewerWords) {
  auto model = fresh();
  const Batch rows = batch(6);
  const std::vector<double> shifts{-100, 0, 0.5, 100};
  const std::vector<Predictions> all = model->predict_shifted(rows, 0, shifts);
  ASSERT_EQ(all.size(), shifts.size());
  const auto tags = [](const Predictions& predictions) {
    std::vector<int64_t> chosen;
    for (const auto& row : predictions.outputs)
      chosen.insert(chosen.end(), row[0].tokens.begin(), row[0].tokens.end());
    return chosen;
  };
  const auto outside = [&](const Predictions& predictions) {
    const std::vector<int64_t> chosen = tags(predictions);
    return std::count(chosen.begin(), chosen.end(), 0);
  };
  EXPECT_EQ(outside(all[0]), int64_t(tags(all[0]).size()));
  EXPECT_EQ(outside(all[3]), 0);
  EXPECT_EQ(tags(all[1]), tags(model->predict(rows)));
  model->shift_tag(0, 0.5);
  EXPECT_EQ(tags(all[2]), tags(model->predict(rows)));
}

TEST_P(TaggerContract, OverfitsEightExamples) {
  auto model = fresh(1, false);
  const Batch rows = batch(8);
  expect_overfits(*model, rows, {0.3, 0.02}, [&] { return model->negative_log_likelihood(rows); });
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
  EXPECT_NEAR(loss_of(*model, padded), loss.objective.item<double>(), 1e-5);
}

TEST_P(TaggerContract, RecordsMapsAndNothingOnPadding) {
  auto model = fresh();
  const Batch rows = batch(6);
  Tap tap;
  model->replay(rows, model->predict(rows), &tap);
  ASSERT_EQ(tap.maps().size(), GetParam().axis == "tokens" ? 2u : 1u);
  const int64_t window = GetParam().name == "bert_in_windows" ? 3 : 100;
  const at::Tensor keep = pairs_in_windows(rows.at(GetParam().axis + ".keep"), window);
  for (const AttentionMap& map : tap.maps()) {
    EXPECT_EQ(map.query_axis, GetParam().axis);
    EXPECT_EQ(map.key_axis, GetParam().axis);
    EXPECT_EQ(check_map(map, keep), "") << map.layer;
  }
}

TEST_P(TaggerContract, AReplacedMapChangesTheOutput) {
  auto model = fresh();
  const Batch rows = batch(5);
  expect_replaced_map_counts(*model, rows, model->predict(rows), "attention");
}

TEST_P(TaggerContract, GradientsReachEveryUnit) {
  auto model = fresh();
  const Batch rows = batch(5);
  const at::Tensor leaf = expect_leaf(*model, rows, model->predict(rows), GetParam().axis);
  EXPECT_EQ(leaf.size(1), rows.at(GetParam().axis + ".keep").size(1));
}

TEST_P(TaggerContract, RowsDoNotMatter) {
  auto model = fresh();
  const Batch rows = batch(6);
  expect_rows_alone(*model, rows, model->predict(rows));
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

void expect_equal_to(const Json& reference, const Json& parameters, Tagger& model,
                     const Batch& batch) {
  take_parameters(model, parameters);
  const Loss loss = model.loss(batch, {Random(1), 0});
  EXPECT_NEAR(loss.objective.item<double>(), reference["loss"].get<double>(), 1e-10);
  const at::Tensor wanted =
      packed(reference["logits"]).log_softmax(1).amax(1).sum();  // free rules: the largest
  double found = 0;
  for (const auto& outputs : model.predict(batch).outputs) found += outputs[0].log_probability;
  EXPECT_NEAR(found, wanted.item<double>(), 1e-5);
  loss.objective.backward();
  expect_gradients_of(model, reference["gradients"]);
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
  expect_loss_by_stream(model, rows);
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

TEST(LstmTagger, RareWordsAreTakenForUnknown) {
  LstmTaggerOptions options = small_lstm();
  options.letters = "none";
  options.rare_word_dropout = 1e12;  // all that training has
  LstmTaggerShape shape{kPieces, 6, 1, kPieces};
  shape.word_counts.assign(size_t(kPieces), 1);
  LstmTagger model(options, shape, free_rules(kTags));
  model.initialise(Random(1));
  Batch rows = batch_for(cases()[3], 4);
  const StepContext context{Random(7)};
  const double hidden = model.loss(rows, context).objective.item<double>();
  EXPECT_NE(hidden,
            model.negative_log_likelihood(rows) / rows.at("words.keep").sum().item<double>());
  const at::Tensor words = rows.at("words");
  rows.tensors["words"] = at::where(words == 0, words, torch::ones_like(words));
  EXPECT_EQ(model.loss(rows, context).objective.item<double>(), hidden) << "words were seen";
}

TEST(LstmTagger, VectorsOfTextsAreNoParameters) {
  LstmTaggerShape shape{kPieces, 6, 1, kPieces};
  shape.vectors = 3, shape.vector_size = 5;
  LstmTagger model(small_lstm(), shape, free_rules(kTags));
  model.initialise(Random(1));
  EXPECT_FALSE(model.named_parameters().contains("vectors"));
  const at::Tensor vectors = torch::arange(15.).view({3, 5});
  model.take_vectors(vectors);
  EXPECT_TRUE(model.named_buffers()["vectors"].equal(vectors));
  EXPECT_THROW(model.take_vectors(vectors.t()), Error);
}

}  // namespace
}  // namespace fovea::tagger_test
