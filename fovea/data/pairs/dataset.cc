#include "fovea/data/pairs/dataset.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/speech/spoken_word.h"

namespace fovea {

namespace {

constexpr const char* kWhiteSpaceLabel = "\u2581";

struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// What belongs to `row` by an array of offsets.
Range range_of(const NamedTensors& arrays, const char* offsets, int64_t row) {
  const int64_t* at = arrays.at(offsets).data_ptr<int64_t>() + row;
  return {at[0], at[1]};
}

std::string_view text_of(const NamedTensors& arrays, const char* text, Range bytes) {
  return {reinterpret_cast<const char*>(arrays.at(text).data_ptr<uint8_t>()) + bytes.begin,
          static_cast<size_t>(bytes.size())};
}

/// What stands in the text; white space alone would be an invisible label.
std::string label_of(std::string_view text, size_t begin, size_t end) {
  const std::string_view written = trim(text.substr(begin, end - begin));
  return written.empty() ? kWhiteSpaceLabel : std::string(written);
}

/// Bytes of a text as places of code points.
class CodePoints {
 public:
  explicit CodePoints(std::string_view text) {
    for (const char byte : text) {
      at_byte_.push_back(count_);
      count_ += (byte & 0xc0) != 0x80;  // the first byte of each
    }
    at_byte_.push_back(count_);
    // A byte inside a code point belongs to it.
    for (size_t i = 0; i < text.size(); ++i)
      if ((text[i] & 0xc0) == 0x80) --at_byte_[i];
  }
  Span span(size_t begin, size_t end) const { return {at_byte_[begin], at_byte_[end]}; }

 private:
  std::vector<int64_t> at_byte_;
  int64_t count_ = 0;
};

/// The axis of a source text's tokens.
class SourceAxis {
 public:
  SourceAxis(const Tokeniser& tokeniser, const std::string& text)
      : tokeniser_(tokeniser), text_(text), places_(text) {
    axis_.text = text;
  }
  void add(int64_t id, size_t begin, size_t end) {
    if (begin == end && tokeniser_.stands_around(id)) {
      axis_.special.push_back(int64_t(axis_.labels.size()));
      axis_.labels.push_back(tokeniser_.vocabulary().token(id));
      axis_.spans.push_back({-1, -1});
      return;
    }
    axis_.labels.push_back(label_of(text_, begin, end));
    axis_.spans.push_back(places_.span(begin, end));
  }
  Axis take() { return std::move(axis_); }

 private:
  const Tokeniser& tokeniser_;
  const std::string& text_;
  CodePoints places_;
  Axis axis_{"source", "token", {}};
};

/// Rows of different lengths side by side, padded with 0.
struct PaddedRows {
  at::Tensor ids, keep;  // [B, width]
  int64_t width;

  PaddedRows(int64_t rows, int64_t width)
      : ids(at::zeros({rows, width}, at::kLong)),
        keep(at::zeros({rows, width}, at::kBool)),
        width(width) {}

  template <class Id>
  void set(int64_t row, const Id* from, int64_t count) {
    std::copy(from, from + count, ids.data_ptr<int64_t>() + row * width);
    std::fill_n(keep.data_ptr<bool>() + row * width, count, true);
  }
  void append(int64_t row, int64_t at, int64_t id) {
    ids.data_ptr<int64_t>()[row * width + at] = id;
    keep.data_ptr<bool>()[row * width + at] = true;
  }
};

/// Marks in `hit` the tokens that share a byte with [begin, end).
void mark_tokens(std::vector<bool>& hit, const int32_t* spans, int64_t begin, int64_t end) {
  for (size_t i = 0; i < hit.size(); ++i)
    hit[i] = std::max<int64_t>(spans[2 * i], begin) < std::min<int64_t>(spans[2 * i + 1], end);
}

/// The word, of those at `words`, in which each token lies: int64 [count], -1 for none.
at::Tensor words_of_tokens(const std::vector<Span>& words, const int32_t* spans, int64_t count) {
  at::Tensor word_of = at::full({count}, -1, at::kLong);
  int64_t* place = word_of.data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i)
    for (size_t word = 0; word < words.size() && place[i] < 0; ++word)
      if (std::max<int64_t>(spans[2 * i], words[word].begin) <
          std::min<int64_t>(spans[2 * i + 1], words[word].end))
        place[i] = int64_t(word);
  return word_of;
}

void check_row(int64_t row, int64_t size) {
  require(row >= 0 && row < size, ErrorKind::InvalidArgument, "row ", row,
          " does not exist; the data set has ", size, " rows");
}

}  // namespace

