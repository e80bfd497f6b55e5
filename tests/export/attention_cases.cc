#include "fovea/attention/attend.h"
#include "fovea/export/attention.h"
#include "fovea/tensor/torch.h"
#include "tests/export/cases.h"

namespace fovea::testing {

namespace {

constexpr int64_t kHeads = 2, kQueries = 3, kWidth = 4, kFirstPosition = 2;

struct Mechanism : torch::nn::Module {
  Mechanism(ScoreOptions score_options, NormaliserOptions normaliser_options,
            AlignmentOptions alignment_options)
      : score(score_options), normaliser(normaliser_options), alignment(alignment_options) {
    scorer = register_module("score", make_score(score, Random(1)));
    aligner = register_module("alignment", make_alignment(alignment, Random(2)));
  }

  ScoreOptions score;
  NormaliserOptions normaliser;
  AlignmentOptions alignment;
  std::shared_ptr<ScoreFunction> scorer;
  std::shared_ptr<Alignment> aligner;
};

ExportedGraphs graph_of(const Mechanism& mechanism) {
  using namespace onnx;
  const auto number = ElementType::Float;
  auto graph = std::make_unique<Graph>("attention", "Attention of several heads and queries");
  const Shape by_key{"batch", kHeads, "keys", kWidth};
  const Shape by_pair{"batch", kHeads, kQueries, "keys"};
  const Weights weights(mechanism);
  AttendValues in;
  in.query = graph->input({"query", number, {"batch", kHeads, kQueries, kWidth}, "queries"});
  const Value keys = graph->input({"keys", number, by_key, "what is looked at"});
  in.keys = prepare_keys(mechanism.score, weights.under("score"), keys);
  in.values = keys;
  in.keep = unsqueeze(
      graph->input({"keep", ElementType::Bool, {"batch", "keys"}, "false: padding"}), {1, 2});
  in.previous_weights = graph->input({"previous", number, by_pair, "weights of the step before"});
  if (reads_position(mechanism.alignment)) in.first_position = graph->integers({kFirstPosition});
  const AttendedValues attended =
      attend({mechanism.score, mechanism.normaliser, mechanism.alignment, weights.under("score"),
              weights.under("alignment")},
             in);
  graph->output({"context", number, {"batch", kHeads, kQueries, kWidth}, "weighted sum"},
                attended.context);
  graph->output({"weights", number, by_pair, "weights"}, attended.weights);
  ExportedGraphs graphs;
  graphs.push_back({"model", std::move(graph)});
  return graphs;
}

/// keep: rows of falling length, the last of several empty.
Json attention_answers(const Mechanism& mechanism, int64_t rows, int64_t length) {
  torch::NoGradGuard no_gradients;
  const Random random(31);
  const auto numbers = [&](const char* name, at::IntArrayRef shape) {
    return random.split(name).normal_tensor(shape, 0, 1, at::kFloat);
  };
  const at::Tensor query = numbers("query", {rows, kHeads, kQueries, kWidth});
  const at::Tensor keys = numbers("keys", {rows, kHeads, length, kWidth});
  const at::Tensor real = at::arange(rows, 0, -1, at::kLong).sub(rows > 1 ? 1 : 0).mul(2);
  const at::Tensor keep = at::arange(length).unsqueeze(0) < real.clamp_max(length).unsqueeze(1);
  const at::Tensor previous = numbers("previous", {rows, kHeads, kQueries, length}).softmax(-1) *
                              keep.unsqueeze(1).unsqueeze(1);
  AttendInput in;
  in.query = query;
  in.memory = remember(*mechanism.scorer, keys, keys, KeepMask::from_keep(keep));
  in.score = mechanism.scorer.get();
  in.normaliser = mechanism.normaliser;
  in.alignment = mechanism.aligner.get();
  in.first_position = kFirstPosition;
  in.previous_weights = previous;
  const Attended attended = attend(in);
  return {
      {"inputs",
       {{"query", tensor_json(query)},
        {"keys", tensor_json(keys)},
        {"keep", tensor_json(keep)},
        {"previous", tensor_json(previous)}}},
      {"outputs",
       {{"context", tensor_json(attended.context)}, {"weights", tensor_json(attended.weights)}}}};
}

}  // namespace

std::vector<ExportCase> attention_cases() {
  std::vector<ExportCase> cases;
  const auto add = [&](const std::string& name, const std::string& score,
                       const std::string& normaliser, const std::string& alignment) {
    const auto mechanism = std::make_shared<Mechanism>(
        ScoreOptions{score, kWidth, kWidth, 5, true, 12, 3, 5},
        NormaliserOptions{normaliser, 0.5, 2}, AlignmentOptions{alignment, 2, kWidth, 4});
    cases.push_back({"attention-" + name,
                     [mechanism](const ExportOptions&) { return graph_of(*mechanism); },
                     [mechanism](int64_t rows, int64_t length) {
                       return attention_answers(*mechanism, rows, length);
                     }});
  };
  for (const std::string& score : onnx::exported_scores()) add(score, score, "softmax", "global");
  for (const std::string& normaliser : normaliser_names())
    add(normaliser, "dot", normaliser, "window");
  for (const std::string& alignment : alignment_names())
    add(alignment, "additive", "softmax", alignment);
  return cases;
}

}  // namespace fovea::testing
