#include "fovea/data/documents/sentences.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/data/encode_rows.h"
#include "fovea/data/erase.h"
#include "fovea/data/padding.h"
#include "fovea/data/tags/encoder.h"
#include "fovea/data/tokenisers/sentences.h"
#include "fovea/data/tokenisers/word_form.h"
#include "fovea/data/tokenisers/word_vectors.h"

namespace fovea {

namespace {

using at::Tensor;

/// Bytes of a paragraph mark at the front of `text`, or 0.
size_t mark_length(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kMarks = {"<p>", "</p>", "<br>", "<br/>",
                                                             "<br />"};
  const auto same = [](char a, char b) {
    return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b + 32) : b);
  };
  for (const std::string_view mark : kMarks)
    if (text.size() >= mark.size() && std::equal(mark.begin(), mark.end(), text.begin(), same))
      return mark.size();
  return 0;
}

std::vector<std::string_view> paragraphs_of(std::string_view text) {
  std::vector<std::string_view> paragraphs;
  size_t begin = 0;
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
    const size_t mark = mark_length(text.substr(at));
    if (mark > 0) paragraphs.push_back(text.substr(begin, at - begin)), begin = at + mark;
    at += std::max<size_t>(mark, 1);
  }
  paragraphs.push_back(text.substr(begin));
  return paragraphs;
}

/// One more sentence, in as many parts as it needs, as far as there is room.
void add_sentence(const Sentence& sentence, int64_t position,
                  const HierarchicalDataOptions& options, CutDocument& document) {
  const auto size = static_cast<int64_t>(sentence.words.size());
  document.split_sentences += size > options.maximum_words;
  for (int64_t begin = 0; begin < size; begin += options.maximum_words) {
    const int64_t end = std::min(size, begin + options.maximum_words);
    if (document.sentences() == options.maximum_sentences) {
      document.cut += size - begin;
      return;
    }
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      document.words.push_back(sentence.words[i]);
      document.spans.push_back(
          {sentence.spans[i].begin + position, sentence.spans[i].end + position});
    }
    document.offsets.push_back(int64_t(document.words.size()));
  }
}

bool overlap(const Span& one, const Span& other) {
  return one.begin < other.end && other.begin < one.end;
}

void add_truth(const CutDocument& cut, const std::vector<Span>& decisive, Example& example) {
  const auto words = static_cast<int64_t>(cut.words.size());
  const Tensor of_words = at::zeros({cut.sentences(), words}, at::kBool);
  for (int64_t sentence = 0; sentence < cut.sentences(); ++sentence)
    for (int64_t word = cut.offsets[size_t(sentence)]; word < cut.offsets[size_t(sentence) + 1];
         ++word)
      of_words.data_ptr<bool>()[sentence * words + word] =
          std::any_of(decisive.begin(), decisive.end(),
                      [&](const Span& span) { return overlap(span, cut.spans[size_t(word)]); });
  example.truth["words"] = of_words;                          // [S, W]
  example.truth["sentences"] = of_words.any(1).unsqueeze(0);  // [1, S]
}

/// `document` with its sentences and words, each with its place in the text.
std::vector<Axis> axes_of(const CutDocument& cut, const std::string& text) {
  Axis document{"document", "document", {"document"}};
  Axis sentences{"sentences", "sentence", {}};
  Axis words{"words", "word", cut.words};
  for (int64_t i = 0; i < cut.sentences(); ++i) {
    sentences.labels.push_back(concat("sentence ", i + 1));
    sentences.spans.push_back({cut.spans[size_t(cut.offsets[size_t(i)])].begin,
                               cut.spans[size_t(cut.offsets[size_t(i) + 1]) - 1].end});
  }
  sentences.parent = document.name;
  sentences.offsets = {0, cut.sentences()};
  sentences.text = words.text = text;
  words.parent = sentences.name;
  words.offsets = cut.offsets;
  words.spans = cut.spans;
  return {document, sentences, words};
}

}  // namespace

void HierarchicalDataOptions::describe(OptionList& list) {
  list.add("lowercase", lowercase, "words in lower case are the same");
  list.add("minimum_count", minimum_count, "words that training saw less often are unknown")
      .at_least(1);
  list.add("vocabulary_size", vocabulary_size, "most words, the most frequent; 0: no limit")
      .at_least(0);
  list.add("vectors", vectors, kVectorsHelp);
  list.add("maximum_sentences", maximum_sentences, "sentences of a text beyond these are cut off")
      .at_least(1);
  list.add("maximum_words", maximum_words, "a sentence of more words is read as several")
      .at_least(1);
}

CutDocument cut_document(const std::string& text, const HierarchicalDataOptions& options) {
  CutDocument document;
  size_t byte = 0;
  int64_t position = 0;  // of `byte`, in code points
  for (const std::string_view paragraph : paragraphs_of(text))
    for (const std::string_view sentence : cut_sentences(paragraph)) {
      const auto begin = static_cast<size_t>(sentence.data() - text.data());
      position += count_code_points(std::string_view(text).substr(byte, begin - byte));
      byte = begin;
      add_sentence(cut_sentence(std::string(sentence)), position, options, document);
    }
  return document;
}

