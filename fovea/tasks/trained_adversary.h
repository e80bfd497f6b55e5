// Could a network have been trained that answers as this one does and looks elsewhere (Wiegreffe &
// Pinter 2019)? Other weights inside one network (explain/faithfulness/adversary.h) are no other
// network; here a second one, with first weights of its own, is trained for the purpose on
//   TVD(p', p) - lambda KL(a' || a)          the mean over the rows
//   TVD(p', p) = 1/2 sum over the classes of |p'_c - p_c|
//   KL(a' || a), the mean over all maps, heads and rows that are shares of a whole
// p and a being the first network's probabilities and attention. A point for each lambda: how far
// the answers moved (TVD), how far the attention (JSD, at most ln 2). With lambda 0 nothing is
// asked of the attention: what it differs by is what other first weights alone make.
// The authors' other test besides: the same network learns the data with equal weights in the place
// of its attention. Where that costs nothing, the data need no attention, and what it shows is
// idle.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/metrics/metric.h"
#include "fovea/models/model.h"
#include "fovea/training/options.h"

namespace fovea {

/// The network in question, and what the second one may learn from.
struct AdversarySubject {
  const Model& model;
  std::function<std::unique_ptr<Model>()> make;  // the same network, with undecided weights
  const Dataset& train;
  const Dataset& rows;                                // to measure on
  TrainingOptions training;                           // of the network itself
  std::function<Metrics(const Model&)> measure = {};  // on `rows`; may be empty
};

struct AdversaryRequest {
  std::vector<double> strengths = {0, 0.001, 0.01, 0.1, 1};  // lambda
  int64_t epochs = 0;                      // 0: as many as the network itself was trained for
  bool uniform = true;                     // the test with equal weights, too
  uint64_t seed = 1;                       // of the first weights and the order of the rows
  std::function<bool()> should_stop = {};  // these two may be empty
  /// Told which training this is, from 0, and how many rows of it are done.
  std::function<void(int64_t training, int64_t rows, double loss)> progress = {};
};

/// Means over the rows.
struct AdversaryPoint {
  double strength = 0;
  double distance = 0;              // TVD of the answers
  double agreement = 0;             // share of the same answers
  double divergence = 0;            // JSD of the attention, over all maps
  std::vector<double> by_map = {};  // of each
  Metrics metrics = {};
};

struct AdversaryResult {
  std::vector<std::string> maps;  // their names, each once
  int64_t rows = 0;               // measured
  Metrics base;
  std::vector<AdversaryPoint> points;  // in the order of the strengths
  Metrics uniform;                     // empty: not asked for

  /// The point that looks elsewhere most among those whose answers are still the same ones; null:
  /// there is none.
  const AdversaryPoint* farthest() const;
};

/// Answers are the same up to this mean TVD, where so many of them are. A network that is sure of
/// nothing has a small TVD to every other.
constexpr double kSameAnswers = 0.05, kSameShare = 0.95;

/// Unsupported for networks that do not answer with one class of at most 64, and for those without
/// an attention map of weights that sum to 1 (gates, contributions and edges do not). Throws
/// Stopped (base/stop.h) when should_stop() says so.
AdversaryResult train_adversaries(const AdversarySubject& subject, const AdversaryRequest& request);

}  // namespace fovea
