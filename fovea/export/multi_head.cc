#include "fovea/export/multi_head.h"

#include "fovea/export/positions.h"
#include "fovea/tensor/torch.h"

namespace fovea::onnx {

namespace {

/// 0 in the rows of queries that see nothing. context [B, Q, D], keep [B, 1, Q, K] or empty
Value seeing_only(const Value& context, const Value& keep) {
  return keep.defined() ? masked(context, squeeze(any(keep, -1, true), {1}), 0) : context;
}

}  // namespace

Value among_themselves(const Value& keep) {
  return unsqueeze(keep, {1, 2}) & unsqueeze(keep, {1, 3});
}

MultiHead::MultiHead(const Weights& owner, const std::string& name)
    : MultiHead(owner.module<MultiHeadAttention>(name), owner.under(name)) {}

MultiHead::MultiHead(const MultiHeadAttention& block, const Weights& weights)
    : options_(block.options()),
      weights_(weights),
      slopes_(block.slopes()),
      head_size_(block.head_size()),
      heads_(int64_t(block.heads().size())),
      key_heads_((block.in_proj_weight.size(0) / head_size_ - heads_) / 2) {
  // Weights of the step before would have to be kept for every head.
  if (reads_previous_weights(options_.score, {}))
    refuse_export("multi-head attention with the score", options_.score.name);
}

Value MultiHead::project(const Value& x, const Rows& rows) const {
  const auto taken = [&](const std::string& name) {
    return x.graph().parameter(
        weights_.full_name(concat(name, ".", rows.name)),
        weights_.tensor(name).narrow(0, rows.first * head_size_, rows.heads * head_size_));
  };
  const Value bias = options_.bias ? taken("in_proj_bias") : Value();
  return in_heads(linear(x, taken("in_proj_weight"), bias), rows.heads);
}

Value MultiHead::in_heads(const Value& x, int64_t heads) const {
  return transpose(reshape(x, {0, 0, heads, head_size_}), {0, 2, 1, 3});
}

Value MultiHead::placed(const Value& x, const Value& first) const {
  if (options_.positions != "rotary") return x;
  const Value place = range(0, size_of(x, 2));  // [N]
  return turned(x, first.defined() ? place + first : place,
                rotary_rates(head_size_, options_.rotary));
}

Value MultiHead::prepared(const Value& keys) const {
  return prepare_keys(options_.score, weights_.under("score"), keys);
}

HeadMemory MultiHead::remember(const Value& x) const {
  const Value keys = placed(project(x, key_rows()), {});  // [B, h, K, d]
  return {prepared(keys), project(x, value_rows())};
}

AttendedValues MultiHead::look(const Value& query, const HeadMemory& memory,
                               const Value& keep) const {
  if (heads_ == 0) return without_heads(query, keep);
  AttendValues in;
  in.query = placed(project(query, query_rows()), {});  // [B, H, Q, d]
  in.keys = memory.keys;
  in.values = memory.values;
  in.keep = keep;
  return attend_by_heads(in);
}

MultiHead::SelfAttended MultiHead::look_at_itself(const Value& x, const SelfView& view) const {
  if (heads_ == 0) return {without_heads(x, view.keep), {}};
  Graph& graph = x.graph();
  const Value all = linear(x, weights_.value(graph, "in_proj_weight"),
                           options_.bias ? weights_.value(graph, "in_proj_bias") : Value());
  const int64_t queries = heads_ * head_size_, keys = key_heads_ * head_size_;
  const Values parts = split(all, 2, {queries, keys, keys});  // [B, N, h d] each
  AttendValues in;
  in.first_position = view.first_position;
  in.query = placed(in_heads(parts[0], heads_), in.first_position);  // [B, H, N, d]
  const Value own_keys = prepared(placed(in_heads(parts[1], key_heads_), in.first_position));
  in.keys = join({view.past.keys, own_keys}, 2);                            // [B, h, K, F]
  in.values = join({view.past.values, in_heads(parts[2], key_heads_)}, 2);  // [B, h, K, d]
  in.keep = view.keep;
  if (view.window > 0) in.keep = both(in.keep, align({"window", view.window}, weights_, in).window);
  return {attend_by_heads(in), {in.keys, in.values}};
}

Value MultiHead::distance_bias(const AttendValues& in) const {
  if (!slopes_.defined()) return {};
  const Value query = query_positions(in), key = range(0, size_of(in.values, 2));  // [Q], [K]
  const Value distance = cast(absolute(key - unsqueeze(query, {1})), ElementType::Float);
  return distance * query.graph().constant(-slopes_.view({heads_, 1, 1}));
}

AttendedValues MultiHead::attend_by_heads(AttendValues in) const {
  in.bias = distance_bias(in);
  if (key_heads_ < heads_) {  // each head of keys as often as queries share it
    std::vector<int64_t> shared;
    for (int64_t head = 0; head < heads_; ++head) shared.push_back(head * key_heads_ / heads_);
    in.keys = select(in.keys, 1, shared);
    in.values = select(in.values, 1, shared);
  }
  const AttentionLayer layer{
      options_.score, options_.normaliser, {}, weights_.under("score"), weights_};
  const AttendedValues attended = attend(layer, in);  // context [B, H, Q, d]
  const Value joined =
      reshape(transpose(attended.context, {0, 2, 1, 3}), {0, 0, heads_ * head_size_});
  return {seeing_only(weights_.linear("out_proj", joined), in.keep), attended.weights};
}

AttendedValues MultiHead::without_heads(const Value& query, const Value& keep) const {
  Graph& graph = query.graph();
  if (!options_.bias) return {query * 0, {}};
  const Value shape = graph.node("Shape", {query});
  const Value bias = graph.node("Expand", {weights_.value(graph, "out_proj.bias"), shape});
  return {seeing_only(bias, keep), {}};
}

}  // namespace fovea::onnx
