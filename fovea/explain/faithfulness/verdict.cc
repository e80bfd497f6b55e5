#include "fovea/explain/faithfulness/verdict.h"

#include <algorithm>

#include "fovea/base/text.h"
#include "fovea/metrics/statistics.h"

namespace fovea::faithfulness {
namespace {

constexpr double kFewestUnits = 3;    // of fewer units none stands out
constexpr double kNoticeable = 0.01;  // of the output's range: what counts as a change
constexpr double kClearRatio = 1.5;   // for one example, which has no interval
constexpr double kSamePicture = 0.8;  // tau with an untrained network

enum class Answer { Yes, Unclear, No, Unknown };

/// Whether the weights do better than chance in one measure.
struct Gain {
  Answer answer = Answer::Unknown;
  double value = 0, baseline = 0;
};

struct Evidence {
  Gain taken_away, kept;  // comprehensiveness, sufficiency
  double floor = 0;       // the smallest change that counts
  std::optional<double> permuted, tau, untrained_tau;
  double units = 0;
};

/// `sign` is 1 where higher is better, else -1.
Gain measure_gain(const std::vector<Sample>& samples, Measure measure, double sign, double floor) {
  std::vector<double> gains;
  RunningStatistics values, baselines;
  for (const Sample& sample : samples) {
    const Finding& finding = sample[measure];
    if (!finding.value || !finding.baseline) continue;
    gains.push_back(sign * (*finding.value - *finding.baseline));
    values.add(*finding.value);
    baselines.add(*finding.baseline);
  }
  if (gains.empty()) return {};
  Gain gain{Answer::Unclear, values.mean(), baselines.mean()};
  const Summary summary = summarize(gains);
  const double better = sign > 0 ? gain.value : gain.baseline;
  const double worse = sign > 0 ? gain.baseline : gain.value;
  const bool clear =
      summary.interval ? summary.mean - *summary.interval > 0 : better >= kClearRatio * worse;
  if (summary.mean <= floor)
    gain.answer = Answer::No;
  else if (clear)
    gain.answer = Answer::Yes;
  return gain;
}

double noticeable_change(const std::vector<Sample>& samples) {
  if (!samples.front().values) return kNoticeable;
  RunningStatistics range;
  for (const Sample& sample : samples)
    if (sample.largest_change) range.add(*sample.largest_change);
  return kNoticeable * range.mean();
}

std::optional<double> mean_value(const std::vector<Sample>& samples, Measure measure) {
  Mean mean;
  for (const Sample& sample : samples) mean.add(sample[measure].value);
  return mean.value();
}

Evidence gather_evidence(const std::vector<Sample>& samples) {
  Evidence evidence;
  evidence.floor = noticeable_change(samples);
  evidence.taken_away = measure_gain(samples, Measure::Comprehensiveness, 1, evidence.floor);
  evidence.kept = measure_gain(samples, Measure::Sufficiency, -1, evidence.floor);
  evidence.permuted = mean_value(samples, Measure::Permuted);
  evidence.tau = mean_value(samples, Measure::LeaveOneOutTau);
  if (!evidence.tau) evidence.tau = mean_value(samples, Measure::GradientTau);
  evidence.untrained_tau = mean_value(samples, Measure::UntrainedTau);
  RunningStatistics units;
  for (const Sample& sample : samples) units.add(double(sample.units));
  evidence.units = units.mean();
  return evidence;
}

std::string number(double value) {
  return format_number(value, 2);
}

/// "Taking away what 'attention' points at changes the output 4.2 times as much as …"
std::string taking_away(const std::string& map, const Evidence& evidence) {
  const Gain& gain = evidence.taken_away;
  const std::string start = concat("Taking away what '", map, "' points at changes the output ");
  if (gain.answer == Answer::No)
    return concat(start, "by ", number(gain.value),
                  gain.value > gain.baseline ? ", hardly more" : ", no more",
                  " than taking away random units (", number(gain.baseline), ")");
  if (gain.baseline > evidence.floor && gain.value < 100 * gain.baseline)
    return concat(start, number(gain.value / gain.baseline),
                  " times as much as taking away random units (", number(gain.value), " against ",
                  number(gain.baseline), ")");
  return concat(start, "by ", number(gain.value), ", taking away random units by ",
                number(gain.baseline));
}

/// What speaks against a picture that does better than chance in some way.
std::vector<std::string> doubts(const Evidence& evidence, int64_t examples) {
  std::vector<std::string> found;
  const Gain& kept = evidence.kept;
  if (evidence.taken_away.answer == Answer::Unclear)
    found.push_back(examples == 1 ? "one example cannot tell this from chance"
                                  : "so few or so different examples cannot tell this from chance");
  if (kept.answer == Answer::No || kept.answer == Answer::Unclear)
    found.push_back(concat("keeping only that changes it by ", number(kept.value),
                           kept.answer == Answer::No ? ", no less" : ", not clearly less",
                           " than keeping random units (", number(kept.baseline), ")"));
  if (evidence.tau && *evidence.tau <= 0)
    found.push_back(concat("it puts the units in another order than their effects do (tau ",
                           number(*evidence.tau), ")"));
  return found;
}

std::string for_examples(int64_t examples) {
  return examples == 1 ? "for this example"
                       : concat("for these ", format_count(examples), " examples");
}

void unknown(const Evidence& evidence, Faithfulness& result) {
  result.trust = "unknown";
  if (evidence.taken_away.answer != Answer::Unknown && evidence.units < kFewestUnits) {
    result.verdict =
        concat("'", result.map, "' looks at ", number(evidence.units), " units",
               result.examples > 1 ? " on average" : "", ": too few to tell which of them matter.");
  } else if (evidence.permuted) {
    result.verdict = concat("Shuffling the weights of '", result.map, "' changes the output by ",
                            number(*evidence.permuted),
                            ", but what it points at could not be taken away: too little was "
                            "measured to say whether the picture shows what the model used.");
  } else {
    result.verdict =
        concat("Too little of '", result.map,
               "' could be measured to say whether the picture shows what the model used.");
  }
}

}  // namespace

void give_verdict(const std::vector<Sample>& samples, Faithfulness& result) {
  if (samples.empty()) return unknown({}, result);
  const Evidence evidence = gather_evidence(samples);
  const std::string where = for_examples(result.examples);
  const Answer taken_away = evidence.taken_away.answer, kept = evidence.kept.answer;
  const bool few = evidence.units < kFewestUnits;
  if (!few && evidence.permuted && *evidence.permuted <= evidence.floor) {
    result.trust = "unsupported";
    result.verdict = concat("Shuffling the weights of '", result.map, "' changes the output by ",
                            number(*evidence.permuted), ", which is next to nothing: the picture ",
                            "does not show what the model used ", where, ".");
  } else if (few || taken_away == Answer::Unknown) {
    unknown(evidence, result);
  } else if (evidence.untrained_tau && *evidence.untrained_tau >= kSamePicture) {
    result.trust = "unsupported";
    result.verdict = concat("The same network before training draws nearly the same picture (tau ",
                            number(*evidence.untrained_tau), "): '", result.map,
                            "' does not show what the model has learned to use ", where, ".");
  } else if (taken_away == Answer::No && kept != Answer::Yes) {
    result.trust = "unsupported";
    result.verdict = concat(taking_away(result.map, evidence),
                            ": the picture does not show what the model used ", where, ".");
  } else {
    std::vector<std::string> against = doubts(evidence, result.examples);
    if (taken_away == Answer::No)
      against.push_back(concat("keeping only that changes it by ", number(evidence.kept.value),
                               " against ", number(evidence.kept.baseline)));
    result.trust = against.empty() ? "supported" : "mixed";
    std::string shuffled;
    if (evidence.permuted)
      shuffled = concat(against.empty() ? ", and" : ",", " shuffling the weights changes it by ",
                        number(*evidence.permuted));
    result.verdict = concat(taking_away(result.map, evidence), shuffled,
                            against.empty() ? ": the picture shows what the model used "
                                            : concat(", but ", join(against, " and "),
                                                     ": the picture shows only in part what the "
                                                     "model used "),
                            where, ".");
  }
}

}  // namespace fovea::faithfulness
