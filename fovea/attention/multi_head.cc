#include "fovea/attention/multi_head.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

void check_width(const Tensor& x, int64_t width, const char* what, const char* length) {
  require(x.defined() && x.dim() == 3 && x.size(2) == width, ErrorKind::InvalidArgument, what,
          " must have shape [B, ", length, ", ", width, "], found ",
          x.defined() ? concat(x.sizes()) : "nothing");
}

/// Whether nothing in x needs care. One number tells of all: a sum is finite only when every part
/// of it is. On a GPU looking would stall the queue: there, what is hidden is cleared beforehand.
bool is_finite(const Tensor& x) {
  return !x.is_cpu() || std::isfinite(x.detach().sum().item<double>());
}

/// x [B, N, D], the last N of the mask's keys, with 0 where padding hides one: 0 * NaN in the
/// backward pass of a projection would reach its weights.
Tensor without_hidden(const Tensor& x, const KeepMask& mask) {
  if (!mask.keys().defined()) return x;
  Tensor keep = mask.keys().squeeze(1).transpose(1, 2);  // [b, 1 or K, 1]
  if (keep.size(1) > x.size(1)) keep = keep.narrow(1, keep.size(1) - x.size(1), x.size(1));
  return x.masked_fill(~keep, 0);
}

std::vector<int64_t> numbers_up_to(int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

bool holds(const std::vector<int64_t>& numbers, int64_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

/// Where in `numbers` those stand that are not `going`.
std::vector<int64_t> staying(const std::vector<int64_t>& numbers,
                             const std::vector<int64_t>& going) {
  std::vector<int64_t> places;
  for (size_t i = 0; i < numbers.size(); ++i)
    if (!holds(going, numbers[i])) places.push_back(int64_t(i));
  return places;
}

/// first + size * place … first + size * place + size - 1, for each place: int64.
Tensor rows_at_places(const std::vector<int64_t>& places, int64_t first, int64_t size) {
  const Tensor begin = torch::tensor(places, at::kLong).unsqueeze(1) * size + first;
  return (begin + at::arange(size, at::kLong)).flatten();
}

/// The parameter without the other rows or columns; whoever holds it sees the change.
void keep_only(Tensor& parameter, int64_t dimension, const Tensor& kept) {
  parameter.set_data(
      parameter.detach().index_select(dimension, kept.to(parameter.device())).contiguous());
  parameter.mutable_grad() = Tensor();
}

template <class Item>
void keep_places(std::vector<Item>& items, const std::vector<int64_t>& places) {
  std::vector<Item> kept;
  for (const int64_t place : places) kept.push_back(items[size_t(place)]);
  items = std::move(kept);
}

/// Context 0 for the queries that see nothing. context [B, Q, D], fully_masked bool [b, h, q, 1]
Tensor cleared(const Tensor& context, const Tensor& fully_masked) {
  if (!fully_masked.defined()) return context;
  return context.masked_fill(fully_masked.all(1, true).squeeze(1), 0);
}

}  // namespace

void MultiHeadOptions::describe(OptionList& list) {
  list.add("width", width, "numbers per position").at_least(1);
  list.add("heads", heads, "attention heads; must divide the width").at_least(1);
  list.add("key_heads", key_heads, "heads of keys and values; must divide heads; 0: as many")
      .at_least(0);
  list.add("dropout", dropout, "of the attention weights, in training").rate();
  list.add("bias", bias, "projections have a bias");
  list.add("positions", positions, "what the scores know of positions")
      .choices({"none", "rotary", "alibi"});
  list.group("score", score);
  list.group("normaliser", normaliser);
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadOptions& options) : options_(options) {
  const int64_t width = options.width, heads = options.heads;
  const bool divides = width > 0 && heads > 0 && (options.head_size > 0 || width % heads == 0);
  require(divides, ErrorKind::InvalidArgument, "a width of ", width, " cannot be shared by ", heads,
          " heads; the heads must divide the width");
  if (options_.head_size == 0) options_.head_size = width / heads;
  if (options_.key_heads == 0) options_.key_heads = heads;
  require(options_.key_heads > 0 && heads % options_.key_heads == 0, ErrorKind::InvalidArgument,
          heads, " heads cannot share ", options_.key_heads,
          " heads of keys; the key heads must divide the heads");
  require(options_.positions != "rotary" || head_size() % 2 == 0, ErrorKind::InvalidArgument,
          "rotary positions turn pairs of numbers; a head of ", head_size(), " has none to spare");
  if (options_.positions == "rotary") rates_ = rotary_rates(head_size(), options_.rotary);
  options_.score.query_size = options_.score.key_size = head_size();
  heads_ = numbers_up_to(heads);
  key_heads_ = numbers_up_to(options_.key_heads);
  const int64_t rows = value_slice().first + value_slice().rows;
  in_proj_weight = register_parameter("in_proj_weight", undecided_weight({rows, width}));
  if (options.bias) in_proj_bias = register_parameter("in_proj_bias", at::zeros({rows}));
  out_proj = register_projection(*this, "out_proj",
                                 {heads * head_size(), width, options.bias && options.output_bias});
  score_ = register_module("score", make_score(options_.score, Random(0)));
  if (options_.positions == "alibi") slopes_ = alibi_slopes(heads);
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadOptions& options, const Random& random)
    : MultiHeadAttention(options) {
  initialise(random);
}

void MultiHeadAttention::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  in_proj_weight.copy_(
      glorot_uniform(in_proj_weight.size(0), in_proj_weight.size(1), random.split("in_proj")));
  if (in_proj_bias.defined()) in_proj_bias.zero_();
  out_proj->initialise(random.split("out_proj"));
  const auto drawn = make_score(options_.score, random.split("score"))->named_parameters();
  for (auto& parameter : score_->named_parameters())
    parameter.value().copy_(drawn[parameter.key()]);
}

