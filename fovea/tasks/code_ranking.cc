#include "fovea/tasks/code_ranking.h"

#include <algorithm>
#include <map>

#include "fovea/metrics/statistics.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kPatientsTogether = 128;
constexpr int64_t kFewestVisits = 5;  // of a code whose mean is worth comparing

}  // namespace

std::vector<RankedCode> rank_codes(const Model& model, const VisitDataset& rows) {
  torch::NoGradGuard no_gradients;
  std::map<int64_t, RunningStatistics> contributions;  // by code
  const int64_t count = std::min(rows.size(), kPatientsRanked);
  for (int64_t begin = 0; begin < count; begin += kPatientsTogether) {
    std::vector<int64_t> picked;
    for (int64_t row = begin; row < std::min(count, begin + kPatientsTogether); ++row)
      picked.push_back(row);
    const Batch batch = rows.batch(picked).to(model.device());
    Tap tap;
    model.replay(batch, model.predict(batch), &tap);
    if (!has_map(tap, "contributions")) return {};
    const at::Tensor weights =
        tap.map("contributions").weights.flatten().to(at::kCPU, at::kDouble).contiguous();
    const at::Tensor codes = batch.at("codes").flatten().cpu().contiguous();  // [B K]
    for (int64_t i = 0; i < codes.numel(); ++i)
      if (const int64_t code = codes.data_ptr<int64_t>()[i]; !Vocabulary::is_special(code))
        contributions[code].add(weights.data_ptr<double>()[i]);
  }
  std::vector<RankedCode> ranking;
  for (const auto& [code, added] : contributions)
    if (added.count() >= kFewestVisits)
      ranking.push_back({rows.codes().token(code), added.count(), added.mean(), added.deviation()});
  std::stable_sort(ranking.begin(), ranking.end(),
                   [](const RankedCode& a, const RankedCode& b) { return a.mean > b.mean; });
  return ranking;
}

std::optional<double> planted_first(const std::vector<RankedCode>& ranking,
                                    const VisitDataset& rows) {
  const PlantedCauses& planted = rows.planted();
  const auto raising = planted.raising.size(), lowering = planted.lowering.size();
  if (planted.empty() || ranking.size() < raising + lowering) return {};
  double found = 0;
  for (size_t i = 0; i < raising; ++i) found += planted.effect_of(ranking[i].code) == 1;
  for (size_t i = ranking.size() - lowering; i < ranking.size(); ++i)
    found += planted.effect_of(ranking[i].code) == -1;
  return found / double(raising + lowering);
}

}  // namespace fovea
