// The training reviews, which all inputs of the task `ratings` are made of, in memory and in the
// run. Users and items have numbers from 1 on; 0 is one that training never saw.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/data/ratings/reader.h"
#include "fovea/data/tokenisers/vocabulary.h"
#include "fovea/tensor/attention_map.h"

namespace fovea {

struct ReviewWord {
  std::string word;  // lower case, without accents
  Span span;         // code points of the text
};

/// The words of a text as tokenisers/bert_words.h cuts them, without marks that are neither letter
/// nor digit; emoji are words. BadData for invalid UTF-8; a text beyond ASCII is Unsupported
/// without ICU.
std::vector<ReviewWord> cut_review(std::string_view text);

/// The number that equal texts share; 0 for a text without words in it.
uint64_t text_number(std::string_view text);

struct StoredReview {
  int64_t user = 0, item = 0;
  double rating = 0;                // NaN: unknown
  std::string text = {};            // up to the last word that is kept
  uint64_t number = 0;              // text_number() of the whole text
  int64_t cut = 0;                  // words behind that one
  std::vector<int64_t> words = {};  // numbers in the vocabulary
};

class ReviewStore {
 public:
  ReviewStore() = default;
  /// Texts lose what comes after `longest` words; 0: no text is kept.
  ReviewStore(std::span<const Review> training, int64_t longest);

  /// Words that occur in the texts, and how often.
  std::map<std::string, int64_t> count_words() const;
  /// Gives every review its words' numbers.
  void number_words(const Vocabulary& vocabulary);

  int64_t users() const { return int64_t(users_.names.size()); }
  int64_t items() const { return int64_t(items_.names.size()); }
  int64_t user(const std::string& name) const { return users_.number(name); }
  int64_t item(const std::string& name) const { return items_.number(name); }
  const std::string& user_name(int64_t number) const { return users_.names.at(size_t(number - 1)); }
  const std::string& item_name(int64_t number) const { return items_.names.at(size_t(number - 1)); }

  int64_t size() const { return int64_t(reviews_.size()); }
  const StoredReview& review(int64_t index) const { return reviews_.at(size_t(index)); }
  /// Indices of a user's or an item's reviews, the newest first; none of number 0.
  std::span<const int64_t> of_user(int64_t number) const { return users_.of(number); }
  std::span<const int64_t> of_item(int64_t number) const { return items_.of(number); }

  /// For reviews.safetensors of a run, without the words' numbers.
  std::map<std::string, at::Tensor> to_tensors() const;
  /// BadData, beginning with `where`, for tensors that do not fit together.
  static ReviewStore from_tensors(const std::map<std::string, at::Tensor>& tensors,
                                  const std::string& where);

 private:
  /// The users or the items: names, and which reviews are theirs.
  struct Side {
    std::vector<std::string> names = {};
    std::unordered_map<std::string, int64_t> numbers = {};
    std::vector<std::vector<int64_t>> reviews = {};

    int64_t number(const std::string& name) const;  // 0 where it is not known
    int64_t add(const std::string& name);
    std::span<const int64_t> of(int64_t number) const;
  };
  void add(StoredReview review);

  Side users_, items_;
  std::vector<StoredReview> reviews_;  // the newest first
};

}  // namespace fovea