MultiHeadAttention::Slice MultiHeadAttention::query_slice() const {
  const auto heads = int64_t(heads_.size());
  return {0, heads * head_size(), heads};
}
MultiHeadAttention::Slice MultiHeadAttention::key_slice() const {
  const auto heads = int64_t(key_heads_.size());
  return {query_slice().rows, heads * head_size(), heads};
}
MultiHeadAttention::Slice MultiHeadAttention::value_slice() const {
  const Slice keys = key_slice();
  return {keys.first + keys.rows, keys.rows, keys.heads};
}

std::vector<Tensor> MultiHeadAttention::project(const Tensor& x, const std::vector<Slice>& slices,
                                                const std::optional<Random>& random) const {
  const int64_t first = slices.front().first;
  std::vector<int64_t> rows;
  for (const Slice& slice : slices) rows.push_back(slice.rows);
  const int64_t all = slices.back().first + slices.back().rows - first;
  const auto of_slices = [&](const Tensor& parameter) {
    return parameter.defined() && all < parameter.size(0) ? parameter.narrow(0, first, all)
                                                          : parameter;
  };
  const auto projected =
      adapters.add_to(linear_layer(x, of_slices(in_proj_weight), of_slices(in_proj_bias)), x, first,
                      random ? &*random : nullptr);
  // Backward of a split is one concatenation, of several narrow() a sum of padded tensors.
  std::vector<Tensor> pieces = projected.split_with_sizes(rows, 2);  // [B, N, h d] each
  for (size_t i = 0; i < slices.size(); ++i)
    pieces[i] = pieces[i]
                    .view({x.size(0), x.size(1), slices[i].heads, head_size()})
                    .transpose(1, 2);  // [B, h, N, d]
  return pieces;
}

Tensor MultiHeadAttention::turned(const Tensor& x, int64_t first_position) const {
  return rates_.defined() ? rotate_by_position(x, first_position, rates_) : x;
}