PairDataset::PairDataset(NamedTensors arrays, std::shared_ptr<const Tokeniser> source,
                         std::shared_ptr<const Tokeniser> target)
    : arrays_(std::move(arrays)), source_(std::move(source)), target_(std::move(target)) {
  check_pair_arrays(arrays_, source_->vocabulary().size(), target_->vocabulary().size());
}

int64_t PairDataset::size() const {
  return arrays_.at("source.offsets").size(0) - 1;
}

Example PairDataset::example(int64_t row) const {
  check_row(row, size());
  const Range tokens = range_of(arrays_, "source.offsets", row);
  const int32_t* ids = arrays_.at("source.ids").data_ptr<int32_t>() + tokens.begin;
  const int32_t* spans = arrays_.at("source.spans").data_ptr<int32_t>() + 2 * tokens.begin;
  const std::string text = source_text(row);
  Example example;
  at::Tensor source = at::empty({tokens.size()}, at::kLong);  // [S]
  std::copy(ids, ids + tokens.size(), source.data_ptr<int64_t>());
  example.tensors["source"] = source;
  SourceAxis axis(*source_, text);
  for (int64_t i = 0; i < tokens.size(); ++i)
    axis.add(ids[i], size_t(spans[2 * i]), size_t(spans[2 * i + 1]));
  example.axes.push_back(axis.take());
  example.truth = planted_truth(row);
  return example;
}

NamedTensors PairDataset::planted_truth(int64_t row) const {
  check_row(row, size());
  const bool linked = has_truth() && range_of(arrays_, "links.offsets", row).size() > 0;
  if (!linked) return {};
  NamedTensors known{{"attention", truth(row)}};
  add_alignment(row, known);
  return known;
}

void PairDataset::add_alignment(int64_t row, NamedTensors& known) const {
  const auto from = word_spans(source_text(row)), to = word_spans(references(row).at(0));
  const auto spans_of = [&](const std::string& side) {
    return arrays_.at(side + ".spans").data_ptr<int32_t>() +
           2 * range_of(arrays_, (side + ".offsets").c_str(), row).begin;
  };
  known["alignment.source"] = words_of_tokens(from, spans_of("source"), input_length(row));
  known["alignment.target"] = words_of_tokens(to, spans_of("target"), target_length(row) - 1);
  const std::vector<int64_t> shape{int64_t(to.size()), int64_t(from.size())};
  const at::Tensor sure = at::zeros(shape, at::kBool), possible = at::zeros(shape, at::kBool);
  const auto marks = arrays_.find("links.possible");
  const Range range = range_of(arrays_, "links.offsets", row);
  const int64_t* link = arrays_.at("links").data_ptr<int64_t>() + 4 * range.begin;
  const auto shares = [](const Span& word, const int64_t* span) {
    return std::max(word.begin, span[0]) < std::min(word.end, span[1]);
  };
  for (int64_t i = 0; i < range.size(); ++i, link += 4) {
    const bool only_possible =
        marks != arrays_.end() && marks->second.data_ptr<uint8_t>()[range.begin + i] != 0;
    bool* place = (only_possible ? possible : sure).data_ptr<bool>();
    for (size_t t = 0; t < to.size(); ++t)
      for (size_t s = 0; s < from.size(); ++s)
        if (shares(to[t], link) && shares(from[s], link + 2)) place[t * from.size() + s] = true;
  }
  known["alignment.sure"] = sure;
  known["alignment.possible"] = possible.logical_or(sure);
}

Batch PairDataset::batch(std::span<const int64_t> rows) const {
  int64_t source_width = 1, target_width = 1;
  for (const int64_t row : rows) {
    source_width = std::max(source_width, input_length(row));
    target_width = std::max(target_width, target_length(row));
  }
  const auto B = static_cast<int64_t>(rows.size());
  PaddedRows source(B, source_width), target(B, target_width);
  const int32_t* source_ids = arrays_.at("source.ids").data_ptr<int32_t>();
  const int32_t* target_ids = arrays_.at("target.ids").data_ptr<int32_t>();
  for (int64_t i = 0; i < B; ++i) {
    const Range from = range_of(arrays_, "source.offsets", rows[size_t(i)]);
    const Range to = range_of(arrays_, "target.offsets", rows[size_t(i)]);
    source.set(i, source_ids + from.begin, from.size());
    target.set(i, target_ids + to.begin, to.size());
    target.append(i, to.size(), target_->vocabulary().special().end);
  }
  return {{{"source", source.ids},
           {"source.keep", source.keep},
           {"target", target.ids},
           {"target.keep", target.keep}},
          B};
}

