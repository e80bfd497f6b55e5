// What hierarchical attention must do, with every pooling and with other scores than the paper's.
#include "fovea/models/hierarchical.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "tests/models/contract.h"
#include "tests/models/document_batch.h"
#include "tests/support/expect_error.h"

namespace fovea::hierarchical_test {
namespace {

using namespace testing;  // contract.h, document_batch.h

struct Case {
  std::string name, pooling, score;
  bool attends() const { return pooling == "attention"; }
};

const Case kCases[] = {
    {"context", "attention", "context"}, {"additive", "attention", "additive"},
    {"general", "attention", "general"}, {"scaled_dot", "attention", "scaled-dot"},
    {"content", "attention", "content"}, {"location_base", "attention", "location-base"},
    {"average", "average", "context"},   {"max", "max", "context"}};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

HierarchicalOptions small(const std::string& pooling = "attention",
                          const std::string& score = "context") {
  HierarchicalOptions options;
  options.embedding = 6;
  options.hidden = 4;
  options.dropout = 0;
  options.pooling = {pooling, score, 5};
  return options;
}

HierarchicalShape shape() {
  return {kWordsKnown, kDocumentClasses, 12, 12, {}};
}

class HierarchicalContract : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<HierarchicalAttention> fresh(uint64_t seed = 1) {
    return initialised(std::make_shared<HierarchicalAttention>(
                           small(GetParam().pooling, GetParam().score), shape()),
                       seed, 3);
  }
};

TEST_P(HierarchicalContract, FitsItsSchemaAndSummary) {
  expect_schema_and_seeds(nested_batch(4), [&](uint64_t seed) { return fresh(seed); });
}

TEST_P(HierarchicalContract, OverfitsEightExamples) {
  expect_overfits(*fresh(), nested_batch(8), {0.2, 0.02});
}

TEST_P(HierarchicalContract, ReplayEqualsPredict) {
  auto model = fresh();
  const Batch rows = nested_batch(20);
  expect_replay_equals_predict(*model, rows);
}

TEST_P(HierarchicalContract, RecordsBothMapsAndNothingElsewhere) {
  auto model = fresh();
  const Batch rows = nested_batch(6);
  Tap tap;
  model->replay(rows, model->predict(rows), &tap);
  ASSERT_EQ(tap.maps().size(), GetParam().attends() ? 2u : 0u);
  if (!GetParam().attends()) return;
  const AttentionMap &words = tap.map("words"), &sentences = tap.map("sentences");
  EXPECT_EQ(words.query_axis, "sentences");
  EXPECT_EQ(words.key_axis, "words");
  EXPECT_EQ(sentences.query_axis, "document");
  EXPECT_EQ(sentences.key_axis, "sentences");
  EXPECT_EQ(check_map(words, words_of_sentences(rows)), "");
  EXPECT_EQ(check_map(sentences, rows.at("sentences.keep").unsqueeze(1)), "");
  EXPECT_LT(largest_difference(words.weights.sum(-1).squeeze(1),
                               rows.at("sentences.keep").to(torch::kFloat)),
            1e-5)
      << "the words of every sentence share 1";
}

TEST_P(HierarchicalContract, AReplacedMapChangesTheOutput) {
  if (!GetParam().attends()) GTEST_SKIP() << "averages and maxima have no weights to replace";
  auto model = fresh();
  const Batch rows = nested_batch(5);
  for (const char* map : {"words", "sentences"})
    expect_replaced_map_counts(*model, rows, model->predict(rows), map);
}

TEST_P(HierarchicalContract, GradientsReachWordsAndSentences) {
  auto model = fresh();
  const Batch rows = nested_batch(5, 2);
  for (const std::string axis : {"words", "sentences"}) {
    const at::Tensor leaf = expect_leaf(*model, rows, model->predict(rows), axis);  // [B, N, D]
    const at::Tensor reached = leaf.grad().abs().sum(-1) > 0;
    const at::Tensor& keep = rows.at(axis + ".keep");
    EXPECT_EQ((reached & ~keep).sum().item<int64_t>(), 0) << axis << ": no padding";
    if (!GetParam().attends()) continue;
    EXPECT_TRUE(reached.equal(keep)) << axis << ": all that is real";
  }
}

TEST_P(HierarchicalContract, PaddingAndNeighboursDoNotMatter) {
  auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = nested_batch(6), padded = nested_batch(6, 4);
  expect_rows_and_padding_alone(*model, rows, padded);
  const at::Tensor together = model->predict(rows).scores;
  std::vector<Sentences> turned = some_documents(6);
  std::reverse(turned.begin(), turned.end());
  EXPECT_LT(largest_difference(model->predict(documents_batch(turned)).scores, together.flip(0)),
            1e-5);
}

TEST_P(HierarchicalContract, DocumentsWithoutWordsGiveWhatTheBiasSays) {
  auto model = fresh();
  const at::Tensor bias = model->named_parameters()["output.bias"];
  {
    torch::NoGradGuard no_gradients;
    bias.copy_(torch::tensor({0.5, -1.0, 0.25}));
  }
  std::vector<Sentences> documents = some_documents(3);
  documents[1].clear();
  Batch rows = documents_batch(documents);
  rows.tensors["target"] = torch::tensor({0, 1, 2});
  model->loss(rows, {Random(1), 0}).objective.backward();
  expect_gradients(*model);
  const at::Tensor expected = bias.detach().softmax(0);
  EXPECT_LT(largest_difference(model->predict(rows).scores[1], expected), 1e-6);
  const Batch nothing = documents_batch({{}, {}});
  EXPECT_LT(largest_difference(model->predict(nothing).scores[1], expected), 1e-6);
  Tap tap;
  model->replay(nothing, model->predict(nothing), &tap);
  EXPECT_TRUE(tap.maps().empty());
  const Predictions answers = model->predict(rows);
  EXPECT_TRUE(model->replay(rows, answers, &tap).isfinite().all().item<bool>());
}

TEST_P(HierarchicalContract, GradientsEqualFiniteDifferences) {
  auto model = fresh();
  Batch rows = nested_batch(4);
  expect_slopes(*model, rows, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, HierarchicalContract, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(Hierarchical, WeightsOnDemandAreTheLiveOnes) {
  HierarchicalAttention model(small(), shape());
  model.initialise(Random(1));
  const Batch rows = nested_batch(6, 1);
  const Predictions predictions = model.predict(rows);
  expect_fused_equals_readable(model, rows, predictions);
  Tap on_demand(Record::OnDemand);
  model.replay(rows, predictions, &on_demand);
  const AttentionMap& words = on_demand.map("words");
  EXPECT_TRUE(words.source->rows(2, 0, 1, 2).equal(dense_weights(words)[2][0].narrow(0, 1, 2)));
}

TEST(Hierarchical, AverageEqualsUniformAttention) {
  HierarchicalAttention attention(small(), shape()), average(small("average"), shape());
  attention.initialise(Random(1));
  average.initialise(Random(1));  // streams have names: the shared parts are the same
  const Batch rows = nested_batch(6);
  Tap uniform;
  for (const char* map : {"words", "sentences"})
    uniform.replace(map, [](const AttentionMap& own) {
      const at::Tensor real = (own.weights > 0).to(own.weights.scalar_type());
      return real / real.sum(-1, true).clamp_min(1);
    });
  const Predictions answers = average.predict(rows);
  EXPECT_LT(largest_difference(attention.replay(rows, answers, &uniform),
                               average.replay(rows, answers, nullptr)),
            1e-5);
}

TEST(Hierarchical, EqualsPyTorch) {
  const Json reference = golden("hierarchical");
  const auto documents = reference["documents"].get<std::vector<Sentences>>();
  Batch batch = documents_batch(documents);
  batch.tensors["target"] = tensor_of(reference["target"], at::kLong);
  for (const Json& one : reference["cases"]) {
    HierarchicalOptions options = small(one["pooling"]);
    options.embedding = 4, options.hidden = 3;
    HierarchicalAttention model(options, {9, 3, 12, 12, {}});
    take_parameters(model, one["parameters"]);
    const Predictions answers = model.predict(batch);
    EXPECT_LT(largest_difference(answers.scores, packed(one["logits"]).softmax(1)), 1e-10);
    expect_loss_of(model, batch, one, one["pooling"]);
    if (one["pooling"] != "attention") continue;
    Tap tap;
    model.replay(batch, answers, &tap);
    for (int64_t row = 0; row < batch.size; ++row) {
      const at::Tensor sentences = packed(one["sentence_weights"][size_t(row)]);
      const at::Tensor words = packed(one["word_weights"][size_t(row)]);
      const auto own = [&](const char* map, int64_t count) {
        return tap.map(map).weights[row][0].sum(0).narrow(0, 0, count);
      };
      EXPECT_LT(largest_difference(own("sentences", sentences.size(0)), sentences), 1e-10);
      EXPECT_LT(largest_difference(own("words", words.size(0)), words), 1e-10);
    }
  }
}

TEST(Hierarchical, ClassWeightsBalanceRareClasses) {
  HierarchicalOptions options = small();
  options.class_weights = "balanced";
  HierarchicalShape counted = shape();
  counted.class_counts = {6, 3, 1};
  HierarchicalAttention model(options, counted);
  model.initialise(Random(1));
  const Batch rows = nested_batch(9);
  const at::Tensor chosen =
      model.predict(rows).scores.log().gather(1, rows.at("target").view({-1, 1}));
  const at::Tensor weights = torch::tensor({10.0 / 18, 10.0 / 9, 10.0 / 3}, torch::kFloat)
                                 .index_select(0, rows.at("target"));
  const Loss loss = model.loss(rows, {Random(1), 0});
  EXPECT_NEAR(loss.objective.item<double>(),
              (-(chosen.squeeze(1) * weights).sum() / weights.sum()).item<double>(), 1e-5);
  EXPECT_NEAR(loss.units.item<double>(), weights.sum().item<double>(), 1e-5);
}

TEST(Hierarchical, DropsTheSameForTheSameStream) {
  HierarchicalOptions options = small();
  options.dropout = 0.3;
  HierarchicalAttention model(options, shape());
  model.initialise(Random(1));
  const Batch rows = nested_batch(6);
  expect_loss_by_stream(model, rows);
}

TEST(Hierarchical, TakesVectorsForTheWordsThatHaveThem) {
  HierarchicalAttention model(small(), shape());
  model.initialise(Random(1));
  const at::Tensor before = model.named_parameters()["words.weight"].detach().clone();
  at::Tensor known = torch::zeros({kWordsKnown}, torch::kBool);
  known[5] = true;
  model.take_vectors(torch::ones({kWordsKnown, 6}), known);
  const at::Tensor after = model.named_parameters()["words.weight"].detach();
  EXPECT_TRUE(after[5].equal(torch::ones({6})));
  EXPECT_TRUE(after[4].equal(before[4]));
  EXPECT_THROW(model.take_vectors(torch::ones({kWordsKnown, 7}), known), Error);
}

TEST(SentenceLayout, PutsSentencesOfSimilarLengthTogether) {
  const at::Tensor lengths = torch::tensor({{2, 9, 5, 0}, {1, 1, 1, 1}, {0, 0, 0, 0}});
  const SentenceLayout layout = layout_of(lengths, 16);
  ASSERT_EQ(layout.groups.size(), 3u);  // 9 and 5, 2, and the ones
  EXPECT_TRUE(layout.lengths.equal(torch::tensor({3, 4, 0})));
  EXPECT_TRUE(layout.groups[0].lengths.equal(torch::tensor({9, 5})));
  EXPECT_TRUE(layout.groups[0].sentences.equal(torch::tensor({1, 2})));
  EXPECT_EQ(layout.groups[0].words[1][4].item<int64_t>(), 15);
  EXPECT_FALSE(layout.groups[0].keep[1][5].item<bool>());
  EXPECT_FALSE(layout.is_full());
  EXPECT_TRUE(layout_of(torch::zeros({2, 0}, torch::kLong), 0).is_empty());
}

TEST(SentenceLayout, RefusesWhatCannotBe) {
  for (const at::Tensor& lengths :
       {torch::tensor({{3, 3}}), torch::tensor({{-1, 2}}), torch::tensor({{1, 0, 1}})})
    expect_error(ErrorKind::InvalidArgument, "document 0", [&] { layout_of(lengths, 5); });
}

}  // namespace
}  // namespace fovea::hierarchical_test
