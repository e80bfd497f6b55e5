#include "fovea/metrics/ngram_model.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {

namespace {

constexpr double kDiscount = 0.75;

}  // namespace

int64_t NgramModel::key(std::span<const int64_t> tokens, int64_t length) const {
  int64_t key = 0;
  for (const int64_t token : tokens.last(size_t(length))) key = key * vocabulary_ + token;
  return key;
}

void NgramModel::add(int64_t order, int64_t context, int64_t whole, int64_t count) {
  int64_t& known = counts_[size_t(order - 1)][whole];
  Context& before = contexts_[size_t(order - 1)][context];
  before.kinds += known == 0;
  before.count += count;
  known += count;
}

void NgramModel::add(std::span<const int64_t> tokens) {
  for (size_t end = 2; end <= tokens.size(); ++end) {
    const auto upto = tokens.first(end);
    for (int64_t order = 1; order <= std::min<int64_t>(kOrder, int64_t(end)); ++order)
      add(order, key(upto.first(end - 1), order - 1), key(upto, order), 1);
  }
}

double NgramModel::probability(std::span<const int64_t> tokens, int64_t order) const {
  if (order == 0) return 1 / double(vocabulary_);
  const double shorter = probability(tokens, order - 1);
  if (int64_t(tokens.size()) < order) return shorter;
  const auto& contexts = contexts_[size_t(order - 1)];
  const auto context = contexts.find(key(tokens.first(tokens.size() - 1), order - 1));
  if (context == contexts.end()) return shorter;
  const auto& counts = counts_[size_t(order - 1)];
  const auto found = counts.find(key(tokens, order));
  const double count = found == counts.end() ? 0 : double(found->second);
  const double total = double(context->second.count);
  return (std::max(count - kDiscount, 0.0) + kDiscount * double(context->second.kinds) * shorter) /
         total;
}

double NgramModel::nats(std::span<const int64_t> tokens, int64_t order) const {
  return -std::log(probability(tokens, order));
}

NamedTensors NgramModel::to_tensors() const {
  NamedTensors tensors{{"ngrams.vocabulary", at::full({1}, vocabulary_, at::kLong)}};
  for (int64_t order = 1; order <= kOrder; ++order) {
    const auto& counts = counts_[size_t(order - 1)];
    std::vector<std::pair<int64_t, int64_t>> sorted(counts.begin(), counts.end());
    std::sort(sorted.begin(), sorted.end());
    at::Tensor table = at::empty({int64_t(sorted.size()), 2}, at::kLong);
    for (size_t i = 0; i < sorted.size(); ++i) {
      table.data_ptr<int64_t>()[2 * i] = sorted[i].first;
      table.data_ptr<int64_t>()[2 * i + 1] = sorted[i].second;
    }
    tensors[concat("ngrams.", order)] = table;
  }
  return tensors;
}

NgramModel NgramModel::from_tensors(const NamedTensors& tensors) {
  const at::Tensor& size = tensors.at("ngrams.vocabulary");
  require(size.scalar_type() == at::kLong && size.numel() == 1 && size.item<int64_t>() > 0,
          ErrorKind::BadData, "the baselines of this run are damaged: ngrams.vocabulary");
  NgramModel model(size.item<int64_t>());
  for (int64_t order = 1; order <= kOrder; ++order) {
    const at::Tensor table = tensors.at(concat("ngrams.", order)).contiguous();
    require(table.scalar_type() == at::kLong && table.dim() == 2 && table.size(1) == 2,
            ErrorKind::BadData, "the baselines of this run are damaged: ngrams.", order);
    const int64_t* row = table.data_ptr<int64_t>();
    for (int64_t i = 0; i < table.size(0); ++i, row += 2)
      model.add(order, row[0] / model.vocabulary_, row[0], row[1]);
  }
  return model;
}

}  // namespace fovea
