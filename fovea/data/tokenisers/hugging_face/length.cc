#include "fovea/data/tokenisers/hugging_face/length.h"

#include <algorithm>

namespace fovea::hugging_face {

namespace {

constexpr int64_t kLongestEncoding = int64_t{1} << 24;  // tokens

const char* strategy_name(Truncation::Strategy strategy) {
  using Strategy = Truncation::Strategy;
  return strategy == Strategy::LongestFirst ? "LongestFirst"
         : strategy == Strategy::OnlyFirst  ? "OnlyFirst"
                                            : "OnlySecond";
}

bool is_left(const Field& field) {
  const auto direction = field.find("direction");
  if (!direction) return false;
  const std::string name = direction->text();
  direction->expect(name == "Left" || name == "Right", "\"Left\" or \"Right\"");
  return name == "Left";
}

/// How long both may be that together have at most `most` tokens: the longer one gives way first.
std::pair<size_t, size_t> shorten_longest(size_t first, size_t second, size_t most) {
  const bool swapped = first > second;
  if (swapped) std::swap(first, second);
  second = first > most ? first : std::max(first, most - first);
  if (first + second > most) {
    first = most / 2;
    second = first + most % 2;
  }
  if (swapped) std::swap(first, second);
  return {first, second};
}

}  // namespace

Truncation Truncation::read(const Field& field) {
  Truncation made;
  made.max_length = size_t(field.at("max_length").integer(0, kLongestEncoding));
  made.stride = size_t(field.integer_or("stride", 0, 0, kLongestEncoding));
  made.left = is_left(field);
  constexpr Strategy kStrategies[] = {Strategy::LongestFirst, Strategy::OnlyFirst,
                                      Strategy::OnlySecond};
  const auto strategy = field.find("strategy");
  if (strategy) {
    const std::string name = strategy->text();
    const auto* found = std::find_if(std::begin(kStrategies), std::end(kStrategies),
                                     [&](Strategy each) { return name == strategy_name(each); });
    strategy->expect(found != std::end(kStrategies), "LongestFirst, OnlyFirst or OnlySecond");
    made.strategy = *found;
  }
  return made;
}

std::vector<Tokens> Truncation::windows(Tokens tokens, size_t longest) const {
  if (tokens.size() <= longest) return {std::move(tokens)};
  if (longest == 0) return {{}, std::move(tokens)};
  require(stride < longest, ErrorKind::InvalidArgument, "tokenizer.json: truncation.stride is ",
          stride, "; it must be smaller than the ", longest, " tokens that are left for a text");
  std::vector<Tokens> cut;
  const size_t step = longest - stride, size = tokens.size();
  for (size_t start = 0; start < size; start += step) {  // from the end that is kept
    const size_t stop = std::min(start + longest, size);
    const auto begin = tokens.begin() + int64_t(left ? size - stop : start);
    cut.emplace_back(begin, begin + int64_t(stop - start));
    if (stop == size) break;
  }
  return cut;
}

std::vector<std::vector<Tokens>> Truncation::cut(std::vector<Tokens> sequences,
                                                 size_t reserved) const {
  const size_t most = max_length - std::min(max_length, reserved);
  std::vector<size_t> longest;
  size_t total = 0;
  for (const Tokens& tokens : sequences) {
    longest.push_back(tokens.size());
    total += tokens.size();
  }
  if (most == 0) {
    std::fill(longest.begin(), longest.end(), 0);
  } else if (total > most) {
    const size_t removed = total - most;
    if (strategy == Strategy::LongestFirst) {
      if (sequences.size() == 1)
        longest[0] = most;
      else
        std::tie(longest[0], longest[1]) = shorten_longest(longest[0], longest[1], most);
    } else {
      const size_t target = strategy == Strategy::OnlyFirst ? 0 : 1;
      require(target < sequences.size() && longest[target] > removed, ErrorKind::InvalidArgument,
              "tokenizer.json: truncation ", strategy_name(strategy), " cannot take ", removed,
              " tokens from ",
              target < sequences.size() ? concat("a text of ", longest[target]) : "a second text",
              "; use LongestFirst or a larger max_length");
      longest[target] -= removed;
    }
  }
  std::vector<std::vector<Tokens>> cut;
  for (size_t i = 0; i < sequences.size(); ++i)
    cut.push_back(windows(std::move(sequences[i]), longest[i]));
  return cut;
}

Padding Padding::read(const Field& field) {
  Padding made;
  const Field strategy = field.at("strategy");
  if (strategy.value().is_object())
    made.fixed = size_t(strategy.at("Fixed").integer(0, kLongestEncoding));
  else
    strategy.expect(strategy.value() == "BatchLongest", "\"BatchLongest\" or {\"Fixed\": 128}");
  made.multiple = size_t(field.integer_or("pad_to_multiple_of", 0, 0, kLongestEncoding));
  made.left = is_left(field);
  made.token.id = field.integer_or("pad_id", 0, 0, INT32_MAX);
  made.token.type_id = field.integer_or("pad_type_id", 0, 0, INT32_MAX);
  const auto text = field.find("pad_token");
  made.token.text = text ? text->text() : "[PAD]";
  made.token.attention = false;
  return made;
}

size_t Padding::length(size_t longest) const {
  const size_t wanted = fixed.value_or(longest);
  return multiple > 0 ? (wanted + multiple - 1) / multiple * multiple : wanted;
}

void Padding::pad(Tokens& tokens, size_t length) const {
  if (tokens.size() < length)
    tokens.insert(left ? tokens.begin() : tokens.end(), length - tokens.size(), token);
}

}  // namespace fovea::hugging_face
