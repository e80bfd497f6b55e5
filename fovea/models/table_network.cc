#include "fovea/models/table_network.h"

#include <torch/nn/modules/container/modulelist.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/nn/ops/activation.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;
using kernels::TabularLoss;

namespace {

constexpr int64_t kWidestRow = 4096;  // C d: more columns get narrower vectors
constexpr int64_t kLargestScore = 1 << 20, kScoreRank = 32;  // I C: a larger W is two factors
constexpr double kScoreDeviation = 0.01;                     // of its weights at first
constexpr int64_t kPathSteps = 16;                           // of an integral along a line
constexpr int64_t kPredictedRows = 1024;  // at a time: members and tokens multiply what they take

int64_t width_for(const TableNetworkOptions& options, int64_t columns) {
  if (options.width > 0) return options.width;
  if (options.is_transformer()) return 8 * options.heads;
  return std::clamp<int64_t>(kWidestRow / columns, 4, 16);
}

}  // namespace

void TableNetworkOptions::describe(OptionList& list) {
  list.add("name", name,
           "which network: attention over columns, a transformer over columns, a plain network, "
           "logistic/linear regression; auto: the best of them on rows that are held out")
      .choices({"auto", "attention", "transformer", "plain", "linear"});
  list.add("width", width, "numbers of a column's vector; 0: by the number of columns")
      .within(0, 4096);
  list.add("hidden", hidden, "widths of the hidden layers").within(1, 65536);
  list.add("dropout", dropout, "share of hidden units dropped in training").rate();
  list.add("members", members,
           "an ensemble of so many members in one network, which share most of its weights")
      .within(1, 256);
  list.add("entropy_penalty", entropy_penalty,
           "attention: weight in the loss of how evenly it looks, 0 (at one column) to 1 (at all)")
      .at_least(0);
  normaliser.describe(list);  // model.normaliser, model.temperature, model.top_k
  list.add("layers", layers, "transformer: layers in which columns look at each other")
      .within(1, 64);
  list.add("heads", heads, "transformer: attention heads; must divide model.width").within(1, 1024);
  list.add(
      "pruned_heads", pruned_heads,
      "transformer: heads that were taken out, map.layer:head,…;… as columns.1:2; empty: none");
  loss.describe(list);
}

TableNetwork::TableNetwork(TableNetworkOptions options, FeatureShape shape)
    : options_(std::move(options)), shape_(std::move(shape)), loss_(options_.loss, shape_) {
  auto& o = options_;
  const auto inputs = int64_t(shape_.column_of_input.size());
  require(inputs > 0 && columns() > 0, ErrorKind::InvalidArgument,
          "a table model needs at least one input column");
  require(o.hidden.size() <= 16, ErrorKind::InvalidArgument, "model.hidden: ", o.hidden.size(),
          " layers, at most 16");
  require(!o.attends() || o.normaliser.traits().is_differentiable, ErrorKind::InvalidArgument,
          "model.normaliser=", o.normaliser.name,
          " learns by REINFORCE, which this model does not; gumbel also draws one column");
  plain_inputs_ = shape_.plain_inputs.empty() ? torch::arange(inputs)
                                              : torch::tensor(shape_.plain_inputs, torch::kInt64);
  input_means_ = shape_.input_means.empty()
                     ? torch::zeros({inputs})
                     : torch::tensor(shape_.input_means, torch::kFloat32);  // [I]
  require(input_means_.size(0) == inputs, ErrorKind::Internal, "means of ", input_means_.size(0),
          " inputs, expected ", inputs);
  linear_ = register_projection(*this, "linear", {plain_inputs_.size(0), shape_.outputs});
  if (o.is_linear()) return;

  o.width = width_for(o, columns());
  columns_ = register_module("columns", std::make_shared<ColumnEmbedding>(shape_, o.width));
  int64_t width = columns() * o.width;
  if (o.attends()) {
    const bool whole = inputs * columns() <= kLargestScore;
    if (!whole) score_.push_back(register_projection(*this, "score_rank", {inputs, kScoreRank}));
    score_.push_back(register_projection(*this, "score", {whole ? inputs : kScoreRank, columns()}));
  }
  if (o.is_transformer()) {
    width = o.width;
    TransformerLayerOptions layer;
    layer.width = width;
    layer.heads = o.heads;
    layer.feed_forward = 2 * width;
    layer.norm = "pre";
    layer.activation = "gelu";
    layer.hidden_dropout = o.dropout;
    encoder_ = register_module("encoder", std::make_shared<TransformerEncoder>(layer, o.layers));
    MultiHeadOptions attention;
    attention.width = width;
    attention.heads = o.heads;
    class_attention_ =
        register_module("class_attention", std::make_shared<MultiHeadAttention>(attention));
    class_norm_ = register_module("class_norm", std::make_shared<LayerNorm>(width));
    class_token_ = register_parameter("class_token", torch::zeros({width}));
    prune_heads(head_blocks(), parse_pruned_heads(o.pruned_heads));
  }
  if (o.members > 1) {
    member_scales_ = register_parameter("member_scales", torch::zeros({o.members, width}));
    if (o.attends()) {
      score_scales_ = register_parameter("score_scales", torch::zeros({o.members, columns()}));
      score_biases_ = register_parameter("score_biases", torch::zeros({o.members, columns()}));
    }
  }
  const auto layers = register_module("hidden", torch::nn::ModuleList());
  for (const int64_t next : o.hidden) {
    hidden_.push_back(std::make_shared<Projection>(ProjectionOptions{width, next}));
    layers->push_back(hidden_.back());
    width = next;
  }
  output_weight_ =
      register_parameter("output_weight", torch::zeros({o.members, width, shape_.outputs}));
  output_bias_ = register_parameter("output_bias", torch::zeros({o.members, 1, shape_.outputs}));
}

