// In builds without nvcc, in place of the .cu files: nobody calls what does not exist.
#ifndef FOVEA_WITH_DEVICE_KERNELS

#include <cstdlib>

#include "fovea/kernels/activation/activation.h"
#include "fovea/kernels/attention_decoder/attention_decoder.h"
#include "fovea/kernels/cell_step/cell_step.h"
#include "fovea/kernels/column_sums/column_sums.h"
#include "fovea/kernels/cross_entropy/cross_entropy.h"
#include "fovea/kernels/device/device.h"
#include "fovea/kernels/layer_norm/layer_norm.h"

namespace fovea::kernels::device {

bool exists() {
  return false;
}

void cross_entropy_forward(const CrossEntropy&, float*, void*) {
  std::abort();
}

void cross_entropy_backward(const CrossEntropy&, const float*, void*, void*) {
  std::abort();
}

bool layer_norm_takes(int64_t) {
  return false;
}

void layer_norm_forward(const LayerNormShape&, const LayerNormForward&, void*) {
  std::abort();
}

int64_t layer_norm_slices(int64_t) {
  std::abort();
}

void layer_norm_backward(const LayerNormShape&, const LayerNormBackward&, void*) {
  std::abort();
}

void dropped_sum_forward(const DeviceDropout&, NumberType, int64_t, const void*, const float*,
                         float*, void*) {
  std::abort();
}

void dropped_sum_backward(const DeviceDropout&, NumberType, int64_t, const float*, void*, void*) {
  std::abort();
}

int64_t column_slices(int64_t, int64_t) {
  std::abort();
}

void column_sums(const ColumnSums&, void*) {
  std::abort();
}

bool activation_takes(NumberType, int64_t, int64_t) {
  return false;
}

void activation_forward(const ActivationShape&, const void*, void*, void*) {
  std::abort();
}

void activation_backward(const ActivationShape&, const ActivationBackward&, void*) {
  std::abort();
}

bool attention_decoder_takes(const AttentionDecoderShape&) {
  return false;
}

void attend_forward(const AttentionDecoderShape&, const Attend&, void*, void*) {
  std::abort();
}

void attend_backward(const AttentionDecoderShape&, const Attend&, const AttendGradient&, void*) {
  std::abort();
}

void attention_decoder_key_gradients(const AttentionDecoderShape&, const Attend&, const float*,
                                     float*, float*, void*) {
  std::abort();
}

void cell_forward(const RecurrentShape&, const CellForward&, void*) {
  std::abort();
}

void cell_backward(const RecurrentShape&, const CellBackward&, void*) {
  std::abort();
}

}  // namespace fovea::kernels::device

#endif
