#include "fovea/data/packing.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/tokenisers/wordpiece.h"

namespace fovea {

namespace {

/// Some neighbouring pieces of a text.
struct Slice {
  const Pieces* text;
  int64_t begin, end;

  int64_t size() const { return end - begin; }
};

template <class Value>
void append(std::vector<Value>& to, const std::vector<Value>& from, const Slice& slice) {
  to.insert(to.end(), from.begin() + slice.begin, from.begin() + slice.end);
}

PackedInput write_input(const PieceTokeniser& tokeniser, const Slice& first, const Slice* second) {
  PackedInput input;
  input.pair = second != nullptr;
  for (const InputTemplate::Item& item : tokeniser.input_template(input.pair).items) {
    if (item.text < 0) {
      input.ids.push_back(item.id);
      input.spans.push_back({});
      input.words.push_back(-1);
    } else {
      const Slice& slice = item.text == 0 ? first : *second;
      input.first_piece[size_t(item.text)] = slice.begin;
      append(input.ids, slice.text->ids, slice);
      append(input.spans, slice.text->spans, slice);
      append(input.words, slice.text->words, slice);
    }
    input.segments.resize(input.ids.size(), item.segment);
    input.texts.resize(input.ids.size(), item.text);
  }
  return input;
}

/// What is left of two texts when pieces are taken, one by one, from the longer one until `room`
/// holds both; of equal ones the second gives.
std::array<int64_t, 2> longest_first(int64_t first, int64_t second, int64_t room) {
  if (first + second <= room) return {first, second};
  const int64_t most_first = room - room / 2, most_second = room / 2;
  if (first <= most_first) return {first, room - first};
  if (second <= most_second) return {room - second, second};
  return {most_first, most_second};
}

/// Windows over the longer text; the shorter one is whole in each.
std::vector<PackedInput> slide(const PieceTokeniser& tokeniser, Slice first, Slice second,
                               bool is_pair, int64_t room, const PackingOptions& options) {
  const bool second_slides = is_pair && second.size() > first.size();
  Slice& sliding = second_slides ? second : first;
  const int64_t fixed = first.size() + second.size() - sliding.size();
  const int64_t width = room - fixed, step = width - options.overlap;
  require(step > 0, is_pair ? ErrorKind::BadData : ErrorKind::InvalidArgument,
          is_pair ? "the shorter text has " : "", is_pair ? format_count(fixed) : "",
          is_pair ? " pieces, so " : "", "windows of ", options.longest, " positions leave ",
          std::max<int64_t>(width, 0), " for the text that goes through them, with an overlap of ",
          options.overlap, "; set a smaller overlap or cut the texts");
  std::vector<PackedInput> inputs;
  for (const int64_t end = sliding.end;; sliding.begin += step) {
    sliding.end = std::min(sliding.begin + width, end);
    inputs.push_back(write_input(tokeniser, first, is_pair ? &second : nullptr));
    if (sliding.end == end) return inputs;
  }
}

}  // namespace

void PackingOptions::describe(OptionList& list) {
  list.add("longest", longest, "most positions of one text or pair, special tokens included")
      .at_least(4);
  list.add("too_long", too_long, "a longer text is cut, read in windows that overlap, or refused")
      .choices({"cut", "windows", "refuse"});
  list.add("overlap", overlap, "windows: pieces that a window shares with the one before it")
      .at_least(0);
}

void LearnedPieces::describe(OptionList& list, const std::string& rows) {
  list.add("vocabulary_size", vocabulary_size,
           "most pieces of a vocabulary that is learned from the " + rows)
      .at_least(100);
  list.add("lowercase", lowercase, "a vocabulary that is learned knows no case and no accents");
}

std::shared_ptr<const PieceTokeniser> LearnedPieces::learn(
    const std::function<void(WordCounts& words)>& count) const {
  WordCounts words({.lowercase = lowercase});
  count(words);
  return std::make_shared<const WordPiece>(WordPiece::learn(words, {.size = vocabulary_size}));
}

PackedInputs pack_texts(const PieceTokeniser& tokeniser, const Pieces& first, const Pieces* second,
                        const PackingOptions& options) {
  const bool is_pair = second != nullptr;
  const int64_t special = tokeniser.input_template(is_pair).special();
  const int64_t room = options.longest - special;
  require(room > 0, ErrorKind::InvalidArgument, "an input of ", options.longest,
          " positions has no room for a text; expected at least ", special + 1);
  require(options.overlap >= 0, ErrorKind::InvalidArgument, "an overlap of ", options.overlap,
          " pieces cannot be; expected 0 or more");
  Slice one{&first, 0, first.size()}, two{second, 0, is_pair ? second->size() : 0};
  PackedInputs result;
  if (one.size() + two.size() > room) {
    if (options.too_long == "windows") {
      result.inputs = slide(tokeniser, one, two, is_pair, room, options);
      return result;
    }
    require(options.too_long != "refuse", ErrorKind::BadData, "the text has ",
            format_count(one.size() + two.size()), " pieces, more than the ", room, " that ",
            options.longest, " positions hold; shorten it, or set too_long to cut or windows");
    require(options.too_long == "cut", ErrorKind::InvalidArgument, "too_long is '",
            options.too_long, "'; expected cut, windows or refuse");
    const auto [keep_one, keep_two] = longest_first(one.size(), two.size(), room);
    result.cut = {one.size() - keep_one, two.size() - keep_two};
    one.end = keep_one;
    two.end = keep_two;
  }
  result.inputs.push_back(write_input(tokeniser, one, is_pair ? &two : nullptr));
  return result;
}

Pieces first_pieces(Pieces text, int64_t most) {
  const auto keep = size_t(std::min(most, text.size()));
  text.ids.resize(keep);
  text.spans.resize(keep);
  text.words.resize(keep);
  return text;
}

PackedInput join_windows(std::vector<PackedInput> windows) {
  PackedInput all = std::move(windows.at(0));
  for (size_t i = 1; i < windows.size(); ++i) {
    const auto append = [&](auto PackedInput::*field) {
      auto& to = all.*field;
      to.insert(to.end(), (windows[i].*field).begin(), (windows[i].*field).end());
    };
    append(&PackedInput::ids);
    append(&PackedInput::segments);
    append(&PackedInput::texts);
    append(&PackedInput::spans);
    append(&PackedInput::words);
  }
  return all;
}

}  // namespace fovea
