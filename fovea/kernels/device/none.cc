// In builds without nvcc, in place of the .cu files of this folder: nobody calls what does not
// exist.
#ifndef FOVEA_WITH_DEVICE_KERNELS

#include <cstdlib>

#include "fovea/kernels/device/activation.h"
#include "fovea/kernels/device/attentive.h"
#include "fovea/kernels/device/cells.h"
#include "fovea/kernels/device/column_sums.h"
#include "fovea/kernels/device/cross_entropy.h"
#include "fovea/kernels/device/device.h"
#include "fovea/kernels/device/layer_norm.h"

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

int64_t layer_norm_parts(int64_t) {
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

int64_t column_parts(int64_t, int64_t) {
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

bool attentive_takes(const AttentiveShape&) {
  return false;
}

void attentive_look_forward(const AttentiveShape&, const AttentiveLook&, void*, void*) {
  std::abort();
}

void attentive_look_backward(const AttentiveShape&, const AttentiveLook&,
                             const AttentiveLookGradient&, void*) {
  std::abort();
}

void attentive_key_gradients(const AttentiveShape&, const AttentiveLook&, const float*, float*,
                             float*, void*) {
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