void TableNetwork::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  linear_->weight.zero_();
  linear_->bias.zero_();
  if (options_.is_linear()) return;
  columns_->initialise(random.split("columns"));
  for (size_t i = 0; i < score_.size(); ++i) {  // attention begins nearly even
    initialise_normal(score_[i]->weight, kScoreDeviation, random.split("score").split(i));
    score_[i]->bias.zero_();
  }
  if (encoder_) {
    encoder_->initialise(random.split("encoder"));
    class_attention_->initialise(random.split("class_attention"));
    class_norm_->initialise();
    initialise_like_pytorch(class_token_, class_token_.size(0), random.split("class_token"));
  }
  if (member_scales_.defined())  // 1 or -1
    member_scales_.copy_(
        random.split("member_scales")
            .bernoulli_tensor(member_scales_.sizes(), 0.5, member_scales_.options())
            .mul(2)
            .sub(1));
  if (score_scales_.defined()) score_scales_.fill_(1), score_biases_.zero_();
  for (size_t l = 0; l < hidden_.size(); ++l) {
    const Random own = random.split("hidden").split(l);
    const int64_t in = hidden_[l]->weight.size(1);
    initialise_like_pytorch(hidden_[l]->weight, in, own.split("weight"));
    initialise_like_pytorch(hidden_[l]->bias, in, own.split("bias"));
  }
  initialise_like_pytorch(output_weight_, output_weight_.size(1), random.split("output_weight"));
  output_bias_.zero_();
}

void TableNetwork::set_linear(const Tensor& weight, const Tensor& bias) {
  torch::NoGradGuard no_gradients;
  linear_->weight.copy_(weight);
  linear_->bias.copy_(bias);
}

Schema TableNetwork::schema() const {
  const auto target = shape_.loss == TabularLoss::CrossEntropy ? torch::kInt64 : torch::kFloat32;
  return {{"inputs", torch::kFloat32, {-1, int64_t(shape_.column_of_input.size())}},
          {"target", target, {-1}}};
}

