#include "fovea/data/tags/word_features.h"

#include <algorithm>
#include <string_view>

#include "fovea/base/text.h"
#include "fovea/data/tokenisers/word_form.h"

namespace fovea {

namespace {

constexpr size_t kLongestAffix = 4;  // in code points

/// FNV-1a, into 1 … kFeatureNumbers - 1.
int64_t hash_feature(const std::string& feature) {
  uint64_t hash = 14695981039346656037ULL;
  for (const char byte : feature) hash = (hash ^ uint64_t(uint8_t(byte))) * 1099511628211ULL;
  return 1 + int64_t((hash >> 16) % uint64_t(kFeatureNumbers - 1));
}

bool continues_code_point(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// Where each code point begins, and the end.
std::vector<size_t> starts_of(const std::string& word) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < word.size(); ++i)
    if (!continues_code_point(word[i])) starts.push_back(i);
  starts.push_back(word.size());
  return starts;
}

std::string lower_form(const std::string& word) {
  return word_form(word, /*lowercase=*/true);
}

struct WordLook {
  std::string lower, shape;
};

}  // namespace

std::string word_shape(const std::string& word) {
  std::string shape;
  const std::vector<size_t> starts = starts_of(word);
  for (size_t i = 0; i + 1 < starts.size(); ++i) {
    const std::string point = word.substr(starts[i], starts[i + 1] - starts[i]);
    const char first = point[0];
    std::string kind = point;
    if (first >= '0' && first <= '9')
      kind = "d";
    else if (lower_form(point) != point)
      kind = "X";
    else if ((first >= 'a' && first <= 'z') || point.size() > 1)
      kind = "x";
    if (!shape.ends_with(kind)) shape += kind;
  }
  return shape;
}

std::vector<int64_t> word_features(std::span<const std::string> words) {
  std::vector<WordLook> looks{{"<s>", "<s>"}};
  for (const std::string& word : words) looks.push_back({lower_form(word), word_shape(word)});
  looks.push_back({"</s>", "</s>"});
  std::vector<int64_t> features(words.size() * size_t(kWordFeatures), 0);
  for (size_t w = 0; w < words.size(); ++w) {
    int64_t* to = features.data() + w * size_t(kWordFeatures);
    const auto add = [&](const auto&... pieces) { *to++ = hash_feature(concat(pieces...)); };
    const WordLook &before = looks[w], &own = looks[w + 1], &behind = looks[w + 2];
    add("word ", words[w]);
    add("lower ", own.lower);
    add("shape ", own.shape);
    add("first ", w == 0, " shape ", own.shape);
    const std::vector<size_t> starts = starts_of(own.lower);
    const size_t points = starts.size() - 1;
    for (size_t length = 1; length <= kLongestAffix; ++length) {
      const size_t cut = std::min(length, points);
      add("prefix ", length, " ", own.lower.substr(0, starts[cut]));
      add("suffix ", length, " ", own.lower.substr(starts[points - cut]));
    }
    add("before ", before.lower);
    add("before shape ", before.shape);
    add("before shapes ", before.shape, " ", own.shape);
    add("before both ", before.lower, " ", own.lower);
    add("behind ", behind.lower);
    add("behind shape ", behind.shape);
    add("behind shapes ", own.shape, " ", behind.shape);
    add("behind both ", own.lower, " ", behind.lower);
  }
  return features;
}

}  // namespace fovea
