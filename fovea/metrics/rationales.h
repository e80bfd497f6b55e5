// Weights against what people marked, or what was planted (DeYoung et al. 2020, ERASER). AUPRC
// looks at the whole order of the weights; token F1 and IOU F1 at a chosen part of the units. Marks
// are 1 for a unit that matters, else 0. Nothing is defined where no unit is marked; sizes that
// differ are InvalidArgument.
#pragma once

#include <optional>
#include <span>

namespace fovea {

/// Area under the precision-recall curve as average precision: the sum over the different weights,
/// from the largest down, of (recall now - recall before) * precision now. Units of equal weight
/// come in together. A random order scores about the share of marked units. Not defined with a NaN.
std::optional<double> auprc(std::span<const double> weights, std::span<const char> marks);

/// 2 TP / (chosen + marked), unit by unit.
std::optional<double> token_f1(std::span<const char> chosen, std::span<const char> marks);

/// The same for runs of neighbouring units: two runs match when they share at least `threshold` of
/// their union; the harmonic mean of the share of chosen runs and the share of marked runs that
/// match.
std::optional<double> iou_f1(std::span<const char> chosen, std::span<const char> marks,
                             double threshold = 0.5);

}  // namespace fovea
