// BERT's pretraining: what every model promises, numbers against PyTorch, and the rules of masking.
#include "fovea/models/bert_pretrainer.h"

#include <gtest/gtest.h>
#include <torch/optim.h>

#include <set>

#include "fovea/models/bert_names.h"
#include "tests/models/contract.h"
#include "tests/models/token_batch.h"
#include "tests/support/expect_error.h"

namespace fovea::bert_pretrainer_test {
namespace {

using namespace testing;

constexpr int64_t kVocabulary = 40, kMask = 4;

BertPretrainerOptions small_options() {
  BertPretrainerOptions options;
  options.encoder = small_bert_encoder();
  options.encoder.hidden = 16, options.encoder.feed_forward = 24;
  options.encoder.maximum_length = 64;
  return options;
}

BertPretrainerShape small_shape() {
  return {kVocabulary, kMask, {0, 1, 2, 3, kMask}, true, true};
}

std::shared_ptr<BertPretrainer> fresh(BertPretrainerShape shape = small_shape(),
                                      BertPretrainerOptions options = small_options(),
                                      uint64_t seed = 1) {
  auto model = std::make_shared<BertPretrainer>(options, shape);
  model->initialise(Random(seed));
  return model;
}

/// Pairs of segments: each counts up from a start of its own; the second follows where row is even.
Batch pairs(int64_t rows, int64_t half = 7) {
  const Random random(3);
  const int64_t length = 2 * half + 3;
  Batch batch{{}, rows};
  at::Tensor tokens = at::zeros({rows, length}, at::kLong), segments = at::zeros_like(tokens),
             next = at::zeros({rows}, at::kLong);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t at = 0;
    const auto put = [&](int64_t piece, int64_t segment) {
      tokens[row][at] = piece, segments[row][at++] = segment;
    };
    put(2, 0);
    int64_t start = 5 + int64_t(random.below(uint64_t(row), kVocabulary - 5));
    for (int64_t i = 0; i < half - row % 3; ++i) put(5 + (start++ - 5) % (kVocabulary - 5), 0);
    put(3, 0);
    next[row] = row % 2;
    if (row % 2 == 1) start += 11;
    for (int64_t i = 0; i < half; ++i) put(5 + (start++ - 5) % (kVocabulary - 5), 1);
    put(3, 1);
  }
  batch.tensors = {
      {"tokens", tokens}, {"tokens.keep", tokens != 0}, {"segments", segments}, {"next", next}};
  return batch;
}

TEST(BertPretrainer, FitsItsSchemaAndSummary) {
  testing::expect_schema_and_seeds(
      pairs(4), [](uint64_t seed) { return fresh(small_shape(), small_options(), seed); });
}

TEST(BertPretrainer, LearnsWordsAndWhatFollows) {
  auto model = fresh();
  const Batch rows = pairs(16);
  torch::optim::Adam optimiser(model->parameters(), torch::optim::AdamOptions(0.005));
  const PretrainingScore before = model->score(rows, Random(9));
  for (int step = 0; step < 800; ++step) {
    optimiser.zero_grad();
    model->loss(rows, {Random(1).split(uint64_t(step)), step}).objective.backward();
    testing::expect_gradients(*model);
    optimiser.step();
  }
  const PretrainingScore after = model->score(rows, Random(9));
  EXPECT_EQ(after.masked, before.masked) << "the same masks";
  EXPECT_LT(after.masked_nats, 0.5 * before.masked_nats);
  EXPECT_EQ(after.next_right, 16);
}

TEST(BertPretrainer, TheLossIsMaskedPlusNext) {
  auto model = fresh();
  const Batch rows = pairs(6);
  const Random random(4);
  const Loss loss = model->loss(rows, {random, 0});
  const PretrainingScore score = model->score(rows, random.split("masks"));
  EXPECT_EQ(loss.units.item<double>(), double(score.masked));
  EXPECT_NEAR(loss.scalars.at("masked_loss").item<double>(),
              score.masked_nats / double(score.masked), 1e-5);
  EXPECT_NEAR(loss.scalars.at("next_loss").item<double>(), score.next_nats / 6, 1e-5);
  EXPECT_NEAR(loss.objective.item<double>(),
              score.masked_nats / double(score.masked) + score.next_nats / 6, 1e-5);
}

TEST(BertPretrainer, MaskingDependsOnTheStreamAlone) {
  auto model = fresh();
  const Batch rows = pairs(6);
  expect_loss_by_stream(*model, rows);
}

TEST(MaskPieces, ChoosesTheShareOfEveryRowAndNothingSpecial) {
  const Batch rows = pairs(3, 10);  // 20, 19 and 18 pieces besides the frame
  const MaskedPieces masked = mask_pieces(rows, small_shape(), 0.25, Random(1));
  const at::Tensor row = masked.places.div(rows.at("tokens").size(1), "floor");
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t wanted[] = {5, 5, 4};  // 5, 4.75 and 4.5, which is rounded to even
    EXPECT_EQ((row == i).sum().item<int64_t>(), wanted[i]);
  }
  EXPECT_TRUE(masked.pieces.equal(rows.at("tokens").flatten().index_select(0, masked.places)));
  EXPECT_GT(masked.pieces.min().item<int64_t>(), kMask);
  at::Tensor untouched = at::ones_like(rows.at("tokens").flatten(), at::kBool);
  untouched.index_fill_(0, masked.places, false);
  EXPECT_TRUE(masked.tokens.flatten().masked_select(untouched).equal(
      rows.at("tokens").flatten().masked_select(untouched)));
}

