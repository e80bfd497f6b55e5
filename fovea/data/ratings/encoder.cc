#include "fovea/data/ratings/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/base/json_field.h"

namespace fovea {

namespace {

using at::Tensor;

Tensor numbers(const std::vector<int64_t>& values) {
  return at::tensor(values, at::kLong);
}

std::string side_name(ReviewSide side, const char* what) {
  return concat(kSideNames[side], what);
}

/// Adds a review as far as the limits allow.
void add_review(const StoredReview& review, const HistoryLimits& limits, History& history) {
  const auto size = static_cast<int64_t>(review.words.size());
  if (size == 0) return;
  const int64_t room = limits.document_words - history.words;
  if (int64_t(history.reviews.size()) == limits.reviews || room == 0) {
    ++history.cut_reviews;
    history.unread_words += size + review.cut;
    return;
  }
  const int64_t words = std::min({size, limits.words, room});
  history.reviews.push_back({&review, words});
  history.words += words;
  history.cut_words += size + review.cut - words;
}

/// Rows of different lengths as one tensor, 0 behind the shorter ones, at least one column.
class PaddedRows {
 public:
  PaddedRows(size_t rows, int64_t longest)
      : width_(std::max<int64_t>(longest, 1)),
        values_(at::zeros({int64_t(rows), width_}, at::kLong)) {}
  int64_t* row(size_t index) { return values_.data_ptr<int64_t>() + int64_t(index) * width_; }
  const Tensor& values() const { return values_; }

 private:
  int64_t width_;
  Tensor values_;
};

Tensor padded(std::span<const Example> examples, const std::string& name) {
  int64_t longest = 0;
  for (const Example& example : examples)
    longest = std::max(longest, example.tensors.at(name).numel());
  PaddedRows rows(examples.size(), longest);
  for (size_t i = 0; i < examples.size(); ++i) {
    const Tensor& own = examples[i].tensors.at(name);
    std::copy_n(own.data_ptr<int64_t>(), own.numel(), rows.row(i));
  }
  return rows.values();
}

/// The axis of reviews, and that of their words, whose texts stand in one text line by line.
struct SideAxes {
  Axis reviews, words;

  void add(const HistoryReview& read, const std::string& label) {
    const std::vector<ReviewWord> cut = cut_review(read.review->text);
    reviews.labels.push_back(label);
    reviews.values.push_back(
        std::isnan(read.review->rating) ? std::string() : format_number(read.review->rating, 6));
    if (!words.text.empty()) words.text += '\n', ++begin_;
    words.text += read.review->text;
    for (int64_t i = 0; i < read.words; ++i) {
      const ReviewWord& word = cut.at(size_t(i));
      words.labels.push_back(word.word);
      words.spans.push_back({begin_ + word.span.begin, begin_ + word.span.end});
    }
    words.offsets.push_back(int64_t(words.labels.size()));
    begin_ += count_code_points(read.review->text);
  }

