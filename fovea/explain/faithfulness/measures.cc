#include "fovea/explain/faithfulness/measures.h"

#include <algorithm>
#include <map>

#include "fovea/base/text.h"
#include "fovea/metrics/statistics.h"

namespace fovea::faithfulness {
namespace {

struct Description {
  const char* name;
  const char* better;
  const char* about;
};

constexpr std::array<Description, kMeasures> kOfProbabilities = {{
    {"comprehensiveness", "higher",
     "How far the output falls when the units with the largest weights are taken away."},
    {"sufficiency", "lower",
     "How far the output falls when only the units with the largest weights are left."},
    {"deletion area", "lower", "The mean of the deletion curve of the weights."},
    {"insertion area", "higher", "The mean of the insertion curve of the weights."},
    {"tau with gradient x input", "higher",
     "Kendall's rank correlation of the weights with gradient x input."},
    {"tau with leave one out", "higher",
     "Kendall's rank correlation of the weights with the effect of taking each unit away."},
    {"permuted attention", "higher", "Median change of the output when the weights are shuffled."},
    {"uniform attention", "higher", "Change of the output when all weights of a row are equal."},
    {"top weight zeroed", "higher",
     "Change of the output when the largest weight of each row is set to 0; beside it, when "
     "another "
     "weight is."},
    {"adversarial attention", "lower",
     "Jensen-Shannon divergence, at most 0.69, between the weights and the most different ones "
     "found "
     "that leave the answer's probability within 0.01."},
    {"tau with untrained network", "lower",
     "Kendall's rank correlation of the weights with those of the same network before training: "
     "near 0 unless the picture does not depend on what was learned."},
    {"AUPRC", "higher",
     "Area under the precision-recall curve of the weights against the units known to matter."},
    {"token F1", "higher", "F1 of as many units of largest weight as are known to matter."},
    {"IOU F1", "higher",
     "The same for runs of neighbouring units that overlap by half of their union."},
    {"AUPRC of gradient x input", "none",
     "The area for gradient x input in place of the weights: what they are to be held against."},
}};

/// Curves of values show the change, not the output: what is good turns round.
Description measure_description(Measure measure, bool values) {
  Description description = kOfProbabilities[size_t(measure)];
  if (!values) return description;
  if (measure == Measure::Comprehensiveness)
    description.about =
        "How far the output moves when the units with the largest weights are taken away.";
  if (measure == Measure::Sufficiency)
    description.about =
        "How far the output moves when only the units with the largest weights are left.";
  if (measure == Measure::DeletionArea) description.better = "higher";
  if (measure == Measure::InsertionArea) description.better = "lower";
  return description;
}

bool needs_truth(Measure measure) {
  return measure == Measure::Auprc || measure == Measure::TokenF1 || measure == Measure::IouF1 ||
         measure == Measure::GradientAuprc;
}

FaithfulnessMeasure summarise_measure(Measure measure, const std::vector<Sample>& samples,
                                      bool values, std::vector<std::string>& notes) {
  const Description description = measure_description(measure, values);
  FaithfulnessMeasure result;
  result.name = description.name;
  result.better = description.better;
  result.about = description.about;
  std::vector<double> found;
  RunningStatistics baseline;
  for (const Sample& sample : samples) {
    const Finding& finding = sample[measure];
    if (!finding.value) continue;
    found.push_back(*finding.value);
    if (finding.baseline) baseline.add(*finding.baseline);
  }
  if (found.empty()) return result;
  const Summary summary = summarize(found);
  result.value = summary.mean;
  if (summary.interval)
    result.interval = {{summary.mean - *summary.interval, summary.mean + *summary.interval}};
  if (baseline.count() > 0) result.baseline = baseline.mean();
  if (found.size() < samples.size())
    notes.push_back(concat(result.name, ": defined for ", format_count(summary.count), " of ",
                           format_count(int64_t(samples.size())), " examples"));
  return result;
}

using CurveOfSample = std::array<std::vector<double>, kSources> Sample::*;

FaithfulnessCurve mean_curve(CurveOfSample curve, const std::vector<Sample>& samples,
                             const std::vector<double>& x) {
  FaithfulnessCurve result;
  result.x = x;
  for (size_t source = 0; source < kSources; ++source) {
    std::vector<RunningStatistics> points(x.size());
    for (const Sample& sample : samples) {
      const std::vector<double>& values = (sample.*curve)[source];
      for (size_t i = 0; i < values.size(); ++i) points[i].add(values[i]);
    }
    if (points.empty() || points[0].count() == 0) continue;
    FaithfulnessCurve::Series series{kSourceNames[source], {}};
    for (const RunningStatistics& point : points) series.values.push_back(point.mean());
    result.series.push_back(std::move(series));
  }
  return result;
}

std::vector<FaithfulnessCurve> mean_curves(const std::vector<Sample>& samples,
                                           const std::vector<double>& x, bool values) {
  const std::string shown = values ? "How far the output has moved" : "The output";
  FaithfulnessCurve deletion = mean_curve(&Sample::deletion, samples, x);
  deletion.name = "deletion";
  deletion.about = shown + " while the units with the largest weights are taken away first.";
  FaithfulnessCurve insertion = mean_curve(&Sample::insertion, samples, x);
  insertion.name = "insertion";
  insertion.about = shown + " while the units with the largest weights are put back first.";
  std::vector<FaithfulnessCurve> curves;
  for (FaithfulnessCurve* curve : {&deletion, &insertion})
    if (!curve->series.empty()) curves.push_back(std::move(*curve));
  return curves;
}

std::string output_text(const std::vector<Sample>& samples) {
  const bool several =
      std::ranges::any_of(samples, [](const Sample& sample) { return sample.outputs > 1; });
  const bool by_row = samples.front().by_row;
  if (samples.front().values)
    return several && !by_row ? "values, in the network's own units: mean absolute change"
           : several ? "value of each output unit, in the network's own units: absolute change"
                     : "value, in the network's own units: absolute change";
  if (!several) return "probability of the answer";
  return by_row ? "probability of each unit of the answer"
                : "probability of a unit of the answer, the mean over all of them";
}

/// Each note once, with the number of examples that it holds for where that is not all of them.
void add_notes(const std::vector<Sample>& samples, std::vector<std::string>& notes) {
  std::vector<std::string> order;
  std::map<std::string, size_t> counts;
  for (const Sample& sample : samples)
    for (const std::string& note : sample.notes)
      if (counts[note]++ == 0) order.push_back(note);
  for (const std::string& note : order)
    notes.push_back(counts[note] == samples.size()
                        ? note
                        : concat(note, " (", format_count(int64_t(counts[note])), " of ",
                                 format_count(int64_t(samples.size())), " examples)"));
}

}  // namespace

Faithfulness summarise(const std::string& map, const std::vector<Sample>& samples,
                       const std::vector<double>& x) {
  Faithfulness result;
  result.map = map;
  result.examples = int64_t(samples.size());
  if (samples.empty()) return result;
  const bool values = samples.front().values;
  const bool has_truth =
      std::ranges::any_of(samples, [](const Sample& sample) { return sample.has_truth; });
  const bool has_adversary =
      std::ranges::any_of(samples, [](const Sample& sample) { return sample.has_adversary; });
  result.output = output_text(samples);
  add_notes(samples, result.notes);
  for (size_t i = 0; i < kMeasures; ++i) {
    const auto measure = static_cast<Measure>(i);
    if (needs_truth(measure) && !has_truth) continue;
    if (measure == Measure::Adversary && !has_adversary) continue;
    result.measures.push_back(summarise_measure(measure, samples, values, result.notes));
  }
  result.curves = mean_curves(samples, x, values);
  if (samples.size() == 1) result.importances = samples.front().importances;
  return result;
}

}  // namespace fovea::faithfulness
