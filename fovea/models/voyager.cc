#include "fovea/models/voyager.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/attention/attend.h"
#include "fovea/base/text.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kOffsets = 64;    // lines of a page
constexpr double kFarAway = -1e30;  // the score of an expert that is not there

/// What the tap makes of weights [B, Q, K].
Tensor reported(const MapLabel& label, const Tensor& weights, Tap& tap) {
  return tap.report(labelled_map(label, weights.unsqueeze(1))).squeeze(1);
}

Tensor dropped(const Tensor& x, double rate, const Random* random, const std::string& name) {
  if (random == nullptr || rate == 0) return x;
  const Random own = random->split(name);
  return sequence_dropout(x, rate, &own);
}

}  // namespace

void VoyagerOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"voyager"});
  list.add("page", page, "numbers per page, and per offset and expert").at_least(1);
  list.add("experts", experts, "vectors of each offset, among which the page chooses").at_least(1);
  list.add("pc", pc, "numbers per instruction").at_least(1);
  list.add("hidden", hidden, "numbers per access of each of the two recurrences").at_least(1);
  list.add("layers", layers, "stacked layers of each").within(1, 16);
  list.add("history", history,
           "last: the heads see the last state, as in the paper; attention: also a mean of all "
           "states, by attention")
      .choices({"last", "attention"});
  list.add("targets", targets,
           "in training every access of a window predicts the next one, or the last one alone")
      .choices({"every", "last"});
  list.add("dropout", dropout, "of embeddings, between layers and of states").rate();
  list.add("degree", degree, "lines that are named after each access, at most").within(1, kOffsets);
}

Voyager::Voyager(VoyagerOptions options, VoyagerShape shape)
    : options_(std::move(options)), shape_(shape) {
  const auto& o = options_;
  pages_ = register_parameter("pages", at::zeros({shape_.pages, o.page}));
  offsets_ = register_parameter("offsets", at::zeros({kOffsets + 1, o.experts, o.page}));
  pcs_ = register_parameter("pcs", at::zeros({shape_.pcs, o.pc}));
  const RecurrentOptions recurrent{"lstm",   o.pc + 2 * o.page,       o.hidden,
                                   o.layers, /*bidirectional=*/false, o.dropout};
  coarse_ = register_module("coarse", std::make_shared<Recurrent>(recurrent));
  fine_ = register_module("fine", std::make_shared<Recurrent>(recurrent));
  if (looks_back()) {
    const ProjectionOptions query{o.hidden, o.hidden, /*bias=*/false};
    coarse_query_ = register_projection(*this, "coarse_query", query);
    fine_query_ = register_projection(*this, "fine_query", query);
  }
  const int64_t seen = looks_back() ? 2 * o.hidden : o.hidden;
  page_output_ = register_projection(*this, "page_output", {seen, shape_.pages});
  offset_output_ = register_projection(*this, "offset_output", {seen, kOffsets});
}

void Voyager::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  const auto draw = [&](const Tensor& table, const char* name) {
    table.copy_(random.split(name).uniform_tensor(table.sizes(), -1, 1, table.options()));
  };
  draw(pages_, "pages");
  draw(offsets_, "offsets");
  draw(pcs_, "pcs");
  coarse_->initialise(random.split("coarse"));
  fine_->initialise(random.split("fine"));
  if (looks_back()) {
    coarse_query_->initialise(random.split("coarse_query"));
    fine_query_->initialise(random.split("fine_query"));
  }
  page_output_->initialise(random.split("page_output"));
  offset_output_->initialise(random.split("offset_output"));
}

Schema Voyager::schema() const {
  Schema schema;
  for (const char* name : {"pages", "offsets", "pcs", "target_pages", "target_offsets"})
    schema.push_back({name, at::kLong, {-1, -1}});
  return schema;
}

