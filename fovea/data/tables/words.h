// Free text in a table as inputs: of each word that training knows tf-idf,
//   (1 + ln count) * (1 + ln((1 + N) / (1 + rows with the word))),  scaled to length 1.
// The words are the most frequent ones of the training rows; others count for nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/base/json_field.h"

namespace fovea {

/// Runs of letters and digits, in lower case.
std::vector<std::string> words_in(std::string_view text);

class WordEncoding {
 public:
  /// At most `most` words, each in two rows at least.
  static WordEncoding fit(std::span<const std::string_view> cells, int64_t most);

  Json to_json() const;
  static WordEncoding from_json(const Field& field);

  const std::vector<std::string>& words() const { return words_; }
  const std::vector<double>& input_means() const { return means_; }
  /// Writes words().size() numbers; false where the text has no word that is known.
  bool encode(std::string_view text, float* inputs) const;
  /// The words that are in it, not in their order.
  std::string decode(const float* inputs) const;

 private:
  void index_words();
  std::vector<std::string> words_;
  std::vector<double> weights_, means_;  // inverse document frequency; over the training rows
  std::unordered_map<std::string, int64_t> index_;
};

}  // namespace fovea