Memory MultiHeadAttention::remember(const Tensor& keys, const Tensor& values, const KeepMask& mask,
                                    int64_t first_position) const {
  check_width(keys, options_.width, "keys", "K");
  check_width(values, options_.width, "values", "K");
  const auto visible = mask.to(keys.device());
  const auto clean = [&](const Tensor& x) {
    return x.is_cpu() ? clean_keys(x.unsqueeze(1), visible)
                      : Cleaned{without_hidden(x, visible).unsqueeze(1), {}};
  };
  const auto clean_key = clean(keys);  // [B, 1, K, D]
  const auto clean_value = keys.is_same(values) ? clean_key : clean(values);
  const auto project_one = [&](const Cleaned& x, const Slice& slice) {
    return project(x.tensor.squeeze(1), {slice})[0];
  };
  const std::vector<Tensor> both =
      keys.is_same(values) ? project(clean_key.tensor.squeeze(1), {key_slice(), value_slice()})
                           : std::vector{project_one(clean_key, key_slice()),
                                         project_one(clean_value, value_slice())};
  Memory memory;
  memory.keys = score_->prepare(turned(both[0], first_position));       // [B, h, K, F]
  memory.values = both[1];                                              // [B, h, K, d]
  memory.broken = either_broken(clean_key.broken, clean_value.broken);  // [B, 1, K]
  memory.mask = visible;
  return memory;
}

Attended MultiHeadAttention::forward(const MultiHeadInput& input, Tap* tap) const {
  check_width(input.query, options_.width, "the query", "Q");
  const KeepMask mask = input.memory.mask & input.mask.to(input.query.device());
  // A query that sees nothing may hold anything.
  const bool clean = input.query.is_cpu() ? is_finite(input.query) : !mask.queries().defined();
  const auto query =
      clean ? input.query : clean_queries(input.query.unsqueeze(1), mask).squeeze(1);  // [B, Q, D]
  return look(input, turned(project(query, {query_slice()})[0], input.first_position), input.memory,
              tap);
}

MultiHeadAttention::SelfAttended MultiHeadAttention::forward_self(const MultiHeadInput& input,
                                                                  Tap* tap) const {
  check_width(input.query, options_.width, "the sequence", "N");
  const Tensor x = input.query.is_cpu()
                       ? input.query
                       : without_hidden(input.query, input.mask.to(input.query.device()));
  const bool goes_on = input.memory.values.defined();
  Memory memory;
  Tensor query;  // [B, H, N, d]
  if (is_finite(x)) {
    const auto projected = project(x, {query_slice(), key_slice(), value_slice()},
                                   input.random);  // [B, h, N, d] each
    query = turned(projected[0], input.first_position);
    memory.keys = score_->prepare(turned(projected[1], input.first_position));
    memory.values = projected[2];
  } else {
    const KeepMask mask = goes_on ? KeepMask::all() : input.mask.to(x.device());
    memory = remember(x, x, mask, input.first_position);
    memory.mask = {};
    const Tensor clean = clean_queries(x.unsqueeze(1), mask).squeeze(1);
    query = turned(project(clean, {query_slice()})[0], input.first_position);
  }
  if (goes_on) memory = input.memory.followed_by(memory);
  return {look(input, query, memory, tap), memory};
}

Attended MultiHeadAttention::look(const MultiHeadInput& input, const Tensor& query,
                                  const Memory& memory, Tap* tap) const {
  if (heads_.empty()) return without_heads(input, memory);
  AttendInput inner;
  inner.query = query;  // [B, H, Q, d]
  inner.memory = memory;
  inner.score = score_.get();
  inner.mask = input.mask;
  inner.normaliser = options_.normaliser;
  inner.alignment = input.alignment;
  inner.first_position = input.first_position;
  inner.random = input.random;
  inner.dropout = is_training() && input.random ? options_.dropout : 0;
  if (slopes_.defined()) inner.slopes = slopes_.to(query.device());
  inner.bias = input.bias;
  const bool pruned = heads_.size() < size_t(options_.heads);
  if (pruned && inner.bias.defined() && inner.bias.size(1) == options_.heads)
    inner.bias = inner.bias.index_select(1, torch::tensor(heads_, at::kLong).to(query.device()));
  inner.keep_weights = input.keep_weights;
  inner.caller_clears_fully_masked = true;
  inner.map = input.map;
  Attended attended = attend(inner, tap);

  const auto joined = attended.context.transpose(1, 2).flatten(2);  // [B, Q, H' d]
  attended.context = cleared(out_proj->forward(joined, input.random ? &*input.random : nullptr),
                             attended.fully_masked);
  return attended;
}

