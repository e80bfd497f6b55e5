#include "fovea/data/questions/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/data/encode_rows.h"
#include "fovea/data/padding.h"

namespace fovea {

namespace {

using at::Tensor;

/// The first and last piece that the answer touches; {-1, -1}: there is none.
Span pieces_of_answer(const QuestionRow& row, const Pieces& text) {
  if (row.answers.empty()) return {-1, -1};
  const RightAnswer& answer = row.answers.front();
  const int64_t begin = answer.start, end = begin + count_code_points(answer.text);
  Span found{-1, -1};
  for (int64_t i = 0; i < text.size(); ++i) {
    const Span& span = text.spans[size_t(i)];
    if (span.end <= begin || span.begin >= end) continue;
    if (found.begin < 0) found.begin = i;
    found.end = i;
  }
  return found;
}

/// Where the answer stands in one window; {0, 0} where it is not whole in it.
Span place_in_window(const PackedInput& window, const Span& answer) {
  const auto first = std::find(window.texts.begin(), window.texts.end(), 1);
  const int64_t begin_of_text = first - window.texts.begin();
  const int64_t pieces = std::count(window.texts.begin(), window.texts.end(), 1);
  const int64_t begin = answer.begin - window.first_piece[1],
                end = answer.end - window.first_piece[1];
  if (answer.begin < 0 || begin < 0 || end >= pieces) return {0, 0};
  return {begin_of_text + begin, begin_of_text + end};
}

}  // namespace

Example QuestionEncoder::example(const QuestionRow& row) const {
  PackingOptions options = packing;
  const int64_t room = options.longest - tokeniser->input_template(/*pair=*/true).special();
  require(room >= 4, ErrorKind::InvalidArgument, "windows of ", options.longest,
          " positions have no room for a question and a text; set a larger data.longest");
  const Pieces whole = tokeniser->encode(row.question), text = tokeniser->encode(row.text);
  // At most half of a window, so that the text is what slides.
  const Pieces question = first_pieces(whole, std::min(longest_question, room / 2));
  options.overlap = std::min(options.overlap, (room - question.size()) / 2);
  std::vector<PackedInput> windows = pack_texts(*tokeniser, question, &text, options).inputs;
  const Span answer = pieces_of_answer(row, text);

  std::vector<int64_t> pieces, spans, starts, ends;
  for (const PackedInput& window : windows) {
    int64_t piece = window.first_piece[1];
    for (size_t i = 0; i < window.ids.size(); ++i) {
      const bool of_text = window.texts[i] == 1;
      pieces.push_back(of_text ? piece++ : i == 0 && window.texts[i] < 0 ? kNoAnswer : kOutside);
      spans.push_back(of_text ? window.spans[i].begin : 0);
      spans.push_back(of_text ? window.spans[i].end : 0);
    }
    const Span place = place_in_window(window, answer);
    starts.push_back(place.begin);
    ends.push_back(place.end);
  }
  Example example =
      token_example(*tokeniser, join_windows(std::move(windows)), row.question, row.text);
  example.tensors["pieces"] = at::tensor(pieces, at::kLong);              // [N]
  example.tensors["spans"] = at::tensor(spans, at::kLong).view({-1, 2});  // [N, 2]
  example.tensors["starts"] = at::tensor(starts, at::kLong);              // [W]
  example.tensors["ends"] = at::tensor(ends, at::kLong);                  // [W]
  example.add_cut("tokens of the question", question.size(), whole.size() - question.size());
  return example;
}

Batch QuestionEncoder::collate(std::span<const Example> examples) const {
  Batch batch = collate_tokens(examples, tokeniser->special().padding);
  batch.tensors["pieces"] = pad_tensors(examples, "pieces", kOutside);
  batch.tensors["spans"] = pad_tensors(examples, "spans");
  batch.tensors["starts"] = pad_tensors(examples, "starts", -1);
  batch.tensors["ends"] = pad_tensors(examples, "ends", -1);
  return batch;
}

QuestionDataset::QuestionDataset(Rows<QuestionRow> rows, QuestionEncoder encoder,
                                 const std::string& where)
    : encoder_(std::move(encoder)) {
  const auto encode = [&](const QuestionRow& row) { return encoder_.example(row).tensors; };
  encode_rows(std::move(rows), where, "question", encode, [&](QuestionRow&& row, auto&& tensors) {
    const Tensor& starts = tensors.at("starts");
    windowed_ += starts.size(0) > 1;
    impossible_ += row.answers.empty();
    lost_ += !row.answers.empty() && !(starts > 0).any().template item<bool>();
    rows_.push_back(std::move(row));
    encoded_.emplace_back().tensors = std::move(tensors);
  });
}

Batch QuestionDataset::batch(std::span<const int64_t> rows) const {
  std::vector<Example> picked;
  for (const int64_t row : rows) picked.push_back(encoded_.at(size_t(row)));
  return encoder_.collate(picked);
}

Json QuestionDataset::input(int64_t row) const {
  const QuestionRow& own = rows_.at(size_t(row));
  return {{"question", own.question}, {"text", own.text}};
}

std::vector<std::string> QuestionDataset::references(int64_t row) const {
  std::vector<std::string> texts;
  for (const RightAnswer& answer : rows_.at(size_t(row)).answers) texts.push_back(answer.text);
  return texts;
}

}  // namespace fovea
