#include "fovea/decoding/tags.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {

namespace {

// Far below any sum of log-probabilities, yet sums of it stay finite.
constexpr double kImpossible = -1e30;

bool continues(const std::string& tag) {
  return tag.starts_with("I-");
}

std::string type_of(const std::string& tag) {
  return tag.size() > 2 && tag[1] == '-' ? tag.substr(2) : "";
}

struct Path {
  std::vector<double> score;                // [K], of the best way to each tag of this word
  std::vector<std::vector<size_t>> before;  // [W - 1][K], where it came from
};

/// How likely each tag of a word is.
std::vector<double> scores_of(const float* row, size_t tags) {
  std::vector<double> scores(tags);
  for (size_t tag = 0; tag < tags; ++tag)
    scores[tag] = std::isnan(row[tag]) ? kImpossible : std::max<double>(row[tag], kImpossible);
  return scores;
}

/// What a tag's score gains by the one before it.
double move_score(const at::Tensor& transition, size_t before, size_t after, size_t tags) {
  return transition.defined() ? transition.data_ptr<float>()[before * tags + after] : 0;
}

/// One word further.
void extend(Path& path, const std::vector<double>& own, const TagRules& rules,
            const at::Tensor& transition) {
  const size_t tags = own.size();
  std::vector<double> score(tags);
  std::vector<size_t> before(tags);
  for (size_t after = 0; after < tags; ++after) {
    double best = -INFINITY;
    for (size_t tag = 0; tag < tags; ++tag) {
      const double joined = path.score[tag] + move_score(transition, tag, after, tags);
      if (rules.may_follow[tag][after] && joined > best) best = joined, before[after] = tag;
    }
    score[after] = best + own[after];
  }
  path.score = std::move(score);
  path.before.push_back(std::move(before));
}

}  // namespace

TagRules iob_rules(const std::vector<std::string>& tags) {
  TagRules rules;
  for (const std::string& tag : tags) rules.may_begin.push_back(!continues(tag));
  require(std::find(rules.may_begin.begin(), rules.may_begin.end(), true) != rules.may_begin.end(),
          ErrorKind::InvalidArgument, "none of the tags may begin a sentence: ", join(tags));
  for (const std::string& before : tags) {
    rules.may_follow.emplace_back();
    for (const std::string& after : tags)
      rules.may_follow.back().push_back(
          !continues(after) || (!type_of(before).empty() && type_of(before) == type_of(after)));
  }
  return rules;
}

TagRules free_rules(int64_t tags) {
  const std::vector<bool> all(static_cast<size_t>(tags), true);
  return {all, std::vector<std::vector<bool>>(all.size(), all)};
}

Decoded best_tags(const at::Tensor& scores, const TagRules& rules, const TagChain& chain) {
  const at::Tensor table = scores.to(at::kCPU, at::kFloat).contiguous();  // [W, K]
  require(table.dim() == 2 && table.size(1) == rules.tags(), ErrorKind::Internal, "scores ",
          table.sizes(), " for ", rules.tags(), " tags");
  const at::Tensor transition =
      chain.transition.defined() ? chain.transition.to(at::kFloat).contiguous() : at::Tensor();
  const int64_t words = table.size(0);
  const auto tags = static_cast<size_t>(rules.tags());
  Decoded found;
  if (words == 0) return found;
  const float* row = table.data_ptr<float>();
  Path path{scores_of(row, tags), {}};
  for (size_t tag = 0; tag < tags; ++tag)
    if (!rules.may_begin[tag])
      path.score[tag] = -INFINITY;
    else if (chain.begin.defined())
      path.score[tag] += chain.begin[int64_t(tag)].item<double>();
  for (int64_t word = 1; word < words; ++word)
    extend(path, scores_of(row + word * int64_t(tags), tags), rules, transition);

  auto tag = static_cast<size_t>(std::max_element(path.score.begin(), path.score.end()) -
                                 path.score.begin());
  found.tokens.resize(static_cast<size_t>(words));
  for (int64_t word = words - 1;; --word) {
    found.tokens[size_t(word)] = int64_t(tag);
    found.log_probability += row[word * int64_t(tags) + int64_t(tag)];
    if (word == 0) break;
    const size_t before = path.before[size_t(word) - 1][tag];
    found.log_probability += move_score(transition, before, tag, tags);
    tag = before;
  }
  if (chain.begin.defined()) found.log_probability += chain.begin[int64_t(tag)].item<double>();
  return found;
}

}  // namespace fovea
