// Search for better options: random values (Bergstra & Bengio 2012), each trained briefly, the best
// third for longer, the best of these in full (successive halving, Jamieson & Talwalkar 2016). The
// best of the full trainings and the one with the usual options are then repeated from other seeds:
// what one seed gave may be luck. Validation rows decide, the same for all. The values of a trial
// are a function of the seed and its number, and every result is a line of trials.jsonl, so that a
// search that was ended goes on where it was.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/text.h"
#include "fovea/explain/record/explanation.h"
#include "fovea/tasks/tune_space.h"

namespace fovea {

inline constexpr double kFirstShare = 1.0 / 9;  // of a full training: how long a trial is at first

/// One training of the search.
struct TuneTrial {
  int64_t number = 0;  // 0: the usual options
  int64_t seed = 0;    // how many after the setup's
  double share = 1;    // of a full training
  std::vector<std::pair<std::string, std::string>> options;
  std::optional<double> value;  // of the metric that decides; none where the training failed
  double loss = 0;              // of validation, for ties
  double seconds = 0;
  std::string problem;  // why it failed

  bool is_full() const { return share == 1; }
  Json to_json() const;
};

struct TuneRequest {
  std::function<Setup()> make_setup;
  std::filesystem::path folder;  // trials.jsonl and the best run; an earlier search goes on
  std::vector<Tunable> tunables;
  bool are_usual = false;  // the tunables: those of usual_tunables()
  int64_t trials = 27;
  int64_t seeds = 3;   // from which each finalist is trained
  double seconds = 0;  // for the whole search; 0: as long as it takes. Half of it is at most for
                       // the usual options; if they need more, they are all that is trained
  std::function<void(const TuneTrial&, bool is_new)> trial_ended;  // may be empty
  std::function<bool()> should_stop;                               // may be empty
};

/// How much of the order of the trials one option explains.
struct OptionImportance {
  std::string key;
  double share = 0;
};

/// Options that were trained in full from several seeds.
struct TuneFinalist {
  int64_t number = 0;          // of the trial
  std::vector<double> values;  // of the metric that decides, by seed
  double mean() const;
  double deviation() const;
  std::string text() const;  // "0.871 ± 0.004"
};

struct TuneResult {
  std::string task, metric;
  bool higher_is_better = true;
  std::vector<TuneTrial> trials;             // in the order of the search
  size_t best = 0, usual = 0;                // full trainings among them
  std::vector<TuneFinalist> finalists;       // the best first; empty: nothing was repeated
  std::vector<OptionImportance> importance;  // the largest first; empty for fewer than five trials
  bool stopped = false;                      // before its end, by should_stop
  bool out_of_time = false;
  bool fitted = false;             // the usual model, exactly: the usual tunables do not matter
  std::filesystem::path run;       // of the best options; empty when stopped
  Evaluation validation;           // of that run
  std::optional<Evaluation> test;  // of that run, where there are test rows

  bool is_better(const TuneTrial& one, const TuneTrial& other) const;
  const TuneFinalist* finalist(int64_t number) const;    // null: it is none
  std::string value_text(const TuneTrial& trial) const;  // of a finalist over its seeds
  TextTable table(size_t most = 10) const;               // full trainings, the best first
  Explanation picture() const;                           // which option mattered
  Json to_json() const;
};

/// The share of the order of the first, short trainings that each option explains: an additive
/// ridge regression on ranks, and the variance of what it says of each option.
std::vector<OptionImportance> measure_importance(const TuneResult& result,
                                                 const std::vector<Tunable>& tunables,
                                                 uint64_t seed);

TuneResult tune(const TuneRequest& request);

}  // namespace fovea
