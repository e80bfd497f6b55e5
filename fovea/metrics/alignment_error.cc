#include "fovea/metrics/alignment_error.h"

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

std::optional<double> share(int64_t part, int64_t all) {
  if (all == 0) return {};
  return double(part) / double(all);
}

/// [N, words]: 1 where a token belongs to a word.
Tensor membership(const Tensor& word_of_token, int64_t words) {
  const Tensor places = at::arange(words, at::kLong).unsqueeze(0);  // [1, words]
  return word_of_token.to(at::kCPU, at::kLong).unsqueeze(1).eq(places).to(at::kDouble);
}

}  // namespace

AlignmentCounts& AlignmentCounts::operator+=(const AlignmentCounts& more) {
  found += more.found, sure += more.sure;
  found_sure += more.found_sure, found_possible += more.found_possible;
  return *this;
}

std::optional<double> AlignmentCounts::precision() const {
  return share(found_possible, found);
}

std::optional<double> AlignmentCounts::recall() const {
  return share(found_sure, sure);
}

std::optional<double> AlignmentCounts::error_rate() const {
  const auto right = share(found_sure + found_possible, found + sure);
  return right ? std::optional<double>(1 - *right) : std::nullopt;
}

AlignmentCounts count_links(const Tensor& found, const Tensor& sure, const Tensor& possible) {
  require(found.sizes() == sure.sizes() && found.sizes() == possible.sizes(),
          ErrorKind::InvalidArgument, "links found, sure and possible have the shapes ",
          found.sizes(), ", ", sure.sizes(), " and ", possible.sizes(), "; they must be equal");
  const auto count = [](const Tensor& links) { return links.sum().item<int64_t>(); };
  const Tensor a = found.ne(0), s = sure.ne(0), p = s.logical_or(possible.ne(0));
  return {count(a), count(s), count(a.logical_and(s)), count(a.logical_and(p))};
}

Tensor strongest_links(const Tensor& weights, const Tensor& target_words,
                       const Tensor& source_words, at::IntArrayRef words) {
  require(weights.dim() == 2 && weights.size(0) == target_words.size(0) &&
              weights.size(1) == source_words.size(0) && words.size() == 2,
          ErrorKind::InvalidArgument, "weights of shape ", weights.sizes(), " for ",
          target_words.size(0), " and ", source_words.size(0), " tokens");
  const Tensor links = at::zeros(words, at::kBool);  // [targets, sources]
  if (links.numel() == 0) return links;
  const Tensor joined = membership(target_words, words[0])
                            .t()
                            .matmul(weights.detach().to(at::kCPU, at::kDouble).nan_to_num(0, 0, 0))
                            .matmul(membership(source_words, words[1]));  // [targets, sources]
  const auto [largest, place] = joined.max(1, /*keepdim=*/true);
  return links.scatter(1, place, largest.gt(0));
}

}  // namespace fovea
