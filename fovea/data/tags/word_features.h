// What is seen of a word without having seen the word: its case and digits, how it begins and ends,
// the words beside it; as in feature-based CRFs (Ratinov and Roth 2009). Each feature is a text,
// and its number a hash of that.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fovea {

constexpr int64_t kFeatureNumbers = 1 << 16;  // 0 is none
constexpr int64_t kOwnFeatures = 12;          // of the word itself, then
constexpr int64_t kNeighbourFeatures = 4;     // of it and the word before, then behind
constexpr int64_t kWordFeatures = kOwnFeatures + 2 * kNeighbourFeatures;

/// "Fovea-2b" -> "Xx-dx": letters by case, digits, anything else as it is; runs are one.
std::string word_shape(const std::string& word);

/// kWordFeatures numbers for each word, one after the other.
std::vector<int64_t> word_features(std::span<const std::string> words);

}  // namespace fovea