std::vector<LayerSummary> TableNetwork::summary() const {
  std::vector<LayerSummary> layers{{"inputs", {int64_t(shape_.column_of_input.size())}, 0}};
  if (columns_)
    layers.push_back({"columns", {columns(), options_.width}, count_parameters(*columns_)});
  if (!score_.empty()) {
    int64_t parameters = 0;
    for (const auto& layer : score_) parameters += count_parameters(*layer);
    if (score_scales_.defined()) parameters += score_scales_.numel() + score_biases_.numel();
    layers.push_back({"attention (" + options_.normaliser.name + ")", {columns()}, parameters});
  }
  if (encoder_) {
    layers.push_back(
        {concat("transformer (", options_.layers, " layers, ", options_.heads, " heads)"),
         {columns(), options_.width},
         count_parameters(*encoder_)});
    layers.push_back({"class token",
                      {options_.width},
                      count_parameters(*class_attention_) + count_parameters(*class_norm_) +
                          class_token_.numel()});
  }
  if (member_scales_.defined())
    layers.push_back({concat("members (", options_.members, ")"),
                      {options_.members, member_scales_.size(1)},
                      member_scales_.numel()});
  for (const auto& layer : hidden_)
    layers.push_back({"hidden (relu)", {layer->weight.size(0)}, count_parameters(*layer)});
  layers.push_back({"linear path", {shape_.outputs}, count_parameters(*linear_)});
  if (options_.is_linear()) return layers;
  layers.push_back({"output",
                    {options_.members, shape_.outputs},
                    output_weight_.numel() + output_bias_.numel()});
  return layers;
}

ParameterRule TableNetwork::rule_of(const std::string& name) const {
  const bool decays = !name.ends_with("bias") && !name.starts_with("member_") &&
                      name != "score_scales" && name != "score_biases" &&
                      name.find("norm") == std::string::npos && name != "class_token";
  return {1, decays};
}

Tensor TableNetwork::linear_outputs(const Tensor& inputs) const {
  const Tensor plain = shape_.plain_inputs.empty()
                           ? inputs
                           : inputs.index_select(1, plain_inputs_.to(inputs.device()));  // [B, P]
  return linear_->forward(plain);                                                        // [B, O]
}

Tensor TableNetwork::look_at_columns(const Tensor& inputs, const Tensor& embedded,
                                     Pass& pass) const {
  Tensor scores = inputs;
  for (const auto& layer : score_) scores = layer->forward(scores);              // [B, C]
  scores = scores.unsqueeze(1);                                                  // [B, 1, C]
  if (score_scales_.defined()) scores = scores * score_scales_ + score_biases_;  // [B, K, C]
  NormaliseInput input{scores.unsqueeze(2), KeepMask::all(), {}, {}};            // [B, K, 1, C]
  if (pass.random) input.random = pass.random->split("attention");
  const Tensor weights = report_to(
      pass.tap, labelled_map({kMap, "", "columns"}, normalise(options_.normaliser, input).weights,
                             find_normaliser(options_.normaliser.name).kind));  // [B, K, 1, C]
  if (pass.random && options_.entropy_penalty > 0 && columns() > 1)
    pass.entropy = -(weights * (weights + 1e-9).log()).sum(-1).mean() / std::log(double(columns()));
  return (double(columns()) * weights.transpose(2, 3) * embedded.unsqueeze(1))
      .flatten(2);  // [B, K, C d]
}

Tensor TableNetwork::class_token(const Tensor& embedded, const Pass& pass) const {
  std::optional<Random> random;
  if (pass.random) random = pass.random->split("encoder");
  const Tensor tokens = encoder_->forward(embedded, KeepMask::all(),
                                          {kColumnsMap, "columns", "columns"}, random, pass.tap);
  MultiHeadInput look;
  look.query = class_token_.expand({embedded.size(0), 1, -1});  // [B, 1, d]
  look.memory = class_attention_->remember(tokens, tokens, KeepMask::all());
  look.keep_weights = false;
  look.map = {kMap, "", "columns"};
  return class_norm_->forward(look.query + class_attention_->forward(look, pass.tap).context);
}

Tensor TableNetwork::outputs(const Tensor& given, Pass& pass) const {
  const Tensor inputs = leaf_of(pass.tap, "columns", given, shape_.column_of_input);  // [B, I]
  const Tensor line = linear_outputs(inputs).unsqueeze(1);                            // [B, 1, O]
  if (options_.is_linear()) return line;
  const Tensor embedded = columns_->forward(inputs);  // [B, C, d]
  Tensor h = !score_.empty() ? look_at_columns(inputs, embedded, pass)
             : encoder_      ? class_token(embedded, pass)
                             : embedded.flatten(1).unsqueeze(1);  // [B, 1 or K, width]
  if (member_scales_.defined()) h = h * member_scales_;      // [B, K, width]
  for (size_t l = 0; l < hidden_.size(); ++l) {
    std::optional<Random> random;
    if (pass.random) random = pass.random->split(l);
    h = activated_projection(h, hidden_[l]->weight, hidden_[l]->bias, Activation::Relu,
                             options_.dropout, random ? &*random : nullptr);  // [B, K, H]
  }
  const Tensor own = torch::baddbmm(output_bias_, h.transpose(0, 1), output_weight_);  // [K, B, O]
  return own.transpose(0, 1) + line;                                                   // [B, K, O]
}