int64_t PairDataset::input_length(int64_t row) const {
  check_row(row, size());
  return range_of(arrays_, "source.offsets", row).size();
}

int64_t PairDataset::target_length(int64_t row) const {
  check_row(row, size());
  return range_of(arrays_, "target.offsets", row).size() + 1;
}

std::string PairDataset::source_text(int64_t row) const {
  check_row(row, size());
  return std::string(
      text_of(arrays_, "source.text", range_of(arrays_, "source.text_offsets", row)));
}

std::vector<std::string> PairDataset::references(int64_t row) const {
  check_row(row, size());
  const Range range = range_of(arrays_, "references.offsets", row);
  std::vector<std::string> texts;
  for (int64_t i = range.begin; i < range.end; ++i)
    texts.emplace_back(
        text_of(arrays_, "references.text", range_of(arrays_, "references.text_offsets", i)));
  return texts;
}

std::vector<int64_t> PairDataset::target_ids(int64_t row) const {
  check_row(row, size());
  const Range range = range_of(arrays_, "target.offsets", row);
  const int32_t* ids = arrays_.at("target.ids").data_ptr<int32_t>();
  std::vector<int64_t> list(ids + range.begin, ids + range.end);
  list.push_back(target_->vocabulary().special().end);
  return list;
}

at::Tensor PairDataset::truth(int64_t row) const {
  const int64_t T = target_length(row), S = input_length(row);
  at::Tensor truth = at::zeros({T, S}, at::kBool);  // [T+1, S]
  if (!has_truth()) return truth;
  const int32_t* source_spans = arrays_.at("source.spans").data_ptr<int32_t>() +
                                2 * range_of(arrays_, "source.offsets", row).begin;
  const int32_t* target_spans = arrays_.at("target.spans").data_ptr<int32_t>() +
                                2 * range_of(arrays_, "target.offsets", row).begin;
  const Range links = range_of(arrays_, "links.offsets", row);
  const int64_t* link = arrays_.at("links").data_ptr<int64_t>() + 4 * links.begin;
  std::vector<bool> from(static_cast<size_t>(S)), to(static_cast<size_t>(T - 1));
  for (int64_t i = 0; i < links.size(); ++i, link += 4) {
    mark_tokens(to, target_spans, link[0], link[1]);
    mark_tokens(from, source_spans, link[2], link[3]);
    for (size_t t = 0; t < to.size(); ++t)
      for (size_t s = 0; s < from.size(); ++s)
        if (to[t] && from[s]) truth.data_ptr<bool>()[int64_t(t) * S + int64_t(s)] = true;
  }
  return truth;
}

Batch collate_sources(std::span<const Example> examples) {
  int64_t width = 1;
  for (const Example& example : examples) {
    const auto found = example.tensors.find("source");
    require(found != example.tensors.end() && found->second.dim() == 1 &&
                found->second.scalar_type() == at::kLong,
            ErrorKind::InvalidArgument, "an example has no list of symbols called 'source'");
    width = std::max(width, found->second.size(0));
  }
  const auto B = static_cast<int64_t>(examples.size());
  PaddedRows source(B, width);
  for (int64_t i = 0; i < B; ++i) {
    const at::Tensor ids = examples[size_t(i)].tensors.at("source").contiguous();
    source.set(i, ids.data_ptr<int64_t>(), ids.size(0));
  }
  return {{{"source", source.ids}, {"source.keep", source.keep}}, B};
}

Example encode_source(const Tokeniser& tokeniser, const std::string& text) {
  const std::vector<Token> tokens = tokeniser.encode_input(text);
  at::Tensor source = at::empty({int64_t(tokens.size())}, at::kLong);  // [S]
  SourceAxis axis(tokeniser, text);
  for (size_t i = 0; i < tokens.size(); ++i) {
    source.data_ptr<int64_t>()[i] = tokens[i].id;
    axis.add(tokens[i].id, tokens[i].begin, tokens[i].end);
  }
  Example example;
  example.tensors["source"] = source;
  example.axes.push_back(axis.take());
  return example;
}

}  // namespace fovea
