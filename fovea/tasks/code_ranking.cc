#include "fovea/tasks/code_ranking.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/metrics/statistics.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kPatientsTogether = 128;
constexpr int64_t kFewestVisits = 5;  // of a code whose mean is worth comparing

void note_effects(const Example& example, std::map<int64_t, int>& effects) {
  const at::Tensor codes = example.tensors.at("codes");
  const at::Tensor effect = example.truth.at("raising").to(at::kLong).flatten() -
                            example.truth.at("lowering").to(at::kLong).flatten();  // [K]
  for (int64_t i = 0; i < codes.numel(); ++i)
    if (const int64_t own = effect.data_ptr<int64_t>()[i])
      effects[codes.data_ptr<int64_t>()[i]] = int(own);
}

}  // namespace

std::vector<RankedCode> rank_codes(const Model& model, const Dataset& rows,
                                   const Vocabulary& vocabulary) {
  torch::NoGradGuard no_gradients;
  std::map<int64_t, std::vector<RunningStatistics>> contributions;  // by code, of each outcome
  std::map<int64_t, int> effects;
  const int64_t count = std::min(rows.size(), kPatientsRanked);
  for (int64_t begin = 0; begin < count; begin += kPatientsTogether) {
    std::vector<int64_t> picked;
    for (int64_t row = begin; row < std::min(count, begin + kPatientsTogether); ++row)
      picked.push_back(row);
    const Batch batch = rows.batch(picked).to(model.device());
    Tap tap;
    model.replay(batch, model.predict(batch), &tap);
    if (!has_map(tap, "contributions")) return {};
    const at::Tensor weights = tap.map("contributions")
                                   .weights.squeeze(1)
                                   .transpose(1, 2)
                                   .to(at::kCPU, at::kDouble)
                                   .contiguous();  // [B, K, O]
    const int64_t outcomes = weights.size(2);
    const at::Tensor codes = batch.at("codes").flatten().cpu().contiguous();  // [B K]
    for (int64_t i = 0; i < codes.numel(); ++i) {
      const int64_t code = codes.data_ptr<int64_t>()[i];
      if (Vocabulary::is_special(code)) continue;
      std::vector<RunningStatistics>& own = contributions[code];
      own.resize(size_t(outcomes));
      for (int64_t o = 0; o < outcomes; ++o)
        own[size_t(o)].add(weights.data_ptr<double>()[i * outcomes + o]);
    }
    if (rows.has_truth())
      for (const int64_t row : picked) note_effects(rows.example(row), effects);
  }
  std::vector<RankedCode> ranking;
  for (const auto& [code, added] : contributions) {
    if (added[0].count() < kFewestVisits) continue;
    const auto& most = *std::max_element(
        added.begin(), added.end(), [](const RunningStatistics& a, const RunningStatistics& b) {
          return std::abs(a.mean()) < std::abs(b.mean());
        });
    RankedCode ranked{vocabulary.token(code), most.count(), most.mean(), most.deviation(),
                      effects[code]};
    for (const RunningStatistics& of_outcome : added) {
      ranked.means.push_back(of_outcome.mean());
      ranked.deviations.push_back(of_outcome.deviation());
    }
    ranking.push_back(std::move(ranked));
  }
  std::stable_sort(ranking.begin(), ranking.end(),
                   [](const RankedCode& a, const RankedCode& b) { return a.mean > b.mean; });
  return ranking;
}

std::optional<double> planted_first(const std::vector<RankedCode>& ranking) {
  const auto count = [&](auto begin, auto end, int effect) {
    return std::count_if(begin, end, [&](const RankedCode& code) { return code.effect == effect; });
  };
  const auto causes = count(ranking.begin(), ranking.end(), 1),
             protections = count(ranking.begin(), ranking.end(), -1);
  if (causes + protections == 0) return {};
  const auto found = count(ranking.begin(), ranking.begin() + causes, 1) +
                     count(ranking.end() - protections, ranking.end(), -1);
  return double(found) / double(causes + protections);
}

}  // namespace fovea
