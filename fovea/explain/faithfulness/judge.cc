#include "fovea/explain/faithfulness/judge.h"

#include <algorithm>

#include "fovea/base/text.h"
#include "fovea/explain/faithfulness/controls.h"
#include "fovea/explain/faithfulness/erasing.h"
#include "fovea/explain/faithfulness/importance.h"
#include "fovea/metrics/rank.h"
#include "fovea/metrics/rationales.h"
#include "fovea/metrics/statistics.h"

namespace fovea::faithfulness {
namespace {

/// The mean of what is defined.
class Mean {
 public:
  void add(const std::optional<double>& value) {
    if (value) values_.add(*value);
  }
  std::optional<double> value() const {
    return values_.count() > 0 ? std::optional<double>(values_.mean()) : std::nullopt;
  }

 private:
  RunningStatistics values_;
};

std::optional<double> mean_tau(const Claims& claims, const Importances& others) {
  Mean mean;
  for (size_t i = 0; i < claims.list.size(); ++i)
    mean.add(kendall_tau(claims.list[i].weights, others[i]));
  return mean.value();
}

Importances claimed_weights(const Claims& claims) {
  Importances weights;
  for (const Claim& claim : claims.list) weights.push_back(claim.weights);
  return weights;
}

Orders falling_orders(const Importances& importances, const Random& random) {
  Orders orders;
  for (const std::vector<double>& importance : importances)
    orders.list.push_back(falling_order(importance, random.split(orders.list.size())));
  return orders;
}

Orders random_orders(const Claims& claims, const Setting& setting) {
  Orders orders;
  orders.shared = true;
  for (int64_t i = 0; i < setting.options.random_rationales; ++i)
    orders.list.push_back(
        setting.random.split("rationales").split(uint64_t(i)).permutation(claims.units));
  return orders;
}

void add_aopc(const Setting& setting, const Claims& claims, const Orders& own,
              const Orders& by_chance, std::span<const int64_t> bins, Sample& sample) {
  const Aopc found = measure_aopc(setting.subject, setting.erasures, claims, own, bins);
  const Aopc chance = measure_aopc(setting.subject, setting.erasures, claims, by_chance, bins);
  sample[Figure::Comprehensiveness] = {found.comprehensiveness, chance.comprehensiveness};
  sample[Figure::Sufficiency] = {found.sufficiency, chance.sufficiency};
}

void add_areas(const Setting& setting, Sample& sample) {
  const auto area = [&](const auto& curve, Source source) {
    return area_under(setting.x, curve[size_t(source)]);
  };
  sample[Figure::DeletionArea] = {area(sample.deletion, Source::Attention),
                                  area(sample.deletion, Source::Random)};
  sample[Figure::InsertionArea] = {area(sample.insertion, Source::Attention),
                                   area(sample.insertion, Source::Random)};
}

/// Everything that takes units away.
void erase_units(const Setting& setting, const Claims& claims,
                 const std::optional<Importances>& gradients, Sample& sample) {
  Erasures& erasures = setting.erasures;
  if (!erasures.possible()) {
    sample.notes.push_back(erasures.refusal());
    return;
  }
  const Random ties = setting.random.split("ties");
  const Steps steps = rationale_steps(setting.options.bins, setting.x, claims.units);
  std::array<Orders, kSources> orders;
  const auto of = [&](Source source) -> Orders& { return orders[size_t(source)]; };
  of(Source::Attention) = falling_orders(claimed_weights(claims), ties.split("attention"));
  of(Source::Random) = random_orders(claims, setting);
  if (gradients) of(Source::Gradient) = falling_orders(*gradients, ties.split("gradient"));
  for (int64_t unit = 0; unit < claims.units; ++unit) erasures.want({&unit, 1});
  for (const Source source : {Source::Attention, Source::Random})
    want_orders(erasures, of(source), steps.bins);
  for (const Orders& some : orders) want_orders(erasures, some, steps.points);
  erasures.run();

  const Importances effects = leave_one_out(setting.subject, erasures, claims);
  of(Source::LeaveOneOut) = falling_orders(effects, ties.split("leave one out"));
  want_orders(erasures, of(Source::LeaveOneOut), steps.points);
  erasures.run();

  sample[Figure::LeaveOneOutTau] = {mean_tau(claims, effects), 0.0};
  add_aopc(setting, claims, of(Source::Attention), of(Source::Random), steps.bins, sample);
  for (size_t source = 0; source < kSources; ++source) {
    if (orders[source].list.empty()) continue;
    Curves curves = measure_curves(setting.subject, erasures, claims, orders[source], steps.points);
    sample.deletion[source] = std::move(curves.deletion);
    sample.insertion[source] = std::move(curves.insertion);
  }
  add_areas(setting, sample);
  sample.largest_change = erasures.largest_change();
}

void change_map(const Setting& setting, const AttentionMap& map, const Claims& claims,
                Sample& sample) {
  const Controls controls =
      change_weights(setting.subject, map, claims,
                     {setting.options.permutations, setting.options.random_rationales,
                      setting.random.split("controls")});
  sample[Figure::TopZeroed] = {controls.top_zeroed, controls.random_zeroed};
  if (map.kind == MapKind::Contribution) {  // the output is their sum, which no order changes
    sample.notes.push_back("contributions are only added up: permuting them would change nothing");
    return;
  }
  sample[Figure::Permuted].value = controls.permuted;
  sample[Figure::Uniform].value = controls.uniform;
}

void compare_with_untrained(const Setting& setting, const std::string& map, const Claims& claims,
                            Sample& sample) {
  std::vector<AttentionMap> same;
  for (const AttentionMap& other : setting.untrained)
    if (other.name == map) same.push_back(other);
  if (same.empty()) return;
  const Claims others = make_claims(setting.subject, same, setting.untrained,
                                    setting.options.most_rows, setting.random);
  if (others.list.size() != claims.list.size() || others.units != claims.units) return;
  sample[Figure::UntrainedTau] = {mean_tau(claims, claimed_weights(others)), 0.0};
}

/// The first of an order, as many as are marked.
std::vector<char> choose(const Order& order, const std::vector<char>& marks) {
  const auto count = std::ranges::count_if(marks, [](char mark) { return mark != 0; });
  std::vector<char> chosen(marks.size(), 0);
  for (int64_t i = 0; i < count; ++i) chosen[size_t(order[size_t(i)])] = 1;
  return chosen;
}

struct Agreement {
  Mean auprc, token_f1, iou_f1;
  void add(std::span<const double> weights, const Order& order, const std::vector<char>& marks) {
    const std::vector<char> chosen = choose(order, marks);
    auprc.add(fovea::auprc(weights, marks));
    token_f1.add(fovea::token_f1(chosen, marks));
    iou_f1.add(fovea::iou_f1(chosen, marks));
  }
};

void compare_with_truth(const Setting& setting, const Claims& claims,
                        const std::optional<Importances>& gradients, Sample& sample) {
  const Random ties = setting.random.split("ties").split("attention");
  const Orders by_chance = random_orders(claims, setting);
  Agreement found, chance;
  Mean gradient;
  for (size_t i = 0; i < claims.list.size(); ++i) {
    const Claim& claim = claims.list[i];
    if (claim.truth.empty()) continue;
    sample.has_truth = true;
    found.add(claim.weights, falling_order(claim.weights, ties.split(i)), claim.truth);
    if (gradients) gradient.add(auprc((*gradients)[i], claim.truth));
    for (const Order& order : by_chance.list) {
      std::vector<double> falling(order.size());
      for (size_t place = 0; place < order.size(); ++place)
        falling[size_t(order[place])] = -double(place);
      chance.add(falling, order, claim.truth);
    }
  }
  sample[Figure::Auprc] = {found.auprc.value(), chance.auprc.value()};
  sample[Figure::TokenF1] = {found.token_f1.value(), chance.token_f1.value()};
  sample[Figure::IouF1] = {found.iou_f1.value(), chance.iou_f1.value()};
  sample[Figure::GradientAuprc] = {gradient.value(), chance.auprc.value()};
}

}  // namespace

Sample judge(std::span<const AttentionMap> layers, const Setting& setting) {
  const AttentionMap& map = layers.front();
  Claims claims = make_claims(setting.subject, layers, setting.subject.maps,
                              setting.options.most_rows, setting.random);
  Sample sample;
  sample.units = claims.units;
  sample.outputs = int64_t(setting.subject.original.size());
  sample.values = setting.subject.values;
  sample.by_row = claims.by_row;
  sample.notes = std::move(claims.notes);
  if (claims.list.empty()) {
    sample.notes.push_back("the map is empty");
    return sample;
  }
  const auto gradients = gradient_times_input(setting.subject, map, claims);
  if (gradients) sample[Figure::GradientTau] = {mean_tau(claims, *gradients), 0.0};
  if (!gradients)
    sample.notes.push_back(
        concat("the network gives no gradients for the axis '", map.key_axis, "'"));
  erase_units(setting, claims, gradients, sample);
  change_map(setting, map, claims, sample);
  compare_with_untrained(setting, map.name, claims, sample);
  compare_with_truth(setting, claims, gradients, sample);
  return sample;
}

}  // namespace fovea::faithfulness