std::vector<LayerSummary> Voyager::summary() const {
  const auto& o = options_;
  std::vector<LayerSummary> layers{
      {concat("pages (", shape_.pages, ")"), {o.page}, pages_.numel()},
      {concat("offsets (", o.experts, " experts)"), {o.page}, offsets_.numel()},
      {concat("instructions (", shape_.pcs, ")"), {o.pc}, pcs_.numel()},
      {"coarse LSTM", {o.hidden}, count_parameters(*coarse_)},
      {"fine LSTM", {o.hidden}, count_parameters(*fine_)}};
  if (looks_back())
    layers.push_back({"attention over the history",
                      {2 * o.hidden},
                      count_parameters(*coarse_query_) + count_parameters(*fine_query_)});
  layers.push_back({"page (softmax)", {shape_.pages}, count_parameters(*page_output_)});
  layers.push_back({"offset (softmax)", {kOffsets}, count_parameters(*offset_output_)});
  return layers;
}

ParameterRule Voyager::rule_of(const std::string& name) const {
  return {.decays = name.find("bias") == std::string::npos};
}

Tensor Voyager::embed(const Batch& batch, Tap* tap) const {
  const Tensor& numbers = batch.at("pages");  // [B, S]
  const int64_t rows = numbers.size(0), size = numbers.size(1);
  const int64_t experts = options_.experts, width = options_.page;
  const Tensor pages = embedding_lookup(pages_, numbers);  // [B, S, d]
  const Tensor voices = embedding_lookup(offsets_.flatten(1), batch.at("offsets"))
                            .view({rows * size, experts, width});  // [B S, E, d]
  Tensor scores =
      torch::bmm(voices, pages.view({rows * size, width, 1})).view({rows, size, experts});
  Tensor there;
  if (batch.has("experts")) {
    there = batch.at("experts").unsqueeze(1);  // [B, 1, E]
    scores = scores.masked_fill(~there, kFarAway);
  }
  Tensor weights = scores.softmax(-1);                                       // [B, S, E]
  if (there.defined()) weights = weights * there.to(weights.scalar_type());  // 0 where nobody is
  if (tap != nullptr) weights = reported({"experts", "accesses", "experts"}, weights, *tap);
  const Tensor offsets =
      torch::bmm(weights.reshape({rows * size, 1, experts}), voices).view({rows, size, width});
  const Tensor x = torch::cat({embedding_lookup(pcs_, batch.at("pcs")), pages, offsets}, -1);
  return leaf_of(tap, "accesses", x);
}

Voyager::Halves Voyager::states(const Batch& batch, const Random* random, Tap* tap) const {
  const Tensor x = dropped(embed(batch, tap), options_.dropout, random, "embedding");  // [B, S, D]
  const auto run = [&](const Recurrent& half, const std::string& name) {
    std::vector<Tensor> masks;
    if (random != nullptr) {
      const Random own = random->split(name);
      masks = half.dropout_masks(batch.size, &own);
    }
    const Tensor outputs = half.run(x, {}, {}, masks).outputs;  // [B, S, H]
    return dropped(outputs, options_.dropout, random, name + " states");
  };
  return {run(*coarse_, "coarse"), run(*fine_, "fine")};
}

Tensor Voyager::history_weights(const Tensor& states, const Projection& query,
                                int64_t steps) const {
  const int64_t size = states.size(1);
  const Tensor asking = query.forward(states.narrow(1, size - steps, steps));  // [B, Q, H]
  const Tensor scores =
      torch::bmm(asking, states.transpose(1, 2)) / std::sqrt(double(options_.hidden));
  const Tensor place = torch::arange(size, states.options().dtype(at::kLong));  // [S]
  const Tensor later = place.unsqueeze(0) > place.narrow(0, size - steps, steps).unsqueeze(1);
  return scores.masked_fill(later, -std::numeric_limits<double>::infinity()).softmax(-1);
}

