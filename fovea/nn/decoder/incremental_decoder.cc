#include "fovea/nn/decoder/incremental_decoder.h"

#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

}  // namespace

IncrementalDecoder::IncrementalDecoder(const Decoder& decoder, DecoderSource source,
                                       DecoderState start, bool needs_weights)
    : decoder_(decoder),
      source_(std::move(source)),
      state_(std::move(start)),
      needs_weights_(needs_weights),
      rows_(at::arange(state_.recurrent.hidden[0].size(0))) {
  if (!can_fuse()) return;
  recurrent_.emplace(*decoder.recurrent_);
  if (decoder.options_.readout == "tanh")
    combine_.emplace(decoder.combine_->weight, decoder.combine_->bias);
  if (!decoder.attends()) return;
  const Memory& memory = source_.memory;
  attention_.key_size = memory.keys.size(-1);
  attention_.value_size = memory.values.size(-1);
  if (const auto scale = decoder.score_->dot_scale(attention_.key_size)) {
    attention_.scale = *scale;
  } else {
    const AdditiveParts parts = *decoder.score_->additive_parts();
    query_.emplace(parts.query, parts.bias);
    attention_.energy = parts.energy.detach();  // [m]
  }
  keys_.emplace(memory);
}

bool IncrementalDecoder::can_fuse() const {
  const DecoderOptions& o = decoder_.options_;
  if (!kernels_take({state_.recurrent.hidden[0]})) return false;
  if (!decoder_.attends()) return true;
  const ScoreFunction& score = *decoder_.score_;
  return !needs_weights_ && !decoder_.remembers_weights() && o.normaliser.traits().is_fused &&
         o.alignment.traits().is_global && SourceKeys::fits(source_.memory) &&
         source_.memory.keys.size(1) == 1 &&
         (score.additive_parts() || score.dot_scale(source_.memory.keys.size(-1)));
}

void IncrementalDecoder::select(const Tensor& origin) {
  const Tensor there = origin.to(state_.recurrent.hidden[0].device());
  state_ = state_.select(there);
  const Tensor rows = rows_.index_select(0, origin.to(at::kCPU));
  if (!is_fused() && !rows.equal(rows_)) source_ = source_.select(there);
  rows_ = rows;
}

Attended IncrementalDecoder::look(const Tensor& query) const {
  std::vector<KeyList> lists;
  const int64_t* row = rows_.data_ptr<int64_t>();
  for (int64_t i = 0; i < rows_.size(0); ++i) lists.push_back(keys_->of(row[i]));
  Attended attended;
  attended.context = attention_.attend(query_ ? query_->forward(query) : query, lists);  // [R, C]
  return attended;
}

Tensor IncrementalDecoder::read_out(const Tensor& state, const Tensor& x,
                                    const Tensor& context) const {
  if (!combine_) return decoder_.read_out(state, x, context, {});
  return combine_->forward(context.defined() ? at::cat({context, state}, 1) : state, Finish::Tanh);
}

DecoderStep IncrementalDecoder::step(const Tensor& x) {
  DecoderStep result;
  if (is_fused()) {
    const Tensor summary =
        source_.summary.defined() ? source_.summary.index_select(0, rows_) : Tensor();
    result = decoder_.assemble(
        x, state_, summary,
        {[&](const Tensor& query) { return look(query); },
         [&](const Tensor& input) { return recurrent_->step(input, state_.recurrent); },
         [&](const Tensor& state, const Tensor& context) { return read_out(state, x, context); }});
  } else {
    result = decoder_.step(x, state_, source_, {}, nullptr);
  }
  state_ = result.state;
  return result;
}

}  // namespace fovea
