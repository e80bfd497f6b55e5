#include "fovea/data/tags/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <map>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/encode_rows.h"
#include "fovea/data/padding.h"
#include "fovea/data/tags/word_features.h"
#include "fovea/data/tokenisers/text_vectors.h"
#include "fovea/data/tokenisers/tokeniser.h"

namespace fovea {

namespace {

using at::Tensor;

/// Bytes of each code point of valid UTF-8.
std::vector<std::string_view> code_points_of(std::string_view text) {
  std::vector<std::string_view> points;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    points.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return points;
}

Tensor numbers(const std::vector<int64_t>& values) {
  return at::tensor(values, at::kLong);
}

/// What both encoders have: the words, which of them are real, and their tags where all are known.
void add_words(std::span<const Example> examples, Batch& batch) {
  batch.tensors["words"] = pad_tensors(examples, "words");  // [B, W]
  batch.tensors["words.keep"] = keep_tensors(examples, "words");
  const bool known = std::all_of(examples.begin(), examples.end(), [](const Example& example) {
    return example.tensors.count("target") > 0;
  });
  if (known) batch.tensors["target"] = pad_tensors(examples, "target");
}

/// bool [U, U]: units of a word look at units of the words that decide its tag.
Tensor truth_of(const Sentence& sentence, const std::vector<int64_t>& word_of_unit) {
  const auto units = static_cast<int64_t>(word_of_unit.size());
  const Tensor truth = at::zeros({units, units}, at::kBool);
  bool* mark = truth.data_ptr<bool>();
  for (const auto& [word, decides] : sentence.decisive)
    for (int64_t query = 0; query < units; ++query)
      for (int64_t key = 0; key < units; ++key)
        if (word_of_unit[size_t(query)] == word && word_of_unit[size_t(key)] == decides)
          mark[query * units + key] = true;
  return truth;
}

Axis word_axis(const Sentence& sentence) {
  Axis axis{"words", "token", sentence.words};
  axis.text = sentence.text;
  axis.spans = sentence.spans;
  return axis;
}

void add_tags_and_truth(const Sentence& sentence, const std::vector<int64_t>& word_of_unit,
                        Example& example) {
  if (!sentence.tags.empty()) example.tensors["target"] = numbers(sentence.tags);
  if (!sentence.decisive.empty()) example.truth["attention"] = truth_of(sentence, word_of_unit);
}

/// Counts in the words joined by blanks become counts in the sentence's text.
void move_spans(const Sentence& sentence, const Pieces& pieces, std::vector<Span>& spans) {
  std::vector<int64_t> begin_of{0};
  for (const std::string& word : sentence.words)
    begin_of.push_back(begin_of.back() + count_code_points(word) + 1);
  for (size_t i = 0; i < spans.size(); ++i) {
    const auto word = static_cast<size_t>(pieces.words[i]);
    const int64_t shift = sentence.spans[word].begin - begin_of[word];
    spans[i] = {spans[i].begin + shift, spans[i].end + shift};
  }
}

/// The first piece of each word of the sentence; of a word without one that of the word before.
std::vector<int64_t> first_pieces_of_words(const Sentence& sentence, const Pieces& pieces,
                                           bool by_word) {
  std::vector<int64_t> first(sentence.words.size(), 0);
  int64_t piece = 0;
  for (size_t word = 0; word < first.size(); ++word) {
    const auto is_before = [&](size_t at) {
      return by_word ? pieces.words[at] < int64_t(word)
                     : pieces.spans[at].end <= sentence.spans[word].begin;
    };
    while (piece + 1 < pieces.size() && is_before(size_t(piece))) ++piece;
    first[word] = piece;
  }
  return first;
}

/// The pieces belong to the sentence's words, whatever words the tokeniser sees.
void number_words(const std::vector<int64_t>& first_pieces, Pieces& pieces) {
  for (int64_t piece = 0; piece < pieces.size(); ++piece) {
    const auto next = std::upper_bound(first_pieces.begin(), first_pieces.end(), piece);
    pieces.words[size_t(piece)] = std::max<int64_t>(0, next - first_pieces.begin() - 1);
  }
}

/// Where each word begins in the inputs one after the other: of several places the one that is
/// farthest from the ends of its input.
std::vector<int64_t> word_places(const std::vector<int64_t>& first_pieces,
                                 const std::vector<PackedInput>& inputs) {
  std::vector<int64_t> places(first_pieces.size(), 0), margins(first_pieces.size(), -1);
  int64_t begin_of_input = 0;
  for (const PackedInput& input : inputs) {
    int64_t piece = input.first_piece[0];
    for (int64_t i = 0; i < input.size(); ++i) {
      if (input.texts[size_t(i)] < 0) continue;
      const auto [begin, end] = std::equal_range(first_pieces.begin(), first_pieces.end(), piece);
      const int64_t margin = std::min(i, input.size() - 1 - i);
      for (auto word = size_t(begin - first_pieces.begin());
           word < size_t(end - first_pieces.begin()); ++word)
        if (margin > margins[word]) margins[word] = margin, places[word] = begin_of_input + i;
      ++piece;
    }
    begin_of_input += input.size();
  }
  return places;
}

void check_units(std::span<const int64_t> units, int64_t size) {
  for (const int64_t unit : units)
    require(unit >= 0 && unit < size, ErrorKind::InvalidArgument, "word ", unit,
            " cannot be erased: there are ", size);
}

}  // namespace

Sentence sentence_of(std::vector<std::string> words) {
  Sentence sentence;
  int64_t position = 0;
  for (const std::string& word : words) {
    require(valid_utf8_prefix(word) == word.size(), ErrorKind::BadData,
            "a word is not valid UTF-8 from byte ", valid_utf8_prefix(word), " on");
    if (position > 0) sentence.text += ' ';
    sentence.text += word;
    const int64_t length = count_code_points(word);
    sentence.spans.push_back({position, position + length});
    position += length + 1;
  }
  sentence.words = std::move(words);
  return sentence;
}

Sentence cut_sentence(const std::string& text) {
  // Where it cuts does not depend on what it learned.
  static const std::string any[] = {"word"};
  static const std::shared_ptr<const Tokeniser> tokeniser = Tokeniser::learn({"words", 0, 1}, any);
  Sentence sentence;
  sentence.text = text;
  sentence.cut_here = true;
  size_t byte = 0;
  int64_t position = 0;  // in code points
  for (const Token& token : tokeniser->encode(text)) {
    position += count_code_points(std::string_view(text).substr(byte, token.begin - byte));
    sentence.words.push_back(text.substr(token.begin, token.end - token.begin));
    const int64_t length = count_code_points(sentence.words.back());
    sentence.spans.push_back({position, position + length});
    position += length;
    byte = token.end;
  }
  return sentence;
}

Example PieceEncoder::example(const Sentence& sentence) const {
  const bool by_word = tokeniser_->keeps_words() && !sentence.cut_here;
  Pieces pieces =
      by_word ? tokeniser_->encode_words(sentence.words) : tokeniser_->encode(sentence.text);
  if (by_word) move_spans(sentence, pieces, pieces.spans);
  const std::vector<int64_t> first = first_pieces_of_words(sentence, pieces, by_word);
  if (!by_word) number_words(first, pieces);
  PackedInputs packed = pack_texts(*tokeniser_, pieces, nullptr, packing_);
  require(packed.cut[0] == 0, ErrorKind::Internal, "a sentence to be tagged was cut");
  const std::vector<int64_t> places = word_places(first, packed.inputs);
  const PackedInput input = join_windows(std::move(packed.inputs));
  Example example = token_example(*tokeniser_, input, sentence.text);
  example.tensors["words"] = numbers(places);
  example.axes.push_back(word_axis(sentence));
  add_tags_and_truth(sentence, input.words, example);
  return example;
}

Batch PieceEncoder::collate(std::span<const Example> examples) const {
  Batch batch = collate_tokens(examples, tokeniser_->special().padding);
  add_words(examples, batch);
  return batch;
}

Example PieceEncoder::erase(const Example& example, std::span<const int64_t> units) const {
  return erase_tokens(example, *tokeniser_, units);
}

WordEncoder WordEncoder::learn(const Rows<Sentence>& sentences, int64_t minimum_count) {
  std::map<std::string, int64_t> words, letters;
  sentences.for_each([&](const Sentence& sentence) {
    for (const std::string& word : sentence.words) {
      if (word.empty()) continue;
      ++words[word];
      for (const std::string_view letter : code_points_of(word)) ++letters[std::string(letter)];
    }
  });
  WordEncoder encoder(Vocabulary::from_counts(words, minimum_count, 0),
                      Vocabulary::from_counts(letters, 1, 0));
  encoder.counts_.assign(size_t(encoder.words_.size()), 0);
  for (int64_t id = Vocabulary::kSpecial; id < encoder.words_.size(); ++id)
    encoder.counts_[size_t(id)] = words.at(encoder.words_.token(id));
  return encoder;
}

Json WordEncoder::to_json() const {
  Json json{{"words", words_.to_json()}, {"letters", letters_.to_json()}};
  if (!counts_.empty()) json["counts"] = counts_;
  if (text_words_) json["text_words"] = text_words_->to_json();
  return json;
}

WordEncoder WordEncoder::from_json(const Json& json, const std::string& where) {
  require(json.is_object() && json.contains("words") && json.contains("letters"),
          ErrorKind::BadData, where, ": expected {\"words\": […], \"letters\": […]}");
  WordEncoder encoder(Vocabulary::from_json(json["words"], where),
                      Vocabulary::from_json(json["letters"], where));
  const Field root = Field::root(json, where);
  if (const auto counts = root.find("counts")) {
    encoder.counts_ = counts->integers(0, std::numeric_limits<int64_t>::max());
    counts->expect(int64_t(encoder.counts_.size()) == encoder.words_.size(),
                   "a number for each word");
  }
  if (json.contains("text_words"))
    encoder.add_vectors(Vocabulary::from_json(json["text_words"], where));
  return encoder;
}

Example WordEncoder::example(const Sentence& sentence) const {
  Example example;
  std::vector<int64_t> ids, own;
  std::vector<std::vector<int64_t>> spelled;
  size_t longest = 1;
  for (const std::string& word : sentence.words) {
    own.push_back(int64_t(ids.size()));
    ids.push_back(words_.id(word));
    spelled.emplace_back();
    for (const std::string_view letter : code_points_of(word)) {
      if (int64_t(spelled.back().size()) == kMostLetters) break;
      spelled.back().push_back(letters_.id(letter));
    }
    longest = std::max(longest, spelled.back().size());
  }
  const Tensor letters = at::zeros({int64_t(ids.size()), int64_t(longest)}, at::kLong);  // [W, L]
  for (size_t word = 0; word < spelled.size(); ++word)
    std::copy(spelled[word].begin(), spelled[word].end(),
              letters.data_ptr<int64_t>() + word * longest);
  example.tensors["words"] = numbers(ids);
  example.tensors["letters"] = letters;
  if (text_words_) {
    std::vector<int64_t> rows;
    for (const std::string& word : sentence.words)
      rows.push_back(TextVectors::find(*text_words_, word));
    example.tensors["vectors"] = numbers(rows);
  }
  example.tensors["features"] =
      numbers(word_features(sentence.words)).view({int64_t(ids.size()), kWordFeatures});
  example.axes.push_back(word_axis(sentence));
  add_tags_and_truth(sentence, own, example);
  return example;
}

Batch WordEncoder::collate(std::span<const Example> examples) const {
  Batch batch;
  batch.size = static_cast<int64_t>(examples.size());
  add_words(examples, batch);
  int64_t longest = 1;
  for (const Example& example : examples)
    longest = std::max(longest, example.tensors.at("letters").size(1));
  const Tensor letters =
      at::zeros({batch.size, batch.at("words").size(1), longest}, at::kLong);  // [B, W, L]
  for (int64_t row = 0; row < batch.size; ++row) {
    const Tensor own = examples[size_t(row)].tensors.at("letters");
    letters[row].narrow(0, 0, own.size(0)).narrow(1, 0, own.size(1)).copy_(own);
  }
  batch.tensors["letters"] = letters;
  batch.tensors["features"] = pad_tensors(examples, "features");                 // [B, W, F]
  if (text_words_) batch.tensors["vectors"] = pad_tensors(examples, "vectors");  // [B, W]
  return batch;
}

Example WordEncoder::erase(const Example& example, std::span<const int64_t> units) const {
  Example erased = example;
  Tensor &words = erased.tensors.at("words"), &letters = erased.tensors.at("letters");
  check_units(units, words.size(0));
  Tensor& features = erased.tensors.at("features");
  words = words.clone();
  letters = letters.clone();
  features = features.clone();
  if (text_words_) erased.tensors["vectors"] = erased.tensors["vectors"].clone();
  for (const int64_t unit : units) {  // a word of as many letters, none of them known
    words.data_ptr<int64_t>()[unit] = Vocabulary::kUnknown;
    if (text_words_) erased.tensors["vectors"].data_ptr<int64_t>()[unit] = Vocabulary::kUnknown;
    const Tensor own = letters[unit];
    own.masked_fill_(own != Vocabulary::kPadding, Vocabulary::kUnknown);
    features[unit].zero_();
    if (unit + 1 < words.size(0))
      features[unit + 1].narrow(0, kOwnFeatures, kNeighbourFeatures).zero_();
    if (unit > 0)
      features[unit - 1].narrow(0, kOwnFeatures + kNeighbourFeatures, kNeighbourFeatures).zero_();
  }
  return erased;
}

SentenceDataset::SentenceDataset(Rows<Sentence> sentences,
                                 std::shared_ptr<const SentenceEncoder> encoder,
                                 const std::string& where)
    : encoder_(std::move(encoder)) {
  const auto encode = [&](const Sentence& sentence) { return encoder_->example(sentence).tensors; };
  encode_rows(std::move(sentences), where, "sentence", encode, [&](Sentence&& row, auto&& tensors) {
    has_truth_ |= !row.decisive.empty();
    sentences_.push_back(std::move(row));
    encoded_.emplace_back().tensors = std::move(tensors);
  });
}

int64_t SentenceDataset::length(int64_t row) const {
  return std::max<int64_t>(1, encoded_.at(size_t(row)).tensors.at(encoder_->axis()).size(0));
}

Example SentenceDataset::example(int64_t row) const {
  return encoder_->example(sentences_.at(size_t(row)));
}

Json SentenceDataset::input(int64_t row) const {
  const Sentence& sentence = sentences_.at(size_t(row));
  try {
    if (cut_sentence(sentence.text).words == sentence.words) return sentence.text;
  } catch (const Error&) {  // a build that cannot cut
  }
  return {{"words", sentence.words}};
}

Batch SentenceDataset::batch(std::span<const int64_t> rows) const {
  std::vector<Example> picked;
  for (const int64_t row : rows) picked.push_back(encoded_.at(size_t(row)));
  return encoder_->collate(picked);
}

}  // namespace fovea
