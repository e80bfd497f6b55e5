#include "fovea/data/series/synthetic.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/tensor/random.h"

namespace fovea {

namespace {

constexpr int64_t kMaxValues = int64_t{1} << 28;  // as text a few GB

constexpr int64_t kSyntheticWindow = 24, kSyntheticHorizon = 6;  // where the user says nothing else

/// k / 1e6 with whole k is the number nearest to its decimal text: the division rounds correctly.
double in_millionths(double value) {
  return std::round(value * 1e6) / 1e6;
}

/// c x_{t-1} + sqrt(1 - c^2) e_t, which has deviation 1 from the first step on.
std::vector<double> draw_noise(int64_t steps, double correlation, const Random& random) {
  std::vector<double> values(static_cast<size_t>(steps));
  const double fresh = std::sqrt(1 - correlation * correlation);
  double value = random.split("before").normal(0);
  for (size_t step = 0; step < values.size(); ++step) {
    value = correlation * value + fresh * random.normal(step);
    values[step] = in_millionths(value);
  }
  return values;
}

/// Some steps, as CSV; "" for none.
std::string format_steps(const std::vector<std::string>& names,
                         const std::vector<std::vector<double>>& series, int64_t begin,
                         int64_t count) {
  if (count == 0) return "";
  std::string text = join(names, ",") + "\n";
  for (int64_t step = begin; step < begin + count; ++step)
    for (size_t i = 0; i < series.size(); ++i)
      text += format_exact(series[i][size_t(step)]) + (i + 1 < series.size() ? "," : "\n");
  return text;
}

}  // namespace

void SyntheticSeriesOptions::describe(OptionList& list) {
  list.add("rows", rows, "built-in data: number of steps, all splits together").at_least(2);
  list.add("lag", lag, "built-in data: the output copies the input of so many steps ago")
      .at_least(1);
  list.add("correlation", correlation,
           "built-in data: of each input with its last step; 0: white noise")
      .above(-1)
      .below(1);
  list.add("noise", noise, "built-in data: deviation of the noise on the output").at_least(0);
  list.add("distractors", distractors, "built-in data: inputs that nothing depends on").at_least(0);
  list.add("seed", seed,
           "built-in data: seed of the numbers; the training seed does not change them")
      .at_least(0);
}

SyntheticTables draw_series(const SyntheticSeriesOptions& options, double validation_fraction,
                            double test_fraction) {
  require(options.lag >= 1 && options.distractors >= 0 && options.noise >= 0 &&
              std::abs(options.correlation) < 1,
          ErrorKind::InvalidArgument, "lag ", options.lag, ", ", options.distractors,
          " distractors, noise ", options.noise, " and correlation ", options.correlation,
          " cannot be drawn; the lag is at least 1, the correlation between -1 and 1");
  require(options.distractors < kMaxValues && options.lag < kMaxValues && options.rows >= 2 &&
              options.rows <= kMaxValues / (options.distractors + 2),
          ErrorKind::InvalidArgument, format_count(options.rows), " steps of ",
          format_count(options.distractors), " distractors cannot be drawn; steps are at least 2 ",
          "and all series have at most ", format_count(kMaxValues), " numbers");
  const Random random = Random(uint64_t(options.seed)).split("lag");
  // x begins `lag` steps early: the first outputs are copies too.
  const std::vector<double> whole =
      draw_noise(options.rows + options.lag, options.correlation, random.split("x"));
  std::vector<std::string> names{"x"};
  std::vector<std::vector<double>> series{{whole.begin() + options.lag, whole.end()}};
  for (int64_t i = 0; i < options.distractors; ++i) {
    names.push_back(concat("n", i));
    series.push_back(draw_noise(options.rows, options.correlation,
                                random.split("distractors").split(uint64_t(i))));
  }
  const std::vector<std::string> inputs = names;
  std::vector<double> output(whole.begin(), whole.begin() + options.rows);
  const Random noise = random.split("noise");
  if (options.noise > 0)
    for (size_t step = 0; step < output.size(); ++step)
      output[step] = in_millionths(output[step] + options.noise * noise.normal(step));
  names.push_back("y");
  series.push_back(std::move(output));

  const TimeSplit steps = split_in_time(options.rows, validation_fraction, test_fraction);
  SyntheticTables drawn;
  int64_t begin = 0;
  for (int split = 0; split < kSplitCount; begin += steps[split++])
    drawn.files[size_t(split)] = format_steps(names, series, begin, steps[split]);
  drawn.generator = options_json(options);
  drawn.description = {{"input_columns", inputs},
                       {"target_columns", std::vector<std::string>{"y"}},
                       {"window", kSyntheticWindow},
                       {"horizon", kSyntheticHorizon},
                       {"truth", {{"lag", options.lag}, {"input", "x"}, {"target", "y"}}},
                       {"standardise", "no"}};  // drawn with mean 0 and deviation 1
  ContentHash hash;
  hash.add(concat("forecast ", drawn.generator.dump(), " ", steps.validation, " ", steps.test));
  drawn.hash = hash.text();
  drawn.notes = {concat("built-in synthetic data, seed ", options.seed), note_steps(steps)};
  return drawn;
}

std::string note_steps(const TimeSplit& steps) {
  return concat(format_count(steps.train), " training, ", format_count(steps.validation),
                " validation and ", format_count(steps.test),
                " test steps, in time order; no window crosses a border");
}

std::vector<int64_t> lagged_positions(int64_t lag, int64_t window, int64_t horizon) {
  std::vector<int64_t> positions;
  for (int64_t step = 1; step <= horizon; ++step) {
    const int64_t position = window - 1 + step - lag;
    positions.push_back(position >= 0 && position < window ? position : -1);
  }
  return positions;
}

}  // namespace fovea
