#include "fovea/data/choices/encoder.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/data/encode_rows.h"
#include "fovea/data/padding.h"

namespace fovea {

namespace {

using at::Tensor;

/// What stands in front of [SEP], and behind it: of all choices, in code points.
struct PairTexts {
  std::string first;                // the context, or the question
  std::string start;                // of every second text: the question, or nothing
  std::vector<std::string> second;  // the start and the choice
  int64_t choice_begin = 0;         // in the second texts
};

PairTexts texts_of(const ChoiceRow& row) {
  PairTexts texts;
  const bool has_context = !row.context.empty();
  texts.first = has_context ? row.context : row.question;
  texts.start = has_context ? row.question : "";
  const std::string before = texts.start.empty() ? "" : texts.start + " ";
  for (const std::string& choice : row.choices) texts.second.push_back(before + choice);
  texts.choice_begin = count_code_points(before);
  return texts;
}

struct PackedChoices {
  std::vector<PackedInput> inputs;
  int64_t shared = 0;         // tokens that all of them begin with
  int64_t read = 0, cut = 0;  // the shared text once
};

/// How many tokens all inputs begin with, up to where the first choice begins.
int64_t count_shared(const std::vector<PackedInput>& inputs, int64_t choice_begin) {
  for (int64_t i = 0;; ++i) {
    for (const PackedInput& input : inputs) {
      if (i + 1 >= input.size()) return i;  // what ends an input is its own
      const auto at = size_t(i);
      const bool same =
          input.ids[at] == inputs[0].ids[at] && input.segments[at] == inputs[0].segments[at];
      if (!same || (input.texts[at] == 1 && input.spans[at].end > choice_begin)) return i;
    }
  }
}

PackedChoices pack(const PieceTokeniser& tokeniser, const PackingOptions& packing,
                   const PairTexts& texts) {
  const int64_t room = packing.longest - tokeniser.input_template(/*pair=*/true).special();
  require(room >= 4, ErrorKind::InvalidArgument, "inputs of ", packing.longest,
          " positions have no room for a question and a choice; set a larger data.longest");
  const Pieces first = tokeniser.encode(texts.first);
  std::vector<Pieces> second;
  int64_t longest = 0;
  for (const std::string& text : texts.second) {
    second.push_back(tokeniser.encode(text));
    longest = std::max(longest, second.back().size());
  }
  // All inputs have the same tokens of the first text, so that none is judged by less of it.
  const int64_t most_second = std::max(room - first.size(), room / 2),
                most_first = std::max(room - longest, room - room / 2);
  require(first.size() + longest <= room || packing.too_long != "refuse", ErrorKind::BadData,
          "the question and its longest choice have ", format_count(first.size() + longest),
          " pieces, more than the ", room, " that ", packing.longest,
          " positions hold; shorten them, or set data.too_long=cut");
  PackedChoices packed;
  const Pieces kept = first_pieces(first, most_first);
  packed.read = kept.size();
  packed.cut = first.size() - kept.size();
  for (const Pieces& own : second) {
    const Pieces kept_choice = first_pieces(own, most_second);
    packed.read += kept_choice.size();
    packed.cut += own.size() - kept_choice.size();
    packed.inputs.push_back(
        pack_texts(tokeniser, kept, &kept_choice, {packing.longest}).inputs.at(0));
  }
  packed.shared = count_shared(packed.inputs, texts.choice_begin);
  return packed;
}

/// One token of the axis: its input's number and its place there.
struct Unit {
  const PackedInput* input;
  size_t place;
  int64_t choice;  // its number from 1 on; 0: shared
};

std::vector<Unit> units_of(const PackedChoices& packed) {
  std::vector<Unit> units;
  for (int64_t i = 0; i < packed.shared; ++i) units.push_back({&packed.inputs[0], size_t(i), 0});
  for (size_t c = 0; c < packed.inputs.size(); ++c)
    for (int64_t i = packed.shared; i < packed.inputs[c].size(); ++i)
      units.push_back({&packed.inputs[c], size_t(i), int64_t(c) + 1});
  return units;
}

/// Where the texts of the axis's text begin: the first text, the start of the second ones, and each
/// choice, with line ends between them.
struct AxisText {
  std::string text;
  int64_t start = 0;
  std::vector<int64_t> choices;
  int64_t choice_begin = 0;

