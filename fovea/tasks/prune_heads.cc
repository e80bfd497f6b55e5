#include "fovea/tasks/prune_heads.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "fovea/base/error.h"
#include "fovea/models/head_groups.h"
#include "fovea/tasks/hugging_face.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/training/checkpoint.h"

namespace fovea {

namespace {

constexpr int64_t kTimedRows = 20, kTimes = 3;
constexpr int64_t kCurvePoints = 10;

const char* const kOption = "model.pruned_heads";

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Of one prediction, alone: the best of several rounds over some rows.
double seconds_of(const Predictor& predictor, const Dataset& rows) {
  const ExampleSource some = spread_rows(rows, kTimedRows);
  std::vector<Example> examples;
  for (int64_t row = 0; row < some.size; ++row) examples.push_back(some.example(row));
  double best = 0;
  for (int64_t time = 0; time < kTimes; ++time) {
    const double start = now();
    for (const Example& example : examples) predictor.predict({&example, 1});
    const double seconds = (now() - start) / double(examples.size());
    best = time == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

/// `timed`: a curve is not.
PrunedStage stage_of(const Task& task, const Model& model, const Dataset& rows, bool timed) {
  PrunedStage stage;
  stage.heads = int64_t(heads_there(model.head_blocks()).size());
  stage.parameters = count_parameters(model);
  stage.metrics = task.measure(model, rows);
  if (timed) stage.seconds = seconds_of(BorrowedPredictor(task, model), rows);
  return stage;
}

std::vector<RankedHeads> ranked_by(const Pipeline& pipeline, const Dataset& rows,
                                   const PruneRequest& request) {
  ImportanceOptions options;
  options.zeroing = request.by_drop;
  const ExampleSource some = spread_rows(rows, request.rows);
  if (request.measured) options.progress = [&](int64_t done) { request.measured(done, some.size); };
  return rank_heads(pipeline.model(), measure_importance(pipeline, some, options), request.by_drop);
}

/// Takes more and more heads out of a network of its own.
std::vector<PrunedStage> curve_of(const std::filesystem::path& run, const Dataset& judge,
                                  std::span<const RankedHeads> ranked) {
  const Pipeline pipeline = Pipeline::load(run);
  const auto blocks = pipeline.model().head_blocks();
  const auto all = int64_t(heads_there(blocks).size());
  std::vector<PrunedStage> curve;
  std::vector<HeadPlace> gone;
  for (int64_t point = 0; point <= kCurvePoints; ++point) {
    const std::vector<HeadPlace> going = least_important(ranked, all * point / kCurvePoints);
    prune_heads(blocks, std::span(going).subspan(gone.size()));  // the rest is gone already
    gone = going;
    curve.push_back(stage_of(pipeline.task(), pipeline.model(), judge, /*timed=*/false));
  }
  return curve;
}

void check(const Pipeline& pipeline, const PruneRequest& request) {
  const auto there = int64_t(heads_there(pipeline.model().head_blocks()).size());
  require(there > 0, ErrorKind::InvalidArgument, request.run.string(),
          ": has no attention heads that could go; transformers, BERT and the LSTM tagger have");
  require(request.heads <= there, ErrorKind::InvalidArgument, request.run.string(), ": has ", there,
          " heads; ", request.heads, " cannot go");
}

}  // namespace

ExampleSource spread_rows(const Dataset& rows, int64_t count) {
  const int64_t chosen = std::min(count, rows.size());
  return {chosen,
          [&rows, chosen](int64_t row) { return rows.example(row * rows.size() / chosen); }};
}

std::vector<RankedHeads> rank_heads(const Model& model, std::span<const HeadImportance> measured,
                                    bool by_drop) {
  std::map<HeadName, double> importance;
  for (const HeadImportance& one : measured)
    importance[one.name] = by_drop ? one.drop.value_or(0) : one.importance;
  std::vector<RankedHeads> ranked;
  for (const HeadGroup& group : head_groups(model)) {
    RankedHeads& heads = ranked.emplace_back();
    for (const auto& [place, row] : group.members) {
      const auto found = importance.find({place.map, place.layer, row});
      require(found != importance.end(), ErrorKind::Internal, "head ", row, " of '", place.map,
              "' was not measured");
      heads.heads.push_back(place);
      heads.importance += found->second / double(group.members.size());
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const RankedHeads& left, const RankedHeads& right) {
                     return left.importance < right.importance;
                   });
  return ranked;
}

std::vector<HeadPlace> least_important(std::span<const RankedHeads> ranked, int64_t count) {
  std::vector<HeadPlace> heads;
  for (const RankedHeads& group : ranked) {
    if (int64_t(heads.size() + group.heads.size()) > count) break;
    heads.insert(heads.end(), group.heads.begin(), group.heads.end());
  }
  return heads;
}

PruneResult prune_run(const PruneRequest& request) {
  require(!is_hugging_face(request.run), ErrorKind::InvalidArgument, request.run.string(),
          ": what a head is worth shows in a task; train one first, as fovea train documents "
          "--from FOLDER");
  Pipeline pipeline = Pipeline::load(request.run);
  check(pipeline, request);
  const Splits splits = pipeline.load_data("");
  const Dataset& judge = splits.validation ? *splits.validation : *splits.train;
  const Model& model = pipeline.model();
  const auto blocks = model.head_blocks();

  PruneResult result;
  result.before = stage_of(pipeline.task(), model, judge, /*timed=*/true);
  const std::vector<RankedHeads> ranked = ranked_by(pipeline, *splits.train, request);
  if (request.curve) result.curve = curve_of(request.run, judge, ranked);
  result.gone = least_important(ranked, request.heads);
  prune_heads(blocks, result.gone);
  result.pruned = stage_of(pipeline.task(), model, judge, /*timed=*/true);

  const auto weights = state_of(model);
  Setup setup = std::move(pipeline.setup());
  setup.set(kOption, pruned_heads_text(heads_gone(blocks)));
  for (const std::string& assignment : request.assignments) setup.set(assignment);
  setup.training().epochs = request.epochs;
  setup.training().steps = 0;
  setup.common().from.clear();  // it begins with its own weights
  TrainRequest training;
  training.folder = request.folder;
  training.overwrite = request.overwrite;
  training.untrained = request.epochs == 0;
  training.loaded = [&](const Training& made) {
    load_state(*made.model, weights, "the pruned weights");
  };
  training.hooks.should_stop = request.should_stop;
  if (request.trained)
    training.hooks.progress = [&](int64_t rows, double loss) {
      request.trained(rows, request.epochs * splits.train->size(), loss);
    };
  const Training after = train(setup, training);
  if (request.epochs > 0)
    result.retrained = stage_of(setup.task(), *after.model, judge, /*timed=*/true);
  return result;
}

}  // namespace fovea