 private:
  int64_t begin_ = 0;  // of the next review, in code points
};

bool is_one_of(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

Json RatingTruth::to_json() const {
  Json users = Json::object();
  for (const auto& [user, names] : aspects) users[user] = names;
  return {{"aspects", users}, {"judgements", judgements}};
}

RatingTruth RatingTruth::from_json(const Json& json, const std::string& where) {
  RatingTruth truth;
  const Field root(json, where);
  root.at("aspects").each_member(
      [&](const std::string& user, const Field& words) { truth.aspects[user] = words.texts(); });
  const std::vector<std::string> judgements = root.at("judgements").texts();
  truth.judgements = {judgements.begin(), judgements.end()};
  return truth;
}

RatingEncoder::RatingEncoder(std::shared_ptr<const ReviewStore> store,
                             std::shared_ptr<const Vocabulary> vocabulary, HistoryLimits limits)
    : store_(std::move(store)), vocabulary_(std::move(vocabulary)), limits_(limits) {}

Histories RatingEncoder::histories(const RatingTarget& target) const {
  Histories both;
  if (!reads()) return both;
  for (const ReviewSide side : {kUserSide, kItemSide}) {
    const auto known =
        side == kUserSide ? store_->of_user(target.user) : store_->of_item(target.item);
    for (const int64_t index : known) {
      const StoredReview& review = store_->review(index);
      const bool same_pair = review.user == target.user && review.item == target.item;
      const bool same_text = target.text != 0 && review.number == target.text;
      if (!same_pair && !same_text) add_review(review, limits_, both[side]);
    }
  }
  return both;
}

History RatingEncoder::history_of(std::span<const StoredReview> reviews) const {
  History history;
  for (const StoredReview& review : reviews) add_review(review, limits_, history);
  return history;
}

StoredReview RatingEncoder::review_of(const std::string& text, double rating) const {
  StoredReview review{0, 0, rating, text, text_number(text)};
  for (const ReviewWord& word : cut_review(text))
    review.words.push_back(vocabulary_->id(word.word));
  return review;
}

void RatingEncoder::add_side(ReviewSide side, const History& history, Example& example) const {
  SideAxes axes;
  axes.reviews.name = side_name(side, " reviews");
  axes.reviews.kind = "review";
  axes.words.name = side_name(side, " words");
  axes.words.kind = "word";
  axes.words.parent = axes.reviews.name;
  axes.words.offsets = {0};
  std::vector<int64_t> words, lengths;
  for (const HistoryReview& read : history.reviews) {
    const StoredReview& review = *read.review;
    const int64_t other = side == kUserSide ? review.item : review.user;
    axes.add(read, other == 0          ? concat("review ", lengths.size() + 1)
                   : side == kUserSide ? concat("on ", store_->item_name(other))
                                       : concat("by ", store_->user_name(other)));
    words.insert(words.end(), review.words.begin(), review.words.begin() + read.words);
    lengths.push_back(read.words);
  }
  example.tensors[side_name(side, "_words")] = numbers(words);
  example.tensors[side_name(side, "_lengths")] = numbers(lengths);
  example.add_cut(concat("reviews of the ", kSideNames[side]), int64_t(history.reviews.size()),
                  history.cut_reviews);
  example.add_cut(concat("words of the ", kSideNames[side], "'s reviews"), history.words,
                  history.cut_words + history.unread_words);
  example.axes.push_back(std::move(axes.reviews));
  example.axes.push_back(std::move(axes.words));
}

Example RatingEncoder::example(const RatingTarget& target, const Histories& histories) const {
  Example example;
  example.tensors["user"] = at::scalar_tensor(target.user, at::kLong);
  example.tensors["item"] = at::scalar_tensor(target.item, at::kLong);
  if (reads())
    for (const ReviewSide side : {kUserSide, kItemSide}) add_side(side, histories[side], example);
  return example;
}

void RatingEncoder::plant_truth(const std::vector<std::string>& aspects,
                                const std::set<std::string>& judgements, Example& example) const {
  for (const ReviewSide side : {kUserSide, kItemSide}) {
    const Axis& words = example.axis(side_name(side, " words"));
    const auto reviews = int64_t(example.axis(side_name(side, " reviews")).labels.size());
    const Tensor word_marks = at::zeros({1, int64_t(words.labels.size())}, at::kBool);
    const Tensor review_marks = at::zeros({1, reviews}, at::kBool);
    for (int64_t review = 0; review < reviews; ++review) {
      const int64_t begin = words.offsets[size_t(review)], end = words.offsets[size_t(review) + 1];
      for (int64_t w = begin; w < end; ++w) {
        if (!is_one_of(words.labels[size_t(w)], aspects)) continue;
        word_marks.data_ptr<bool>()[w] = true;
        review_marks.data_ptr<bool>()[review] = true;
        if (side == kItemSide && w > begin && judgements.contains(words.labels[size_t(w) - 1]))
          word_marks.data_ptr<bool>()[w - 1] = true;
      }
    }
    example.truth[side_name(side, " reviews")] = review_marks;
    for (const char* map : {" words", " local", " global"})
      example.truth[side_name(side, map)] = word_marks;
  }
}

Batch RatingEncoder::collate(std::span<const RatingTarget> targets,
                             std::span<const Histories> histories) const {
  Batch batch;
  batch.size = static_cast<int64_t>(targets.size());
  std::vector<int64_t> users, items;
  for (const RatingTarget& target : targets) {
    users.push_back(target.user);
    items.push_back(target.item);
  }
  batch.tensors["user"] = numbers(users);  // [B]
  batch.tensors["item"] = numbers(items);  // [B]
  if (!reads()) return batch;
  for (const ReviewSide side : {kUserSide, kItemSide}) {
    int64_t most_words = 0;
    size_t most_reviews = 0;
    for (const Histories& both : histories) {
      most_words = std::max(most_words, both[side].words);
      most_reviews = std::max(most_reviews, both[side].reviews.size());
    }
    PaddedRows words(targets.size(), most_words), lengths(targets.size(), int64_t(most_reviews));
    for (size_t row = 0; row < targets.size(); ++row) {
      int64_t *word = words.row(row), *length = lengths.row(row);
      for (const HistoryReview& read : histories[row][side].reviews) {
        word = std::copy_n(read.review->words.begin(), read.words, word);
        *length++ = read.words;
      }
    }
    batch.tensors[side_name(side, "_words")] = words.values();      // [B, K]
    batch.tensors[side_name(side, "_lengths")] = lengths.values();  // [B, R]
  }
  return batch;
}

Batch RatingEncoder::collate(std::span<const Example> examples) const {
  Batch batch;
  batch.size = static_cast<int64_t>(examples.size());
  for (const char* name : {"user", "item"}) batch.tensors[name] = padded(examples, name).flatten();
  if (reads())
    for (const char* name : {"user_words", "user_lengths", "item_words", "item_lengths"})
      batch.tensors[name] = padded(examples, name);
  std::vector<Tensor> targets;
  for (const Example& example : examples)
    if (const auto own = example.tensors.find("target"); own != example.tensors.end())
      targets.push_back(own->second);
  if (!targets.empty() && targets.size() == examples.size())
    batch.tensors["target"] = at::stack(targets);  // [B]
  return batch;
}

Example RatingEncoder::erase(const Example& example, const std::string& axis,
                             std::span<const int64_t> units) const {
  for (const ReviewSide side : {kUserSide, kItemSide}) {
    const bool words = axis == side_name(side, " words");
    if (!reads() || (!words && axis != side_name(side, " reviews"))) continue;
    Example erased = example;
    Tensor& symbols = erased.tensors.at(side_name(side, "_words"));
    symbols = symbols.clone();
    const std::vector<int64_t>& offsets = example.axis(side_name(side, " words")).offsets;
    const int64_t size = words ? symbols.numel() : int64_t(offsets.size()) - 1;
    for (const int64_t unit : units) {
      require(unit >= 0 && unit < size, ErrorKind::InvalidArgument, "unit ", unit, " of the axis '",
              axis, "' cannot be erased; there are ", size);
      const int64_t begin = words ? unit : offsets[size_t(unit)];
      const int64_t end = words ? unit + 1 : offsets[size_t(unit) + 1];
      std::fill(symbols.data_ptr<int64_t>() + begin, symbols.data_ptr<int64_t>() + end,
                words ? Vocabulary::kUnknown : Vocabulary::kPadding);
    }
    return erased;
  }
  fail(ErrorKind::Unsupported, "units of the axis '", axis, "' cannot be erased");
}

}  // namespace fovea
