#include "fovea/tasks/outputs/nearest_sentence.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kMostSentences = 50'000;  // that are kept
constexpr int64_t kLookedUpTogether = 64;   // rows of one job

constexpr const char *kIdf = "idf", *kOffsets = "offsets", *kTokens = "tokens", *kValues = "values",
                     *kTexts = "texts", *kTextOffsets = "text_offsets";

/// Offsets [N + 1] that begin at 0, never fall, and end at `size`.
void check_kept_offsets(const at::Tensor& offsets, int64_t rows, int64_t size) {
  const auto* own = offsets.data_ptr<int64_t>();
  require(rows > 0 && offsets.numel() == rows + 1 && own[0] == 0 && own[rows] == size &&
              std::is_sorted(own, own + rows + 1),
          ErrorKind::BadData, "the baselines of this run are damaged: ", offsets.numel(),
          " offsets of ", rows, " sentences");
}

/// Training rows by token: where a token stands, and with which weight.
class InvertedIndex {
 public:
  explicit InvertedIndex(const NamedTensors& fitted)
      : offsets_(fitted.at(kOffsets).contiguous()), postings_(size_t(fitted.at(kIdf).numel())) {
    const at::Tensor tokens = fitted.at(kTokens).contiguous();
    const at::Tensor values = fitted.at(kValues).contiguous();
    check_kept_offsets(offsets_, rows(), tokens.numel());
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

}  // namespace

NamedTensors fit_nearest_sentence(const Dataset& train, const LinearInputs& inputs) {
  if (inputs.empty() || train.size() == 0) return {};
  const at::Tensor idf = inverse_frequencies(inputs);
  const LinearInputs weighed = weigh_tokens(inputs, idf);
  const int64_t kept = std::min(train.size(), kMostSentences);
  std::vector<int64_t> offsets{0}, text_offsets{0};
  std::vector<int32_t> tokens;
  std::vector<float> values;
  std::string texts;
  for (int64_t i = 0; i < kept; ++i) {
    const auto row = size_t(i * train.size() / kept);
    const auto begin = weighed.offsets[row], end = weighed.offsets[row + 1];
    tokens.insert(tokens.end(), weighed.features.begin() + begin, weighed.features.begin() + end);
    values.insert(values.end(), weighed.values.begin() + begin, weighed.values.begin() + end);
    offsets.push_back(int64_t(tokens.size()));
    texts += train.references(int64_t(row)).at(0);
    text_offsets.push_back(int64_t(texts.size()));
  }
  const auto bytes = reinterpret_cast<const uint8_t*>(texts.data());
  return {{kIdf, idf},
          {kOffsets, torch::tensor(offsets)},
          {kTokens, torch::tensor(tokens, at::kInt)},
          {kValues, torch::tensor(values)},
          {kTexts, torch::tensor(std::vector<uint8_t>(bytes, bytes + texts.size()), at::kByte)},
          {kTextOffsets, torch::tensor(text_offsets)}};
}

std::vector<std::string> nearest_sentences(const NamedTensors& fitted, const LinearInputs& inputs) {
  const InvertedIndex index(fitted);
  const at::Tensor texts = fitted.at(kTexts).contiguous();
  const at::Tensor text_offsets = fitted.at(kTextOffsets).contiguous();
  check_kept_offsets(text_offsets, index.rows(), texts.numel());
  const LinearInputs weighed = weigh_tokens(inputs, fitted.at(kIdf));
  std::vector<std::string> found(size_t(weighed.rows()));
  const int64_t jobs = (weighed.rows() + kLookedUpTogether - 1) / kLookedUpTogether;
  run_parallel(jobs, [&](int64_t job) {
    const int64_t end = std::min((job + 1) * kLookedUpTogether, weighed.rows());
    for (int64_t row = job * kLookedUpTogether; row < end; ++row) {
      const auto* of_text = text_offsets.data_ptr<int64_t>() + index.nearest(weighed, row);
      const auto* bytes = reinterpret_cast<const char*>(texts.data_ptr<uint8_t>());
      found[size_t(row)].assign(bytes + of_text[0], bytes + of_text[1]);
    }
  });
  return found;
}

}  // namespace fovea
