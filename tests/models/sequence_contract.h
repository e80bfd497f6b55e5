// The contract of models that read one sequence and write another (sequence_contract_test.cc). Each
// of them instantiates it with a table of cases; what only one of them promises stands in its own
// test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/models/sequence_model.h"
#include "tests/models/text_batch.h"

namespace fovea::testing {

struct SequenceCase {
  std::string name;
  std::function<std::shared_ptr<SequenceModel>(SearchOptions)> make;
  std::vector<std::string> maps = {};  // that attention reports
  size_t layers = 1;                   // of all of them together
  double rate = 0.02;                  // learns eight examples with this one
  bool numbers = false;                // instead of symbols
  bool feeds_itself = false;           // goes on from its own output while it is measured
};

inline void PrintTo(const SequenceCase& one, std::ostream* out) {
  *out << one.name;
}

class SequenceContract : public ::testing::TestWithParam<SequenceCase> {
 protected:
  std::shared_ptr<SequenceModel> fresh(uint64_t seed = 1, SearchOptions search = {}) const;
  Batch batch(int64_t rows) const;
  /// The targets as if they had been found, or, for numbers, what is found.
  Predictions predictions(const SequenceModel& model, const Batch& rows) const;
};

/// What symbols the models of the contract read and write.
SequenceShape text_shape(bool shared = false);

/// The targets as if they had been found.
Predictions predictions_of(const at::Tensor& target);

inline std::string name_of_case(const ::testing::TestParamInfo<SequenceCase>& info) {
  return info.param.name;
}

/// Loss, gradients, log-probabilities and attention of a case of a golden file, of a model that has
/// its sizes. Texts and weights of the file end where their row does.
void expect_golden_sequences(Model& model, const Batch& rows, const Json& golden);

/// What a search finds has the probability that replaying it says. `fresh(search)` makes a model.
template <class Fresh>
void expect_found_as_replayed(const Batch& rows, const Fresh& fresh) {
  for (const std::string method : {"greedy", "beam", "sample"}) {
    SearchOptions search;
    search.method = method;
    search.beam = 3;
    search.length_penalty = 0;
    const auto model = fresh(search);
    torch::NoGradGuard no_gradients;
    const Predictions found = model->predict(rows);
    Tap tap;
    const at::Tensor replayed = model->replay(rows, found, &tap).sum(1);  // [B]
    for (int64_t row = 0; row < rows.size; ++row)
      EXPECT_NEAR(replayed[row].template item<double>(),
                  found.outputs[size_t(row)][0].log_probability, 1e-4)
          << method << " " << row;
  }
}

}  // namespace fovea::testing
