#include "fovea/data/ratings/store.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/encode_rows.h"
#include "fovea/data/stored_columns.h"
#include "fovea/data/tokenisers/bert_words.h"

namespace fovea {

namespace {

using at::Tensor;
using Tensors = std::map<std::string, Tensor>;

bool is_word(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (c & 0x80) != 0 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
  });
}

/// The first `count` code points of valid UTF-8.
std::string first_code_points(const std::string& text, int64_t count) {
  size_t at = 0;
  for (; at < text.size(); ++at)
    if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80 && count-- == 0) break;
  return text.substr(0, at);
}

struct KeptText {
  std::string text;
  int64_t cut = 0;  // words
};

KeptText kept_text(const std::string& text, int64_t longest) {
  if (longest == 0) return {};
  const std::vector<ReviewWord> words = cut_review(text);
  const auto cut = static_cast<int64_t>(words.size()) - longest;
  if (cut <= 0) return {text};
  return {first_code_points(text, words[size_t(longest - 1)].span.end), cut};
}

/// Texts one after the other, and where each ends.
void pack(const std::string& name, const std::vector<std::string>& texts, Tensors& tensors) {
  std::string bytes;
  std::vector<int64_t> ends;
  for (const std::string& text : texts) {
    bytes += text;
    ends.push_back(int64_t(bytes.size()));
  }
  const Tensor packed = at::empty({int64_t(bytes.size())}, at::kByte);
  std::memcpy(packed.data_ptr(), bytes.data(), bytes.size());
  tensors[name] = packed;
  tensors[name + ".ends"] = at::tensor(ends, at::kLong);
}

std::vector<std::string> unpack(const Tensors& tensors, const std::string& name,
                                const std::string& where) {
  const Tensor bytes = checked_column(tensors, name, at::kByte, where);
  std::vector<std::string> texts;
  int64_t begin = 0;
  for (const int64_t end : column_values<int64_t>(tensors, name + ".ends", at::kLong, where)) {
    require(end >= begin && end <= bytes.numel(), ErrorKind::BadData, where, ": '", name,
            "' has a text from ", begin, " to ", end, " of ", bytes.numel(), " bytes");
    texts.emplace_back(static_cast<const char*>(bytes.data_ptr()) + begin, size_t(end - begin));
    require(valid_utf8_prefix(texts.back()) == texts.back().size(), ErrorKind::BadData, where,
            ": text ", texts.size(), " of '", name, "' is not UTF-8");
    begin = end;
  }
  return texts;
}

}  // namespace

std::vector<ReviewWord> cut_review(std::string_view text) {
  const size_t valid = valid_utf8_prefix(text);
  require(valid == text.size(), ErrorKind::BadData, "a review is not valid UTF-8 from byte ", valid,
          " on");
  std::vector<ReviewWord> words;
  for (BertWords reader(text, {}); reader.next();)
    if (is_word(reader.word()))
      words.push_back({reader.word(), reader.span(0, reader.word().size())});
  return words;
}

uint64_t text_number(std::string_view text) {
  const std::string_view plain = trim(text);
  if (plain.empty()) return 0;
  uint64_t number = 0xcbf29ce484222325ull;  // FNV-1a
  for (const char c : plain) number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return std::max<uint64_t>(number, 1);
}

int64_t ReviewStore::Side::number(const std::string& name) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? 0 : found->second;
}

int64_t ReviewStore::Side::add(const std::string& name) {
  const auto [found, is_new] = numbers.emplace(name, int64_t(names.size()) + 1);
  if (is_new) {
    names.push_back(name);
    reviews.emplace_back();
  }
  return found->second;
}

std::span<const int64_t> ReviewStore::Side::of(int64_t number) const {
  if (number == 0) return {};
  return reviews.at(size_t(number - 1));
}

void ReviewStore::add(StoredReview review) {
  users_.reviews.at(size_t(review.user - 1)).push_back(size());
  items_.reviews.at(size_t(review.item - 1)).push_back(size());
  reviews_.push_back(std::move(review));
}