TEST(MaskPieces, ATinyShareIsStillOnePiece) {
  const MaskedPieces masked = mask_pieces(pairs(4), small_shape(), 0.001, Random(1));
  EXPECT_EQ(masked.places.numel(), 4);
}

TEST(MaskPieces, EightyTenTen) {
  const Batch rows = pairs(2000, 20);
  const MaskedPieces masked = mask_pieces(rows, small_shape(), 0.5, Random(1));
  const at::Tensor seen = masked.tokens.flatten().index_select(0, masked.places);
  const auto share = [&](const at::Tensor& which) {
    return which.to(at::kDouble).mean().item<double>();
  };
  EXPECT_NEAR(share(seen == kMask), 0.8 + 0.1 / kVocabulary, 0.01);
  EXPECT_NEAR(share(seen == masked.pieces), 0.1 + 0.1 / kVocabulary, 0.01);
  const at::Tensor others = seen.masked_select((seen != kMask) & (seen != masked.pieces));
  EXPECT_EQ(others.min().item<int64_t>(), 0) << "any piece may stand there";
  EXPECT_EQ(others.max().item<int64_t>(), kVocabulary - 1);
}

TEST(BertPretrainer, ARowWithoutPiecesTrains) {
  auto model = fresh();
  Batch rows = pairs(1);
  rows.tensors["tokens"] = torch::tensor({{2, 3, 3}}, torch::kLong);
  rows.tensors["tokens.keep"] = torch::ones({1, 3}, torch::kBool);
  rows.tensors["segments"] = torch::tensor({{0, 0, 1}}, torch::kLong);
  const Loss loss = model->loss(rows, {Random(1), 0});
  EXPECT_TRUE(std::isfinite(loss.objective.item<double>()));
  loss.objective.backward();
}

TEST(BertPretrainer, EmbeddingsHaveLengthOneAndIgnorePadding) {
  auto model = fresh();
  const Batch rows = pairs(5);
  torch::NoGradGuard no_gradients;
  const at::Tensor all = model->predict(rows).values;  // [B, D]
  EXPECT_LT(largest_difference(all.norm(2, 1), at::ones({5})), 1e-5);
  for (int64_t row = 0; row < 5; ++row) {
    Batch one{{}, 1};
    const int64_t length = rows.at("tokens.keep")[row].sum().item<int64_t>();
    for (const char* name : {"tokens", "tokens.keep", "segments"})
      one.tensors[name] = rows.at(name).narrow(0, row, 1).narrow(1, 0, length);
    EXPECT_LT(largest_difference(model->predict(one).values[0], all[row]), 1e-5) << row;
  }
}

TEST(BertPretrainer, ReplayEqualsPredictAndReportsEveryLayer) {
  auto model = fresh();
  const Batch rows = pairs(4);
  torch::NoGradGuard no_gradients;
  const Predictions predictions = model->predict(rows);
  Tap tap;
  EXPECT_LT(largest_difference(model->replay(rows, predictions, &tap), predictions.values), 1e-5);
  ASSERT_EQ(tap.maps().size(), 2u);
  const at::Tensor keep = rows.at("tokens.keep");
  for (const AttentionMap& map : tap.maps()) {
    EXPECT_EQ(map.name, "attention");
    EXPECT_EQ(map.key_axis, "tokens");
    EXPECT_EQ(check_map(map, keep.unsqueeze(1) & keep.unsqueeze(2)), "");
  }
  EXPECT_EQ(tap.leaves().count("tokens"), 1u);
}