Vocabulary learn_words(const Rows<std::string>& texts, const HierarchicalDataOptions& options) {
  const UnitCounts all = count_units(texts, [&](const std::string& text, UnitCounts& counts) {
    for (const std::string& word : cut_document(text, options).words)
      ++counts[word_form(word, options.lowercase)];
  });
  const Vocabulary vocabulary = Vocabulary::from_counts(
      {all.begin(), all.end()}, options.minimum_count,
      options.vocabulary_size == 0 ? 0 : options.vocabulary_size + Vocabulary::kSpecial);
  require(vocabulary.size() > Vocabulary::kSpecial, ErrorKind::BadData, "no word is seen ",
          options.minimum_count,
          " times in the training texts, so all would be unknown; set data.minimum_count lower");
  return vocabulary;
}

int64_t HierarchicalEncoder::number_of(const std::string& word) const {
  return vocabulary->id(word_form(word, options.lowercase));
}

Example HierarchicalEncoder::example(const LabelledDocument& document) const {
  const CutDocument cut = cut_document(document.text, options);
  std::vector<int64_t> words, sentences;
  for (const std::string& word : cut.words) words.push_back(number_of(word));
  for (size_t i = 0; i + 1 < cut.offsets.size(); ++i)
    sentences.push_back(cut.offsets[i + 1] - cut.offsets[i]);
  Example example;
  example.tensors["words"] = at::tensor(words, at::kLong);          // [W]
  example.tensors["sentences"] = at::tensor(sentences, at::kLong);  // [S]
  example.axes = axes_of(cut, document.text);
  example.add_cut("words", int64_t(cut.words.size()), cut.cut);
  if (!document.decisive.empty()) add_truth(cut, document.decisive, example);
  return example;
}

Batch collate_documents(std::span<const Example> examples) {
  Batch batch;
  batch.size = static_cast<int64_t>(examples.size());
  for (const char* name : {"words", "sentences"}) {
    batch.tensors[name] = pad_tensors(examples, name);
    batch.tensors[concat(name, ".keep")] = keep_tensors(examples, name);
  }
  return batch;
}

Example erase_words(const Example& example, const std::string& axis,
                    std::span<const int64_t> units) {
  return erase_nested(example, "words", "sentences", axis, units);
}

HierarchicalDataset::HierarchicalDataset(Rows<LabelledDocument> documents,
                                         HierarchicalEncoder encoder, const std::string& where)
    : encoder_(std::move(encoder)) {
  struct Encoded {
    Row row;
    int64_t cut = 0, split_sentences = 0;
  };
  const auto encode = [&](const LabelledDocument& document) {
    const CutDocument own = cut_document(document.text, encoder_.options);
    Encoded encoded{{}, own.cut, own.split_sentences};
    for (const std::string& word : own.words)
      encoded.row.words.push_back(int32_t(encoder_.number_of(word)));
    for (size_t i = 0; i + 1 < own.offsets.size(); ++i)
      encoded.row.sentences.push_back(int32_t(own.offsets[i + 1] - own.offsets[i]));
    return encoded;
  };
  int64_t words = 0, unknown = 0;
  encode_rows(std::move(documents), where, "text", encode,
              [&](LabelledDocument&& document, Encoded&& encoded) {
                const std::vector<int32_t>& own = encoded.row.words;
                cut_documents_ += encoded.cut > 0;
                cut_words_ += encoded.cut;
                split_sentences_ += encoded.split_sentences;
                empty_documents_ += own.empty();
                words += int64_t(own.size());
                unknown += std::count(own.begin(), own.end(), int32_t{Vocabulary::kUnknown});
                rows_.push_back(std::move(encoded.row));
                add(std::move(document));
              });
  if (words > 0) unknown_share_ = double(unknown) / double(words);
}

int64_t HierarchicalDataset::length(int64_t row) const {
  return std::max<int64_t>(1, int64_t(rows_.at(size_t(row)).words.size()));
}

Batch HierarchicalDataset::batch(std::span<const int64_t> rows) const {
  Batch batch;
  batch.size = static_cast<int64_t>(rows.size());
  const auto add = [&](const char* name, std::vector<int32_t> Row::*numbers) {
    const auto own = [&](int64_t row) -> const std::vector<int32_t>& {
      return rows_.at(size_t(rows[size_t(row)])).*numbers;
    };
    batch.tensors[name] = pad_rows<int64_t>(batch.size, own);
    batch.tensors[concat(name, ".keep")] = keep_rows(batch.size, own);
  };
  add("words", &Row::words);
  add("sentences", &Row::sentences);
  batch.tensors["target"] = targets(rows);  // [B]
  return batch;
}

}  // namespace fovea
