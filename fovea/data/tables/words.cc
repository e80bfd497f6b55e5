#include "fovea/data/tables/words.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "fovea/base/error.h"

namespace fovea {

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80);
    if (c >= 'A' && c <= 'Z')
      word += char(c - 'A' + 'a');
    else if (letter)
      word += c;
    else
      finish();
  }
  finish();
  return words;
}

WordEncoding WordEncoding::fit(std::span<const std::string_view> cells, int64_t most) {
  std::unordered_map<std::string, int64_t> rows_with_word;
  for (const std::string_view cell : cells) {
    const std::vector<std::string> words = words_in(cell);
    for (const std::string& word : std::unordered_set<std::string>(words.begin(), words.end()))
      ++rows_with_word[word];
  }
  std::vector<std::pair<std::string, int64_t>> sorted;
  for (const auto& [word, rows] : rows_with_word)
    if (rows > 1) sorted.emplace_back(word, rows);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (int64_t(sorted.size()) > most) sorted.resize(size_t(most));
  WordEncoding encoding;
  for (const auto& [word, rows] : sorted) {
    encoding.words_.push_back(word);
    encoding.weights_.push_back(std::log((1 + double(cells.size())) / (1 + double(rows))) + 1);
  }
  encoding.index_words();
  encoding.means_.assign(encoding.words_.size(), 0);
  std::vector<float> inputs(encoding.words_.size());
  for (const std::string_view cell : cells) {
    std::fill(inputs.begin(), inputs.end(), 0.f);
    encoding.encode(cell, inputs.data());
    for (size_t i = 0; i < inputs.size(); ++i)
      encoding.means_[i] += double(inputs[i]) / double(cells.size());
  }
  return encoding;
}

void WordEncoding::index_words() {
  index_.clear();
  for (size_t i = 0; i < words_.size(); ++i) index_.emplace(words_[i], int64_t(i));
}

bool WordEncoding::encode(std::string_view text, float* inputs) const {
  std::map<int64_t, int64_t> counts;
  for (const std::string& word : words_in(text))
    if (const auto known = index_.find(word); known != index_.end()) ++counts[known->second];
  double squares = 0;
  for (const auto& [word, count] : counts) {
    const double weight = (1 + std::log(double(count))) * weights_[size_t(word)];
    inputs[word] = float(weight);
    squares += weight * weight;
  }
  for (const auto& [word, count] : counts) inputs[word] = float(inputs[word] / std::sqrt(squares));
  return !counts.empty();
}

std::string WordEncoding::decode(const float* inputs) const {
  std::vector<std::string> found;
  for (size_t i = 0; i < words_.size(); ++i)
    if (inputs[i] > 0) found.push_back(words_[i]);
  return join(found, " ");
}

Json WordEncoding::to_json() const {
  return {{"words", words_}, {"weights", weights_}, {"input_means", means_}};
}

WordEncoding WordEncoding::from_json(const Field& field) {
  WordEncoding encoding;
  encoding.words_ = field.at("words").texts();
  constexpr size_t kMostWords = 65536;
  require(!encoding.words_.empty() && encoding.words_.size() <= kMostWords, ErrorKind::BadData,
          field.place(), ": found ", encoding.words_.size(), " words, expected 1 to ", kMostWords);
  encoding.weights_ = field.at("weights").finites(encoding.words_.size());
  encoding.means_ = field.at("input_means").finites(encoding.words_.size());
  encoding.index_words();
  return encoding;
}

}  // namespace fovea
