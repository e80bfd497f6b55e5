// model.name=auto: the network is chosen on the data. Each candidate is trained on some of the
// training rows and measured on others, which none of them sees in training; small data are cut
// several times, large data once, with more rows for those that are close. Whoever is clearly
// behind leaves the race. The preferred candidate, the task's first, or else the simplest one is
// taken unless another is better by more than one standard error of the difference (the
// one-standard-error rule, Breiman et al. 1984). Which rows, how many and how long follows from the
// data and the seed alone, so the choice is the same on every machine; with training.seconds a
// share of them bounds it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/progress.h"
#include "fovea/base/text.h"
#include "fovea/tasks/training_time.h"

namespace fovea {

struct Candidate {
  std::string model;
  double loss = 0;            // mean over the rows that were held out
  double difference = 0;      // of that to the best one's
  double standard_error = 0;  // of the difference; 0 for the best
  double seconds = 0;         // training, all repeats
};

struct ModelChoice {
  std::string model;   // what was chosen
  std::string reason;  // one sentence
  int64_t training_rows = 0, held_out_rows = 0, repeats = 0;
  std::vector<Candidate> candidates;
  std::vector<std::string> left_out;  // too slow for these data

  TextTable table() const;
  Json to_json() const;
};

/// Decides by what the candidates have measured: the first one where it is within one standard
/// error of the best and both are within 5 % of its loss; otherwise, and where the standard error
/// is larger, the last, simplest one within one standard error.
void take_best(ModelChoice& choice);

struct ChooseHooks {
  StageProgress progress;             // of each candidate's trainings; may be empty
  std::function<bool()> should_stop;  // may be empty
};

constexpr double kShareOfChoice = 0.3;  // of training.seconds, where it is given

/// Sets model.name to the best candidate. Nothing where model.name is one network already. A choice
/// that is stopped is none: InvalidArgument, since a training that goes on must be the same as one
/// that was never stopped.
std::optional<ModelChoice> choose_model(Setup& setup, const Splits& splits,
                                        const ChooseHooks& hooks);

/// Of the choice and the training after it, by trying `seconds` of each candidate's steps. Zeros
/// where there is no choice to make. The setup stays as it is.
TrainingTime time_choice(Setup& setup, const Splits& splits, double seconds);

}  // namespace fovea
