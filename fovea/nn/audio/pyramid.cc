#include "fovea/nn/audio/pyramid.h"

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

Tensor join_neighbours(const Tensor& x, int64_t count) {
  if (count == 1) return x;
  const int64_t batch = x.size(0), length = x.size(1), width = x.size(2);
  const int64_t joined = (length + count - 1) / count;
  const Tensor whole = at::constant_pad_nd(x, {0, 0, 0, joined * count - length});
  return whole.reshape({batch, joined, count * width});
}

Pyramid::Pyramid(PyramidOptions options) : options_(std::move(options)) {
  require(options_.layers >= 1 && options_.stack >= 1 && options_.pyramid >= 0 &&
              options_.pyramid < options_.layers,
          ErrorKind::InvalidArgument, "model.pyramid=", options_.pyramid,
          " needs more layers than model.layers=", options_.layers,
          ": the first one reads no pairs");
  for (int64_t layer = 0; layer < options_.layers; ++layer) {
    const int64_t width = layer == 0 ? options_.input_size : output_size();
    layers_.push_back(register_module(
        concat("layer", layer), std::make_shared<Recurrent>(RecurrentOptions{
                                    options_.cell, joined(layer) * width, options_.hidden_size, 1,
                                    true, 0, options_.reset})));
  }
}

int64_t Pyramid::joined(int64_t layer) const {
  if (layer == 0) return options_.stack;
  return layer >= options_.layers - options_.pyramid ? 2 : 1;
}

int64_t Pyramid::factor() const {
  return options_.stack << options_.pyramid;
}

void Pyramid::initialise(const Random& random) {
  for (size_t layer = 0; layer < layers_.size(); ++layer)
    layers_[layer]->initialise(random.split("layer").split(layer));
}

PyramidOutput Pyramid::run(const Tensor& x, const Tensor& keep, const Random* random) const {
  Tensor lengths = keep.sum(1).to(at::kCPU);              // [B]
  Tensor h = x * keep.unsqueeze(-1).to(x.scalar_type());  // [B, S, I]: neighbours may be padding
  PyramidOutput result;
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    if (layer > 0 && random) {
      const Random own = random->split("layer").split(layer);
      h = sequence_dropout(h, options_.dropout, &own);
    }
    const int64_t count = joined(int64_t(layer));
    h = join_neighbours(h, count);
    lengths = (lengths + (count - 1)).floor_divide(count);
    RecurrentOutput read = layers_[layer]->run(h, lengths, {}, {});
    h = read.outputs;
    result.state = std::move(read.state);
  }
  result.outputs = h;
  result.keep = at::arange(h.size(1), lengths.options()).unsqueeze(0) < lengths.unsqueeze(1);
  result.keep = result.keep.to(x.device());
  return result;
}

}  // namespace fovea
