#include "fovea/nn/ops/decode_attention.h"

#include <algorithm>

#include "fovea/kernels/decode_attention/decode_attention.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// [B, G, S, D] -> [B, S, G D]
Tensor heads_joined(const Tensor& x) {
  return x.transpose(1, 2).flatten(2);
}

}  // namespace

Tensor DecodeAttention::attend(const Tensor& queries, const std::vector<KeyList>& lists) const {
  const Tensor q = queries.stride(1) == 1 ? queries : queries.contiguous();
  const Tensor out = at::empty({q.size(0), heads * value_size}, q.options());
  kernels::DecodeAttentionShape shape;
  shape.rows = q.size(0), shape.heads = heads, shape.key_heads = key_heads;
  shape.key_size = key_size, shape.value_size = value_size;
  shape.value_offset = key_heads * key_size;
  shape.scale = float(scale);
  if (energy.defined()) shape.energy = energy.data_ptr<float>();
  std::vector<const float* const*> keys;
  std::vector<int64_t> counts;
  for (const KeyList& list : lists) {
    keys.push_back(list.data());
    counts.push_back(int64_t(list.size()));
    shape.longest = std::max(shape.longest, counts.back());
  }
  const kernels::DecodeAttentionRows at{q.data_ptr<float>(), q.stride(0), keys.data(),
                                        counts.data(), out.data_ptr<float>()};
  run_parallel(shape.slices(), [&](int64_t slice) {
    std::vector<float> scratch(size_t(shape.scratch()));
    kernels::decode_attention(shape, slice, at, scratch.data());
  });
  return out;
}

bool SourceKeys::fits(const Memory& memory) {
  const KeepMask& mask = memory.mask;
  return memory.keys.defined() && kernels_take({memory.keys, memory.values}) &&
         !memory.broken.defined() && memory.keys.size(1) == memory.values.size(1) &&
         mask.is_simple() && !mask.queries().defined() && !mask.band();
}

SourceKeys::SourceKeys(const Memory& memory)
    : entries_(at::cat({heads_joined(memory.keys), heads_joined(memory.values)}, 2)) {
  const int64_t batch = entries_.size(0), keys = entries_.size(1), width = entries_.size(2);
  Tensor keep = at::ones({batch, keys}, at::kBool);
  if (memory.mask.keys().defined())
    keep = memory.mask.keys().reshape({-1, keys}).expand({batch, keys}).contiguous();  // [B, S]
  const float* entry = entries_.data_ptr<float>();
  const bool* kept = keep.data_ptr<bool>();
  lists_.resize(size_t(batch));
  for (int64_t i = 0; i < batch * keys; ++i)
    if (kept[i]) lists_[size_t(i / keys)].push_back(entry + i * width);
}

}  // namespace fovea