Attended MultiHeadAttention::without_heads(const MultiHeadInput& input,
                                           const Memory& memory) const {
  const Tensor& query = input.query;  // [B, Q, D]
  Attended attended;
  attended.mask = memory.mask & input.mask.to(query.device());
  if (!attended.mask.is_all()) attended.fully_masked = ~attended.mask.seeing_queries();
  attended.weights = at::zeros({query.size(0), 0, query.size(1), memory.size()}, query.options());
  const Tensor context =
      out_proj->bias.defined() ? out_proj->bias.expand_as(query) : at::zeros_like(query);
  attended.context = cleared(context, attended.fully_masked);
  return attended;
}

void MultiHeadAttention::prune(const std::vector<int64_t>& numbers) {
  require(numbers.empty() || (adapters.empty() && out_proj->adapters.empty()),
          ErrorKind::Unsupported,
          "heads with low-rank adapters cannot be taken out; merge the adapters first, as fovea "
          "export RUN --hugging-face FOLDER does");
  for (const int64_t number : numbers)
    require(holds(heads_, number), ErrorKind::InvalidArgument, "head ", number + 1,
            " cannot be taken out: of ", options_.heads, " heads ", heads_.size(),
            " are there, and that is none of them");
  const int64_t shared = options_.heads / options_.key_heads;  // heads per head of keys
  std::vector<int64_t> going_keys;
  for (const int64_t key : key_heads_) {
    int64_t going = 0;
    for (int64_t i = 0; i < shared; ++i) going += holds(numbers, key * shared + i);
    require(going == 0 || going == shared, ErrorKind::InvalidArgument, "heads ", key * shared + 1,
            " to ", key * shared + shared,
            " share one head of keys; they can only be taken out together");
    if (going > 0) going_keys.push_back(key);
  }
  const std::vector<int64_t> queries = staying(heads_, numbers);
  const std::vector<int64_t> keys = staying(key_heads_, going_keys);
  const int64_t size = head_size();
  const Tensor rows = at::cat({rows_at_places(queries, query_slice().first, size),
                               rows_at_places(keys, key_slice().first, size),
                               rows_at_places(keys, value_slice().first, size)});
  keep_only(in_proj_weight, 0, rows);
  if (in_proj_bias.defined()) keep_only(in_proj_bias, 0, rows);
  keep_only(out_proj->weight, 1, rows_at_places(queries, 0, size));
  if (slopes_.defined())
    slopes_ = slopes_.index_select(0, torch::tensor(queries, at::kLong).to(slopes_.device()));
  keep_places(heads_, queries);
  keep_places(key_heads_, keys);
}

Tensor rotary_rates(int64_t size, const RotaryOptions& o) {
  const int64_t half = size / 2;
  const Tensor rates =
      at::exp(at::arange(half, at::kDouble) * (-std::log(o.base) / double(half)));  // [d/2]
  if (o.scaling == "none") return rates;
  if (o.scaling == "linear") return rates / o.factor;
  require(o.scaling == "llama3", ErrorKind::InvalidArgument, "rotary scaling '", o.scaling,
          "' is not known; known: none, linear, llama3");
  const Tensor turns = rates * (double(o.original_length) / (2 * M_PI));  // in the original length
  const Tensor fast = ((turns - o.low) / (o.high - o.low)).clamp(0, 1);
  return rates * (fast + (1 - fast) / o.factor);
}

Tensor rotate_by_position(const Tensor& x, int64_t first, const Tensor& rates) {
  const int64_t half = x.size(-1) / 2;
  const auto options = x.options().dtype(at::kDouble);
  const auto angle =
      at::outer(at::arange(first, first + x.size(2), options), rates.to(x.device()));  // [N, d/2]
  const auto cosine = angle.cos().to(x.dtype()), sine = angle.sin().to(x.dtype());
  const auto low = x.narrow(-1, 0, half), high = x.narrow(-1, half, half);
  return at::cat({low * cosine - high * sine, low * sine + high * cosine}, -1);
}

Tensor alibi_slopes(int64_t heads) {
  const auto head = at::arange(1, heads + 1, at::kDouble);
  return at::exp2(head * (-8.0 / double(heads))).to(at::kFloat);
}

}  // namespace fovea