  AxisText(const ChoiceRow& row, const PairTexts& texts)
      : text(texts.first), choice_begin(texts.choice_begin) {
    int64_t end = count_code_points(text);
    const auto add = [&](const std::string& more) {
      text += "\n" + more;
      const int64_t begin = end + 1;
      end = begin + count_code_points(more);
      return begin;
    };
    if (!texts.start.empty()) start = add(texts.start);
    for (const std::string& choice : row.choices) choices.push_back(add(choice));
  }
  /// Of a unit.
  Span place(const Unit& unit) const {
    const Span span = unit.input->spans[unit.place];
    const int64_t text = unit.input->texts[unit.place];
    if (text < 0) return {};
    if (text == 0) return span;
    if (span.end <= choice_begin) return {span.begin + start, span.end + start};
    const int64_t begin = choices[size_t(std::max<int64_t>(unit.choice, 1) - 1)];
    return {std::max<int64_t>(span.begin - choice_begin, 0) + begin,
            span.end - choice_begin + begin};
  }
};

bool touches(const Span& span, const std::vector<Span>& others, int64_t shift) {
  return std::any_of(others.begin(), others.end(), [&](const Span& other) {
    return span.begin < other.end + shift && other.begin + shift < span.end;
  });
}

/// bool [N, N]: which units [CLS], the first one, should look at.
Tensor truth_of(const ChoiceRow& row, const std::vector<Unit>& units, int64_t choice_begin) {
  const auto count = int64_t(units.size());
  const Tensor truth = at::zeros({count, count}, at::kBool);
  for (int64_t i = 0; i < count; ++i) {
    const Unit& unit = units[size_t(i)];
    const Span& span = unit.input->spans[unit.place];
    const int64_t text = unit.input->texts[unit.place];
    truth.data_ptr<bool>()[i] = (text == 0 && touches(span, row.decisive_context, 0)) ||
                                (text == 1 && unit.choice == row.answer + 1 &&
                                 touches(span, row.decisive_choice, choice_begin));
  }
  return truth;
}

/// The inputs of a row as places among its units.
std::vector<std::vector<int64_t>> to_frames(const Tensor& choice) {
  const int64_t* of_token = choice.data_ptr<int64_t>();
  const int64_t count = choice.numel();
  const int64_t shared = std::count(of_token, of_token + count, 0);
  std::vector<int64_t> start;
  for (int64_t i = 0; i < shared; ++i) start.push_back(i);
  std::vector<std::vector<int64_t>> frames(size_t(count > 0 ? of_token[count - 1] : 0), start);
  for (int64_t i = shared; i < count; ++i) frames.at(size_t(of_token[i] - 1)).push_back(i);
  return frames;
}

}  // namespace

Example ChoiceEncoder::example(const ChoiceRow& row) const {
  const PairTexts texts = texts_of(row);
  const PackedChoices packed = pack(*tokeniser, packing, texts);
  const std::vector<Unit> units = units_of(packed);
  const AxisText place(row, texts);
  std::vector<int64_t> tokens, segments, choice;
  Axis axis{"tokens", "token", {}};
  axis.text = place.text;
  for (const Unit& unit : units) {
    tokens.push_back(unit.input->ids[unit.place]);
    segments.push_back(unit.input->segments[unit.place]);
    choice.push_back(unit.choice);
    if (unit.input->texts[unit.place] < 0) axis.special.push_back(int64_t(axis.labels.size()));
    axis.labels.push_back(tokeniser->piece(tokens.back()));
    axis.spans.push_back(place.place(unit));
  }
  Example example;
  example.tensors["tokens"] = at::tensor(tokens, at::kLong);      // [N]
  example.tensors["segments"] = at::tensor(segments, at::kLong);  // [N]
  example.tensors["choice"] = at::tensor(choice, at::kLong);      // [N]
  example.axes.push_back(std::move(axis));
  example.axes.push_back({"choices", "choice", row.choices});
  example.add_cut("tokens", packed.read, packed.cut);
  if (row.answer >= 0 && !(row.decisive_context.empty() && row.decisive_choice.empty()))
    example.truth["attention"] = truth_of(row, units, texts.choice_begin);
  return example;
}

Batch ChoiceEncoder::collate(std::span<const Example> examples) const {
  Batch batch = collate_tokens(examples, tokeniser->special().padding);
  std::vector<std::vector<std::vector<int64_t>>> rows;
  size_t choices = 1, longest = 1;
  for (const Example& example : examples) {
    rows.push_back(to_frames(example.tensors.at("choice")));
    choices = std::max(choices, rows.back().size());
    for (const auto& frame : rows.back()) longest = std::max(longest, frame.size());
  }
  const Tensor frames =
      at::full({int64_t(rows.size()), int64_t(choices), int64_t(longest)}, -1, at::kLong);
  for (size_t row = 0; row < rows.size(); ++row)
    for (size_t c = 0; c < rows[row].size(); ++c)
      std::copy(rows[row][c].begin(), rows[row][c].end(),
                frames.data_ptr<int64_t>() + (row * choices + c) * longest);
  batch.tensors["frames"] = frames;  // [B, C, T]
  return batch;
}

ChoiceDataset::ChoiceDataset(Rows<ChoiceRow> rows, ChoiceEncoder encoder, const std::string& where)
    : encoder_(std::move(encoder)) {
  struct Encoded {
    NamedTensors tensors;
    bool is_cut;
  };
  const auto encode = [&](const ChoiceRow& row) {
    Example example = encoder_.example(row);
    return Encoded{std::move(example.tensors), !example.cuts.empty()};
  };
  encode_rows(std::move(rows), where, "question", encode, [&](ChoiceRow&& row, Encoded&& encoded) {
    int64_t length = 0;
    for (const auto& frame : to_frames(encoded.tensors.at("choice")))
      length += int64_t(frame.size());
    lengths_.push_back(length);
    cut_ += encoded.is_cut;
    has_truth_ = has_truth_ || !row.decisive_context.empty() || !row.decisive_choice.empty();
    rows_.push_back(std::move(row));
    encoded_.emplace_back().tensors = std::move(encoded.tensors);
  });
}

Batch ChoiceDataset::batch(std::span<const int64_t> rows) const {
  std::vector<Example> picked;
  std::vector<int64_t> answers;
  for (const int64_t row : rows) {
    picked.push_back(encoded_.at(size_t(row)));
    answers.push_back(rows_[size_t(row)].answer);
  }
  Batch batch = encoder_.collate(picked);
  batch.tensors["target"] = at::tensor(answers, at::kLong);  // [B]
  return batch;
}

Json ChoiceDataset::input(int64_t row) const {
  ChoiceRow own = rows_.at(size_t(row));
  own.answer = -1;
  own.decisive_context.clear(), own.decisive_choice.clear();
  return choices_json(own);
}

}  // namespace fovea