Voyager::Halves Voyager::logits(const Batch& batch, int64_t steps, const Random* random,
                                Tap* tap) const {
  const Halves all = states(batch, random, tap);  // [B, S, H]
  const int64_t size = all.page.size(1);
  Halves seen{all.page.narrow(1, size - steps, steps), all.offset.narrow(1, size - steps, steps)};
  if (looks_back()) {
    Tensor coarse = history_weights(all.page, *coarse_query_, steps);  // [B, steps, S]
    Tensor fine = history_weights(all.offset, *fine_query_, steps);
    if (tap != nullptr) {  // of the last access alone: [B, 2, S]
      const Tensor both =
          reported({"history", "outputs", "accesses"}, torch::cat({coarse, fine}, 1), *tap);
      coarse = both.narrow(1, 0, 1);
      fine = both.narrow(1, 1, 1);
    }
    seen.page = torch::cat({seen.page, torch::bmm(coarse, all.page)}, -1);  // [B, steps, 2 H]
    seen.offset = torch::cat({seen.offset, torch::bmm(fine, all.offset)}, -1);
  }
  return {page_output_->forward(seen.page), offset_output_->forward(seen.offset)};
}

Loss Voyager::loss(const Batch& batch, const StepContext& context) {
  const int64_t size = batch.at("pages").size(1), steps = options_.targets == "every" ? size : 1;
  const Halves found = logits(batch, steps, &context.random, nullptr);
  // Where nothing came before, nothing is predicted: the targets there are those that
  // cross_entropy_loss leaves out.
  const auto term = [&](const Tensor& logits, const char* name) {
    const Tensor target = batch.at(name).narrow(1, size - steps, steps);  // [B, steps]
    return at::cross_entropy_loss(logits.flatten(0, 1), target.flatten());
  };
  const Tensor page = term(found.page, "target_pages"),
               offset = term(found.offset, "target_offsets");
  Loss loss;
  loss.objective = page + offset;
  loss.scalars = {{"page_loss", page.detach()}, {"offset_loss", offset.detach()}};
  return loss;
}

Predictions Voyager::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Halves found = logits(batch, 1, nullptr, nullptr);
  const int64_t pages = std::min(options_.degree, shape_.pages);
  const auto [page_log, page] = found.page.squeeze(1).log_softmax(-1).topk(pages);
  const auto [offset_log, offset] = found.offset.squeeze(1).log_softmax(-1).topk(options_.degree);
  // The k likeliest pairs are among the k likeliest pages and offsets.
  const auto [log, pair] =
      (page_log.unsqueeze(2) + offset_log.unsqueeze(1)).flatten(1).topk(options_.degree);
  const Tensor first = page.gather(1, pair.div(options_.degree, "floor"));           // [B, K]
  const Tensor second = offset.gather(1, pair.remainder(options_.degree));           // [B, K]
  const Tensor pairs = torch::stack({first, second}, -1).to(at::kCPU).contiguous();  // [B, K, 2]
  const Tensor sure = log.to(at::kCPU, at::kDouble).contiguous();                    // [B, K]
  Predictions predictions;
  const int64_t* token = pairs.data_ptr<int64_t>();
  const double* log_probability = sure.data_ptr<double>();
  for (int64_t row = 0; row < batch.size; ++row) {
    std::vector<Decoded>& outputs = predictions.outputs.emplace_back();
    for (int64_t k = 0; k < options_.degree; ++k, token += 2)
      outputs.push_back({{token[0], token[1]}, *log_probability++, ""});
  }
  return predictions;
}

Tensor Voyager::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  const Halves found = logits(batch, 1, nullptr, tap);
  std::vector<int64_t> pages, offsets;
  for (const std::vector<Decoded>& outputs : predictions.outputs) {
    pages.push_back(outputs.at(0).tokens.at(0));
    offsets.push_back(outputs.at(0).tokens.at(1));
  }
  const auto log_of = [&](const Tensor& logits, const std::vector<int64_t>& chosen) {
    const Tensor place = torch::tensor(chosen, at::kLong).to(logits.device()).unsqueeze(1);
    return logits.squeeze(1).log_softmax(-1).gather(1, place);  // [B, 1]
  };
  return torch::cat({log_of(found.page, pages), log_of(found.offset, offsets)}, 1);
}

}  // namespace fovea
