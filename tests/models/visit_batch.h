// Small batches of health records, for models of visits.
#pragma once

#include <algorithm>
#include <vector>

#include "fovea/tensor/example.h"
#include "fovea/tensor/torch.h"
#include "tests/models/nested_rows.h"

namespace fovea::testing {

using Visits = NestedRow;  // the codes of each

constexpr int64_t kCodesKnown = 12;  // numbers 4 … 11 are real

/// Side by side, with `extra` columns of padding behind codes and visits.
inline Batch visits_batch(const std::vector<Visits>& patients, int64_t extra = 0) {
  const NestedSizes most = largest_row(patients);
  const auto rows = int64_t(patients.size());
  const int64_t codes_wide = most.numbers + extra, visits_wide = most.lists + extra;
  const at::Tensor codes = torch::zeros({rows, codes_wide}, torch::kLong);
  const at::Tensor visit_of = torch::zeros_like(codes);
  const at::Tensor codes_keep = torch::zeros({rows, codes_wide}, torch::kBool);
  const at::Tensor gaps = torch::zeros({rows, visits_wide});
  const at::Tensor visits_keep = torch::zeros({rows, visits_wide}, torch::kBool);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t place = 0, number = 0;
    for (const auto& visit : patients[size_t(row)]) {
      for (const int64_t code : visit) {
        codes[row][place] = code;
        visit_of[row][place] = number;
        codes_keep[row][place++] = true;
      }
      gaps[row][number] = 0.25 * double((3 * number + row) % 5);
      visits_keep[row][number++] = true;
    }
  }
  return {{{"codes", codes},
           {"codes.keep", codes_keep},
           {"visit_of", visit_of},
           {"gaps", gaps},
           {"visits.keep", visits_keep}},
          rows};
}

/// Patients of 1 to 5 visits of 0 to 4 codes, some of them unknown.
inline std::vector<Visits> some_patients(int64_t rows) {
  return draw_nested(
      rows, Random(11), 5,
      [](const Random& random, size_t visit) {
        return visit == 0 ? 1 + random.below(0, 4) : random.below(0, 5);
      },
      [](const Random& random, uint64_t counter) {
        const auto code = 3 + int64_t(random.below(counter, uint64_t(kCodesKnown - 3)));
        return code == 3 ? 1 : code;
      });
}

inline Batch record_batch(int64_t rows, int64_t extra = 0) {
  Batch batch = visits_batch(some_patients(rows), extra);
  std::vector<int64_t> target;
  for (int64_t row = 0; row < rows; ++row) target.push_back(int64_t(Random(5).below(row, 2)));
  batch.tensors["target"] = torch::tensor(target);
  return batch;
}

}  // namespace fovea::testing