TEST(BertPretrainer, WithoutHeadsItAnswersButDoesNotLearn) {
  BertPretrainerShape shape = small_shape();
  shape.masked_words = shape.next_sentence = false;
  auto model = fresh(shape);
  EXPECT_EQ(model->predict(pairs(2)).values.size(1), 16);
  testing::expect_error(ErrorKind::InvalidArgument, "head for masked words", [&] {
    model->loss(pairs(2), {Random(1), 0});
  });
  testing::expect_error(ErrorKind::InvalidArgument, "head for masked words",
                        [&] { model->guess_masks(pairs(2)); });
}

TEST(BertPretrainer, BiasesAndNormsDoNotDecay) {
  auto model = fresh();
  std::set<std::string> decaying;
  for (const auto& item : model->named_parameters())
    if (model->rule_of(item.key()).decays) decaying.insert(item.key());
  EXPECT_EQ(decaying.count("encoder.tokens.weight"), 1u);
  EXPECT_EQ(decaying.count("encoder.encoder.layers.0.self_attn.in_proj_weight"), 1u);
  for (const std::string& name : decaying)
    EXPECT_TRUE(name.ends_with("weight") && name.find("norm") == std::string::npos) << name;
}

// ---- against PyTorch

TEST(BertPretrainer, EqualsPyTorch) {
  const Json reference = golden("bert_pretrainer");
  const Json& sizes = reference["sizes"];
  BertPretrainerOptions options = small_options();
  options.encoder.layers = sizes["layers"], options.encoder.hidden = sizes["hidden"];
  options.encoder.heads = sizes["heads"], options.encoder.feed_forward = sizes["feed_forward"];
  options.encoder.maximum_length = sizes["maximum_length"];
  BertPretrainerShape shape = small_shape();
  shape.vocabulary = sizes["vocabulary"];
  auto model = fresh(shape, options);
  WeightMap theirs;
  for (const auto& [name, value] : reference["weights"].items())
    theirs[hugging_face_name(name)] = packed(value, at::kFloat);
  WeightMap ours =
      from_hugging_face(masked_head_names(options.encoder, sizes["vocabulary"]), theirs);
  ours.merge(from_hugging_face(next_head_names(sizes["hidden"]), theirs));
  for (const auto& [name, tensor] :
       from_hugging_face(encoder_names(options.encoder, sizes["vocabulary"]), theirs))
    ours["encoder." + name] = tensor;
  torch::NoGradGuard no_gradients;
  for (auto& item : model->named_parameters()) item.value().copy_(ours.at(item.key()));

  Batch batch{{{"tokens", packed(reference["tokens"], at::kLong)},
               {"segments", packed(reference["segments"], at::kLong)},
               {"tokens.keep", packed(reference["keep"], at::kBool)}},
              2};
  const MaskGuesses guesses = model->guess_masks(batch);
  EXPECT_TRUE(guesses.rows.equal(torch::tensor({0, 1}, torch::kLong)));
  EXPECT_TRUE(guesses.places.equal(torch::tensor({1, 2}, torch::kLong)));
  EXPECT_LT(
      largest_difference(guesses.log_probabilities, packed(reference["mask_log_probabilities"])),
      1e-4);
  EXPECT_LT(largest_difference(model->predict(batch).values, packed(reference["embedding"])), 1e-5);
  Tap tap;
  model->replay(batch, {}, &tap);
  const at::Tensor queries = batch.at("tokens.keep").unsqueeze(1).unsqueeze(-1);  // [B, 1, N, 1]
  for (size_t layer = 0; layer < tap.maps().size(); ++layer)
    EXPECT_LT(
        largest_difference(tap.maps()[layer].weights, packed(reference["maps"][layer]) * queries),
        1e-5)
        << layer;
  batch.tensors["next"] = torch::tensor({1, 0}, torch::kLong);
  const at::Tensor next = packed(reference["next_logits"]).log_softmax(-1);
  // Masks change what the pooler sees, so nothing may be masked here.
  BertPretrainerShape untouched = shape;
  for (int64_t piece = 0; piece < shape.vocabulary; ++piece) untouched.special.push_back(piece);
  auto plain = std::make_shared<BertPretrainer>(options, untouched);
  for (auto& item : plain->named_parameters()) item.value().copy_(ours.at(item.key()));
  EXPECT_NEAR(plain->score(batch, Random(1)).next_nats, -(next[0][1] + next[1][0]).item<double>(),
              1e-4);
}

}  // namespace
}  // namespace fovea::bert_pretrainer_test