Loss TableNetwork::loss(const Batch& batch, const StepContext& context) {
  Pass pass{&context.random};
  Loss loss = loss_(outputs(batch.at("inputs"), pass), batch.at("target"));
  if (pass.entropy.defined())
    loss.objective = loss.objective + options_.entropy_penalty * pass.entropy;
  if (options_.is_linear() && shape_.rows > 0)
    loss.objective = loss.objective + 0.5 / double(shape_.rows) * linear_->weight.square().sum();
  return loss;
}

Predictions TableNetwork::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  Pass pass;
  std::vector<Tensor> slices;
  for (const Tensor& rows : batch.at("inputs").split(kPredictedRows))
    slices.push_back(mean_of_members(outputs(rows, pass), shape_.loss));
  return table_predictions(torch::cat(slices), shape_.loss);
}

Tensor TableNetwork::contributions(const Tensor& inputs, const Predictions& predictions) const {
  const auto sum_of_answers = [&](const Tensor& rows) {
    Pass pass;
    return log_odds_or_value(mean_of_members(outputs(rows, pass), shape_.loss), predictions,
                             shape_.loss);  // [B, 1]
  };
  const torch::AutoGradMode gradients(true);
  const Tensor means = input_means_.to(inputs.device());  // [I]
  const Tensor line = (inputs.detach() - means);          // [B, I]
  Tensor slope = torch::zeros_like(line);
  for (int64_t step = 0; step < kPathSteps; ++step) {
    const double place = (double(step) + 0.5) / kPathSteps;
    const Tensor row = (means + place * line).requires_grad_(true);
    slope += torch::autograd::grad({sum_of_answers(row).sum()}, {row})[0] / double(kPathSteps);
  }
  const Tensor column = torch::tensor(shape_.column_of_input, torch::kInt64).to(inputs.device());
  Tensor added = torch::zeros({inputs.size(0), columns()}, line.options())
                     .index_add(1, column, line * slope);  // [B, C]
  // What the sum over few steps leaves goes to the columns by their size.
  const torch::NoGradGuard no_gradients;
  const Tensor whole = sum_of_answers(inputs.detach()) -
                       sum_of_answers(means.expand({inputs.size(0), -1}).contiguous());  // [B, 1]
  const Tensor rest = whole - added.sum(1, /*keepdim=*/true);
  const Tensor size = added.abs() + 1e-12;
  return added + rest * size / size.sum(1, /*keepdim=*/true);
}

Tensor TableNetwork::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  Pass pass{nullptr, tap};
  const Tensor& inputs = batch.at("inputs");
  const Tensor answers = mean_of_members(outputs(inputs, pass), shape_.loss);  // [B, O]
  const Tensor replayed = table_replay(answers, predictions, shape_.loss);     // [B, 1]
  if (!tap || !score_.empty() || encoder_) return replayed;
  const Tensor given = contributions(inputs, predictions);  // [B, C]
  AttentionMap map = labelled_map({kContributions, "", "columns"}, given.unsqueeze(1).unsqueeze(1),
                                  MapKind::Contribution);
  const bool is_number = shape_.loss == TabularLoss::SquaredError;
  map.total = concat(is_number ? "standardised value" : "log odds of the answer",
                     ", less that of a mean row");
  const Tensor replaced = tap->report(std::move(map)).flatten(0, 2);  // [B, C]
  const Tensor change = (replaced - given).sum(1, /*keepdim=*/true);  // [B, 1]
  if (is_number) return replayed + change;
  if (change.eq(0).all().item<bool>()) return replayed;  // the same bits
  return torch::log_sigmoid(log_odds_or_value(answers, predictions, shape_.loss) + change);
}

std::vector<HeadBlock> TableNetwork::head_blocks() const {
  if (!encoder_) return {};
  std::vector<HeadBlock> blocks = encoder_->head_blocks(kColumnsMap);
  blocks.push_back({kMap, 0, class_attention_});
  return blocks;
}

}  // namespace fovea