ReviewStore::ReviewStore(std::span<const Review> training, int64_t longest) {
  for (const Review& review : training) users_.add(review.user), items_.add(review.item);
  std::vector<KeptText> texts(training.size());
  for_each_row(int64_t(training.size()), [&](int64_t row) {
    const Review& review = training[size_t(row)];
    try {
      texts[size_t(row)] = kept_text(review.text, longest);
    } catch (const Error& error) {
      fail(error.kind(), review.place, ": ", error.what());
    }
  });
  std::vector<size_t> order(training.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});  // without times the last row is the newest
  constexpr double kLongAgo = -std::numeric_limits<double>::infinity();
  std::stable_sort(order.begin(), order.end(), [&](size_t left, size_t right) {
    return training[left].time.value_or(kLongAgo) > training[right].time.value_or(kLongAgo);
  });
  for (const size_t i : order)
    add({user(training[i].user), item(training[i].item), training[i].rating,
         std::move(texts[i].text), text_number(training[i].text), texts[i].cut});
}

std::map<std::string, int64_t> ReviewStore::count_words() const {
  std::map<std::string, int64_t> counts;
  for (const StoredReview& review : reviews_)
    for (const ReviewWord& word : cut_review(review.text)) ++counts[word.word];
  return counts;
}

void ReviewStore::number_words(const Vocabulary& vocabulary) {
  for_each_row(size(), [&](int64_t row) {
    StoredReview& review = reviews_[size_t(row)];
    review.words.clear();
    for (const ReviewWord& word : cut_review(review.text))
      review.words.push_back(vocabulary.id(word.word));
  });
}

Tensors ReviewStore::to_tensors() const {
  Tensors tensors;
  std::vector<int64_t> users, items, numbers, cut;
  std::vector<double> ratings;
  std::vector<std::string> texts;
  for (const StoredReview& review : reviews_) {
    users.push_back(review.user);
    items.push_back(review.item);
    ratings.push_back(review.rating);
    numbers.push_back(int64_t(review.number));
    cut.push_back(review.cut);
    texts.push_back(review.text);
  }
  pack("users", users_.names, tensors);
  pack("items", items_.names, tensors);
  pack("texts", texts, tensors);
  tensors["review.user"] = at::tensor(users, at::kLong);
  tensors["review.item"] = at::tensor(items, at::kLong);
  tensors["review.text"] = at::tensor(numbers, at::kLong);
  tensors["review.cut"] = at::tensor(cut, at::kLong);
  tensors["review.rating"] = at::tensor(ratings, at::kDouble);
  return tensors;
}

ReviewStore ReviewStore::from_tensors(const Tensors& tensors, const std::string& where) {
  ReviewStore store;
  for (const std::string& name : unpack(tensors, "users", where)) store.users_.add(name);
  for (const std::string& name : unpack(tensors, "items", where)) store.items_.add(name);
  std::vector<std::string> texts = unpack(tensors, "texts", where);
  const auto users = column_values<int64_t>(tensors, "review.user", at::kLong, where);
  const auto items = column_values<int64_t>(tensors, "review.item", at::kLong, where);
  const auto numbers = column_values<int64_t>(tensors, "review.text", at::kLong, where);
  const auto cut = column_values<int64_t>(tensors, "review.cut", at::kLong, where);
  const auto ratings = column_values<double>(tensors, "review.rating", at::kDouble, where);
  for (const size_t size : {users.size(), items.size(), numbers.size(), cut.size(), ratings.size()})
    require(size == texts.size(), ErrorKind::BadData, where, ": has ", texts.size(), " texts for ",
            size, " reviews");
  for (size_t i = 0; i < texts.size(); ++i) {
    require(
        users[i] >= 1 && users[i] <= store.users() && items[i] >= 1 && items[i] <= store.items(),
        ErrorKind::BadData, where, ": review ", i + 1, " is of user ", users[i], " on item ",
        items[i], "; there are ", store.users(), " users and ", store.items(), " items");
    store.add({users[i], items[i], ratings[i], std::move(texts[i]), uint64_t(numbers[i]), cut[i]});
  }
  return store;
}

}  // namespace fovea
