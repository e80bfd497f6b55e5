// Rows that look different every time they are trained on: pictures that are shifted, cut or
// cluttered. What a row looks like follows from the random numbers of the training step, so a
// resumed training repeats it; validation and test rows stay as Dataset::batch() gives them.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/data/dataset.h"
#include "fovea/tensor/random.h"

namespace fovea {

class AugmentedRows {
 public:
  virtual ~AugmentedRows() = default;
  /// The rows as this step sees them, in the given order.
  virtual Batch augmented_batch(std::span<const int64_t> rows, const Random& random) const = 0;
};

/// A batch to train on: varied where the rows can be, else as it is.
inline Batch training_batch(const Dataset& data, std::span<const int64_t> rows,
                            const Random& random) {
  const auto* varied = dynamic_cast<const AugmentedRows*>(&data);
  return varied ? varied->augmented_batch(rows, random.split("rows")) : data.batch(rows);
}

}  // namespace fovea
