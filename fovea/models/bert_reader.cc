#include "fovea/models/bert_reader.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/models/bert_windows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kNone = -2;  // of "pieces": the place of "no answer"
constexpr double kImpossible = -1e9;

}  // namespace

void BertReaderOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"bert"});
  encoder.describe(list);
  list.add("longest_answer", longest_answer, "most tokens of an answer").at_least(1);
  fine_tuning.describe(list);
}

BertReader::BertReader(const BertReaderOptions& options, int64_t vocabulary, int64_t window)
    : BertModel(options, {vocabulary, window, 2}), longest_answer_(options.longest_answer) {}

Schema BertReader::schema() const {
  return {{"tokens", at::kLong, {-1, -1}},      {"segments", at::kLong, {-1, -1}},
          {"tokens.keep", at::kBool, {-1, -1}}, {"pieces", at::kLong, {-1, -1}},
          {"starts", at::kLong, {-1, -1}},      {"ends", at::kLong, {-1, -1}}};
}

Tensor BertReader::logits_of(const Batch& batch, const Random* random, Tap* tap) const {
  const Tensor hidden =
      encode_windows(*encoder_, {batch.at("tokens"), batch.at("segments"), batch.at("tokens.keep")},
                     window(), random, tap);  // [B, N, D]
  return output_->forward(hidden);  // [B, N, 2]; nothing is dropped here, as in BERT's own script
}

Loss BertReader::loss(const Batch& batch, const StepContext& context) {
  const Tensor logits = logits_of(batch, &context.random, nullptr);  // [B, N, 2]
  const int64_t window = std::min(this->window(), logits.size(1));
  const Tensor real = in_windows(batch.at("tokens.keep"), window).flatten(0, 1);  // [B W, N]
  const Tensor own = in_windows(logits, window)
                         .flatten(0, 1)
                         .masked_fill(~real.unsqueeze(-1), kImpossible);  // [B W, N, 2]
  // Rows of fewer windows than the longest have -1 there.
  const Tensor starts = batch.at("starts").flatten(), ends = batch.at("ends").flatten();
  const Tensor there = (starts >= 0).nonzero().squeeze(1);  // [F]
  const auto entropy = [&](int64_t which, const Tensor& target) {
    return at::cross_entropy_loss(own.select(2, which).index_select(0, there),
                                  target.index_select(0, there));
  };
  Loss loss;
  loss.objective = (entropy(0, starts) + entropy(1, ends)) / 2;
  loss.units = at::full({}, double(there.size(0)), logits.options());
  return loss;
}

Tensor BertReader::log_probabilities(const Batch& batch, Tap* tap) const {
  const Tensor logits = logits_of(batch, nullptr, tap);        // [B, N, 2]
  const Tensor& pieces = batch.at("pieces");                   // [B, N]
  const Tensor candidate = (pieces >= 0) | (pieces == kNone);  // [B, N]
  return logits.masked_fill(~candidate.unsqueeze(-1), kImpossible).log_softmax(1);
}

std::vector<Decoded> BertReader::best_answers(const float* scores, const int64_t* pieces,
                                              int64_t tokens) const {
  const auto begin_score = [&](int64_t i) { return double(scores[2 * i]); };
  const auto end_score = [&](int64_t i) { return double(scores[2 * i + 1]); };
  // A span that several windows hold counts once, where it is likeliest.
  std::map<std::pair<int64_t, int64_t>, Decoded> spans;
  double least = -INFINITY;  // of those that are kept
  Decoded none;
  for (int64_t i = 0; i < tokens; ++i) {
    if (pieces[i] == kNone) {
      const double score = begin_score(i) + end_score(i);
      if (none.tokens.empty() || score < none.log_probability) none = {{i, i}, score, ""};
    }
    if (pieces[i] < 0) continue;
    const int64_t end = std::min(tokens, i + longest_answer_);
    for (int64_t j = i; j < end && pieces[j] == pieces[i] + (j - i); ++j) {
      const double score = begin_score(i) + end_score(j);
      if (score <= least) continue;
      Decoded& kept =
          spans.try_emplace({pieces[i], pieces[j]}, Decoded{{}, -INFINITY, ""}).first->second;
      if (score > kept.log_probability) kept = {{i, j}, score, ""};
      if (spans.size() <= kBest) continue;
      const auto weaker = [](const auto& a, const auto& b) {
        return a.second.log_probability < b.second.log_probability;
      };
      spans.erase(std::min_element(spans.begin(), spans.end(), weaker));
      least = std::min_element(spans.begin(), spans.end(), weaker)->second.log_probability;
    }
  }
  std::vector<Decoded> answers;
  for (auto& [place, answer] : spans) answers.push_back(std::move(answer));
  std::stable_sort(answers.begin(), answers.end(), [](const Decoded& a, const Decoded& b) {
    return a.log_probability > b.log_probability;
  });
  if (!none.tokens.empty()) answers.push_back(std::move(none));
  return answers;
}

Predictions BertReader::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Tensor scores =
      log_probabilities(batch, nullptr).to(at::kCPU, at::kFloat).contiguous();  // [B, N, 2]
  const Tensor pieces = batch.at("pieces").cpu().contiguous();                  // [B, N]
  const int64_t tokens = pieces.size(1);
  Predictions predictions;
  for (int64_t row = 0; row < batch.size; ++row)
    predictions.outputs.push_back(best_answers(scores.data_ptr<float>() + row * tokens * 2,
                                               pieces.data_ptr<int64_t>() + row * tokens, tokens));
  return predictions;
}

Tensor BertReader::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  const Tensor scores = log_probabilities(batch, tap);  // [B, N, 2]
  std::vector<int64_t> places;
  for (const std::vector<Decoded>& outputs : predictions.outputs) {
    const std::vector<int64_t> chosen =
        outputs.empty() ? std::vector<int64_t>{0, 0} : outputs[0].tokens;
    places.insert(places.end(), chosen.begin(), chosen.end());
  }
  const Tensor picked =
      at::tensor(places, at::kLong).view({batch.size, 1, 2}).to(scores.device());  // [B, 1, 2]
  return scores.gather(1, picked).squeeze(1);                                      // [B, 2]
}

}  // namespace fovea
