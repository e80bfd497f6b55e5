#include "fovea/explain/faithfulness/evaluate.h"

#include <algorithm>

#include "fovea/base/text.h"
#include "fovea/explain/faithfulness/adversary.h"
#include "fovea/explain/faithfulness/controls.h"
#include "fovea/explain/faithfulness/erasing.h"
#include "fovea/explain/faithfulness/importance.h"
#include "fovea/metrics/rank.h"
#include "fovea/metrics/rationales.h"
#include "fovea/metrics/statistics.h"

namespace fovea::faithfulness {
namespace {

std::optional<double> mean_tau(const Attributions& attributions, const Importances& others) {
  Mean mean;
  for (size_t i = 0; i < attributions.list.size(); ++i)
    mean.add(kendall_tau(attributions.list[i].weights, others[i]));
  return mean.value();
}

Importances attribution_weights(const Attributions& attributions) {
  Importances weights;
  for (const Attribution& attribution : attributions.list) weights.push_back(attribution.weights);
  return weights;
}

Rankings rank_all(const Importances& importances, const Random& random) {
  Rankings rankings;
  for (const std::vector<double>& importance : importances)
    rankings.list.push_back(rank_units(importance, random.split(rankings.list.size())));
  return rankings;
}

Rankings random_rankings(const Attributions& attributions, const Setting& setting) {
  Rankings rankings;
  rankings.shared = true;
  for (int64_t i = 0; i < setting.options.random_rationales; ++i)
    rankings.list.push_back(
        setting.random.split("rationales").split(uint64_t(i)).permutation(attributions.units));
  return rankings;
}

void add_aopc(const Setting& setting, const Attributions& attributions, const Rankings& own,
              const Rankings& by_chance, std::span<const int64_t> bins, Sample& sample) {
  const Aopc found = measure_aopc(setting.instance, setting.erasures, attributions, own, bins);
  const Aopc chance =
      measure_aopc(setting.instance, setting.erasures, attributions, by_chance, bins);
  sample[Measure::Comprehensiveness] = {found.comprehensiveness, chance.comprehensiveness};
  sample[Measure::Sufficiency] = {found.sufficiency, chance.sufficiency};
}

void add_areas(const Setting& setting, Sample& sample) {
  const auto area = [&](const auto& curve, Source source) {
    return area_under(setting.x, curve[size_t(source)]);
  };
  sample[Measure::DeletionArea] = {area(sample.deletion, Source::Attention),
                                   area(sample.deletion, Source::Random)};
  sample[Measure::InsertionArea] = {area(sample.insertion, Source::Attention),
                                    area(sample.insertion, Source::Random)};
}

/// Everything that takes units away; returns what happens without each.
std::optional<Importances> erase_units(const Setting& setting, const Attributions& attributions,
                                       const std::optional<Importances>& gradients,
                                       Sample& sample) {
  Erasures& erasures = setting.erasures;
  if (!erasures.possible()) {
    sample.notes.push_back(erasures.refusal());
    return {};
  }
  const Random ties = setting.random.split("ties");
  const Steps steps = rationale_steps(setting.options.bins, setting.x, attributions.units);
  std::array<Rankings, kSources> rankings;
  const auto of = [&](Source source) -> Rankings& { return rankings[size_t(source)]; };
  of(Source::Attention) = rank_all(attribution_weights(attributions), ties.split("attention"));
  of(Source::Random) = random_rankings(attributions, setting);
  if (gradients) of(Source::Gradient) = rank_all(*gradients, ties.split("gradient"));
  for (int64_t unit = 0; unit < attributions.units; ++unit) erasures.request({&unit, 1});
  for (const Source source : {Source::Attention, Source::Random})
    request_rankings(erasures, of(source), steps.bins);
  for (const Rankings& some : rankings) request_rankings(erasures, some, steps.points);
  erasures.run();

  Importances effects = leave_one_out(setting.instance, erasures, attributions);
  of(Source::LeaveOneOut) = rank_all(effects, ties.split("leave one out"));
  request_rankings(erasures, of(Source::LeaveOneOut), steps.points);
  erasures.run();

  sample[Measure::LeaveOneOutTau] = {mean_tau(attributions, effects), 0.0};
  add_aopc(setting, attributions, of(Source::Attention), of(Source::Random), steps.bins, sample);
  for (size_t source = 0; source < kSources; ++source) {
    if (rankings[source].list.empty()) continue;
    Curves curves =
        measure_curves(setting.instance, erasures, attributions, rankings[source], steps.points);
    sample.deletion[source] = std::move(curves.deletion);
    sample.insertion[source] = std::move(curves.insertion);
  }
  add_areas(setting, sample);
  sample.largest_change = erasures.largest_change();
  return effects;
}

/// Beside each other for who reads them; nothing where they are too many to be read or stored.
void record_importances(const Attributions& attributions,
                        const std::optional<Importances>& gradients,
                        const std::optional<Importances>& effects, Sample& sample) {
  constexpr int64_t kMostNumbers = 1 << 15;  // of each opinion
  if (int64_t(attributions.list.size()) * attributions.units > kMostNumbers) {
    sample.notes.push_back("too many units to record how much each of them matters");
    return;
  }
  const auto name = [](Source source) { return kSourceNames[size_t(source)]; };
  for (size_t i = 0; i < attributions.list.size(); ++i) {
    const Attribution& attribution = attributions.list[i];
    UnitImportances units{attribution.row, {{name(Source::Attention), attribution.weights}}};
    if (gradients) units.series.push_back({name(Source::Gradient), (*gradients)[i]});
    if (effects) units.series.push_back({name(Source::LeaveOneOut), (*effects)[i]});
    sample.importances.push_back(std::move(units));
  }
}

void change_map(const Setting& setting, const AttentionMap& map, const Attributions& attributions,
                Sample& sample) {
  const Controls controls =
      change_weights(setting.instance, map, attributions,
                     {setting.options.permutations, setting.options.random_rationales,
                      setting.random.split("controls")});
  sample[Measure::TopZeroed] = {controls.top_zeroed, controls.random_zeroed};
  if (map.kind == MapKind::Contribution) {  // the output is their sum, which no order changes
    sample.notes.push_back("contributions are only added up: permuting them would change nothing");
    return;
  }
  sample[Measure::Permuted].value = controls.permuted;
  sample[Measure::Uniform].value = controls.uniform;
}

void look_for_adversary(const Setting& setting, const AttentionMap& map, Sample& sample) {
  if (setting.options.adversary_steps == 0) return;
  sample.has_adversary = true;
  AdversaryOptions options;
  options.steps = setting.options.adversary_steps;
  options.random = setting.random.split("adversary");
  sample[Measure::Adversary].value = most_different_weights(setting.instance, map, options);
  if (!sample[Measure::Adversary].value)
    sample.notes.push_back(
        "adversarial attention is looked for where one layer of weights that sum to 1 leads to a "
        "probability");
}

void compare_with_untrained(const Setting& setting, const std::string& map,
                            const Attributions& attributions, Sample& sample) {
  std::vector<AttentionMap> same;
  for (const AttentionMap& other : setting.untrained)
    if (other.name == map) same.push_back(other);
  if (same.empty()) return;
  const Attributions others = make_attributions(setting.instance, same, setting.untrained,
                                                setting.options.most_rows, setting.random);
  if (others.list.size() != attributions.list.size() || others.units != attributions.units) return;
  sample[Measure::UntrainedTau] = {mean_tau(attributions, attribution_weights(others)), 0.0};
}

/// The first of a ranking, as many as are marked.
std::vector<char> choose(const Ranking& ranking, const std::vector<char>& marks) {
  const auto count = std::ranges::count_if(marks, [](char mark) { return mark != 0; });
  std::vector<char> chosen(marks.size(), 0);
  for (int64_t i = 0; i < count; ++i) chosen[size_t(ranking[size_t(i)])] = 1;
  return chosen;
}

struct Agreement {
  Mean auprc, token_f1, iou_f1;
  void add(std::span<const double> weights, const Ranking& ranking,
           const std::vector<char>& marks) {
    const std::vector<char> chosen = choose(ranking, marks);
    auprc.add(fovea::auprc(weights, marks));
    token_f1.add(fovea::token_f1(chosen, marks));
    iou_f1.add(fovea::iou_f1(chosen, marks));
  }
};

void compare_with_truth(const Setting& setting, const Attributions& attributions,
                        const std::optional<Importances>& gradients, Sample& sample) {
  const Random ties = setting.random.split("ties").split("attention");
  const Rankings by_chance = random_rankings(attributions, setting);
  Agreement found, chance;
  Mean gradient;
  for (size_t i = 0; i < attributions.list.size(); ++i) {
    const Attribution& attribution = attributions.list[i];
    if (attribution.truth.empty()) continue;
    sample.has_truth = true;
    found.add(attribution.weights, rank_units(attribution.weights, ties.split(i)),
              attribution.truth);
    if (gradients) gradient.add(auprc((*gradients)[i], attribution.truth));
    for (const Ranking& ranking : by_chance.list) {
      std::vector<double> falling(ranking.size());
      for (size_t place = 0; place < ranking.size(); ++place)
        falling[size_t(ranking[place])] = -double(place);
      chance.add(falling, ranking, attribution.truth);
    }
  }
  sample[Measure::Auprc] = {found.auprc.value(), chance.auprc.value()};
  sample[Measure::TokenF1] = {found.token_f1.value(), chance.token_f1.value()};
  sample[Measure::IouF1] = {found.iou_f1.value(), chance.iou_f1.value()};
  sample[Measure::GradientAuprc] = {gradient.value(), chance.auprc.value()};
}

}  // namespace

Sample evaluate(std::span<const AttentionMap> layers, const Setting& setting) {
  const AttentionMap& map = layers.front();
  Attributions attributions = make_attributions(setting.instance, layers, setting.instance.maps,
                                                setting.options.most_rows, setting.random);
  Sample sample;
  sample.units = attributions.units;
  sample.outputs = int64_t(setting.instance.original.size());
  sample.values = setting.instance.values;
  sample.by_row = attributions.by_row;
  sample.notes = std::move(attributions.notes);
  if (attributions.list.empty()) {
    sample.notes.push_back("the map is empty");
    return sample;
  }
  const auto gradients = gradient_times_input(setting.instance, map, attributions);
  if (gradients) sample[Measure::GradientTau] = {mean_tau(attributions, *gradients), 0.0};
  if (!gradients)
    sample.notes.push_back(
        concat("the network gives no gradients for the axis '", map.key_axis, "'"));
  const auto effects = erase_units(setting, attributions, gradients, sample);
  record_importances(attributions, gradients, effects, sample);
  change_map(setting, map, attributions, sample);
  look_for_adversary(setting, map, sample);
  compare_with_untrained(setting, map.name, attributions, sample);
  compare_with_truth(setting, attributions, gradients, sample);
  return sample;
}

}  // namespace fovea::faithfulness
