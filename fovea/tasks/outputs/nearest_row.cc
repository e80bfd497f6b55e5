#include "fovea/tasks/outputs/nearest_row.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kMostRows = 50'000;      // that are kept
constexpr int64_t kLookedUpTogether = 64;  // rows of one job

constexpr const char *kIdf = "idf", *kOffsets = "offsets", *kTokens = "tokens", *kValues = "values",
                     *kDense = "nearest_inputs", *kText = "text";

/// Training rows by token: where a token stands, and with which weight.
class InvertedIndex {
 public:
  explicit InvertedIndex(const NamedTensors& fitted)
      : offsets_(fitted.at(kOffsets).contiguous()), postings_(size_t(fitted.at(kIdf).numel())) {
    const at::Tensor tokens = fitted.at(kTokens).contiguous();
    const at::Tensor values = fitted.at(kValues).contiguous();
    check_kept_offsets(offsets_, tokens.numel());
    require(values.numel() == tokens.numel(), ErrorKind::BadData,
            "the baselines of this run are damaged: ", tokens.numel(), " tokens and ",
            values.numel(), " weights");
    const auto* of_row = offsets_.data_ptr<int64_t>();
    for (int64_t row = 0; row < rows(); ++row)
      for (int64_t i = of_row[row]; i < of_row[row + 1]; ++i)
        postings_.at(size_t(tokens.data_ptr<int32_t>()[i]))
            .push_back({int32_t(row), values.data_ptr<float>()[i]});
  }
  int64_t rows() const { return offsets_.numel() - 1; }

  /// The row with the largest product with row `row` of `inputs`.
  int64_t nearest(const LinearInputs& inputs, int64_t row) const {
    std::vector<float> products(size_t(rows()), 0);
    for (auto i = size_t(inputs.offsets[size_t(row)]); i < size_t(inputs.offsets[size_t(row) + 1]);
         ++i)
      for (const Posting& posting : postings_.at(size_t(inputs.features[i])))
        products[size_t(posting.row)] += inputs.values[i] * posting.value;
    return std::max_element(products.begin(), products.end()) - products.begin();
  }

 private:
  struct Posting {
    int32_t row;
    float value;
  };
  at::Tensor offsets_;  // [N + 1]
  std::vector<std::vector<Posting>> postings_;
};

/// The training row of the smallest distance to each row [R, F].
std::vector<int64_t> nearest_of_dense(const at::Tensor& known, const at::Tensor& rows) {
  require(known.dim() == 2 && known.size(0) > 0 && known.size(1) == rows.size(1),
          ErrorKind::BadData, "the baselines of this run are damaged: ", known.sizes(),
          " numbers of the nearest rows, and ", rows.size(1), " of a row");
  std::vector<int64_t> nearest;
  for (int64_t row = 0; row < rows.size(0); row += kLookedUpTogether) {
    const at::Tensor some = rows.narrow(0, row, std::min(kLookedUpTogether, rows.size(0) - row));
    const at::Tensor found = at::cdist(some, known).argmin(1).contiguous();  // [R]
    nearest.insert(nearest.end(), found.data_ptr<int64_t>(),
                   found.data_ptr<int64_t>() + found.numel());
  }
  return nearest;
}

std::vector<int64_t> nearest_of_tokens(const NamedTensors& fitted, const LinearInputs& inputs) {
  const InvertedIndex index(fitted);
  const LinearInputs weighed = weigh_tokens(inputs, fitted.at(kIdf));
  std::vector<int64_t> nearest(size_t(weighed.rows()));
  const int64_t jobs = (weighed.rows() + kLookedUpTogether - 1) / kLookedUpTogether;
  run_parallel(jobs, [&](int64_t job) {
    const int64_t end = std::min((job + 1) * kLookedUpTogether, weighed.rows());
    for (int64_t row = job * kLookedUpTogether; row < end; ++row)
      nearest[size_t(row)] = index.nearest(weighed, row);
  });
  return nearest;
}

}  // namespace

NamedTensors fit_nearest_row(const Dataset& train, const LinearInputs& inputs) {
  if (inputs.empty() || train.size() == 0) return {};
  const int64_t kept = std::min(train.size(), kMostRows);
  std::vector<int64_t> picked;
  for (int64_t i = 0; i < kept; ++i) picked.push_back(i * train.size() / kept);
  std::vector<std::string> texts;
  for (const int64_t row : picked) texts.push_back(train.references(row).at(0));
  NamedTensors fitted;
  put_texts(kText, texts, fitted);
  if (inputs.dense.defined()) {
    fitted[kDense] = select_rows(inputs, picked).dense;
    return fitted;
  }
  const at::Tensor idf = fitted[kIdf] = inverse_frequencies(inputs);
  const LinearInputs weighed = select_rows(weigh_tokens(inputs, idf), picked);
  fitted[kOffsets] = torch::tensor(weighed.offsets);
  fitted[kTokens] = torch::tensor(weighed.features).to(at::kInt);
  fitted[kValues] = torch::tensor(weighed.values);
  return fitted;
}

bool has_nearest_row(const NamedTensors& fitted) {
  return fitted.contains(kDense) || fitted.contains(kIdf);
}

const char* nearest_row_name(const LinearInputs& inputs) {
  return inputs.dense.defined() ? "nearest picture" : "nearest sentence";
}

std::vector<std::string> targets_of_nearest_rows(const NamedTensors& fitted,
                                                 const LinearInputs& inputs) {
  const std::vector<std::string> texts = kept_texts(kText, fitted);
  const std::vector<int64_t> nearest = inputs.dense.defined()
                                           ? nearest_of_dense(fitted.at(kDense), inputs.dense)
                                           : nearest_of_tokens(fitted, inputs);
  std::vector<std::string> found;
  for (const int64_t row : nearest) found.push_back(texts.at(size_t(row)));
  return found;
}

}  // namespace fovea
