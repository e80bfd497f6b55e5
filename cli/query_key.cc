#include "cli/query_key.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/explain/record/labels.h"

namespace fovea::cli {

namespace {

constexpr size_t kMostDimensions = 16;  // of a table or picture; the others are summed up
constexpr size_t kMostLifts = 5;

std::optional<int64_t> number_from_1(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && number > 0;
  return is_number ? std::optional(number) : std::nullopt;
}

[[noreturn]] void refuse_place(const std::string& text) {
  fail(ErrorKind::InvalidArgument, "--query-key ", text,
       ": expected [MAP.]LAYER.HEAD:QUERY,KEY, as 2.1:5,7");
}

/// From 0: a number from 1, or a label of one unit alone.
int64_t unit_of(const std::string& text, const std::vector<std::string>& labels, const char* what) {
  if (const auto number = number_from_1(text)) return *number - 1;
  std::vector<std::string> numbers;
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i] == text) numbers.push_back(std::to_string(i + 1));
  require(!numbers.empty(), ErrorKind::NotFound, "--query-key: there is no ", what, " '", text, "'",
          suggestion(text, labels), "; give its number, 1 to ", labels.size());
  require(numbers.size() == 1, ErrorKind::InvalidArgument, "--query-key: the ", what, " '", text,
          "' stands there ", numbers.size(), " times; give its number: ", join(numbers));
  return std::stoll(numbers[0]) - 1;
}

std::string sign_and_number(double value) {
  return concat(value < 0 ? "- " : "+ ", format_number(std::abs(value)));
}

}  // namespace

WeightPlace parse_weight_place(const std::string& text, const Explanation& explanation) {
  WeightPlace place;
  const size_t colon = text.find(':'), comma = text.find(',', std::min(colon, text.size()));
  if (colon == std::string::npos || comma == std::string::npos) refuse_place(text);
  std::vector<std::string> parts = split(text.substr(0, colon), '.');
  std::vector<int64_t> numbers;  // the last ones
  while (!parts.empty() && numbers.size() < 2) {
    const auto number = number_from_1(parts.back());
    if (!number) break;
    numbers.insert(numbers.begin(), *number);
    parts.pop_back();
  }
  place.map = join(parts, ".");
  const MapView* shown = nullptr;  // of the units' labels
  bool has_layers = false;
  for (const MapView& map : explanation.maps)
    if (map.layout == MapLayout::Dense &&
        (place.map.empty() ? map.has_products : map.name == place.map)) {
      if (!shown) shown = &map;
      has_layers = has_layers || map.layer > 0;
    }
  if (numbers.size() == 2) {
    place.layer = has_layers ? numbers[0] : numbers[0] == 1 ? 0 : numbers[0];
    place.head = numbers[1];
  } else if (numbers.size() == 1) {
    (has_layers ? place.layer : place.head) = numbers[0];
  }
  const std::string query = text.substr(colon + 1, comma - colon - 1), key = text.substr(comma + 1);
  if (query.empty() || key.empty()) refuse_place(text);
  static const std::vector<std::string> none;
  place.query = unit_of(query, shown ? shown->query_labels : none, "query");
  place.key = unit_of(key, shown ? shown->key_labels : none, "key");
  return place;
}

std::string query_key_table(const QueryKey& made) {
  const WeightPlace& at = made.place;
  std::string text =
      concat(printable_label(made.title), at.layer > 0 ? concat(", layer ", at.layer) : "",
             at.head > 0 ? concat(", head ", at.head) : "", ": query ", at.query + 1, " \"",
             printable_label(made.query_label), "\", key ", at.key + 1, " \"",
             printable_label(made.key_label), "\"\n\n");
  TextTable table({"dimension", "query", "key", "product"});
  const std::vector<size_t> order = largest_first(made.product);
  const size_t shown = std::min(kMostDimensions, order.size());
  double rest = made.dot;
  for (size_t i = 0; i < shown; ++i) {
    const size_t d = order[i];
    table.add({std::to_string(d + 1), format_number(made.query[d]), format_number(made.key[d]),
               format_number(made.product[d])});
    rest -= made.product[d];
  }
  if (order.size() > shown)
    table.add({concat("the other ", order.size() - shown), "", "", format_number(rest)});
  table.add({"sum", "", "", format_number(made.dot)});
  text += table.plain();
  text += concat("\nscore   ", format_number(made.dot), " x ", format_number(made.scale));
  for (const auto& [name, value] : made.terms)
    text += concat(" ", sign_and_number(value), " (", name, ")");
  text += concat(" = ", format_number(made.score), "\nweight  ");
  if (!made.visible)
    text += "0: a mask hides this key\n";
  else
    text += concat(format_number(made.weight), ": ", made.normaliser, " of the scores of ",
                   made.scores.size(), made.scores.size() == 1 ? " key" : " keys",
                   made.factor != 1 ? concat(", times ", format_number(made.factor)) : "", "\n");
  text +=
      "\nBy how much a dimension lifts the score of what this query looks at over its mean key:\n";
  const std::vector<size_t> lifted = largest_first(made.lift);
  TextTable lifts({"dimension", "lift"});
  for (size_t i = 0; i < std::min(kMostLifts, lifted.size()); ++i)
    lifts.add({std::to_string(lifted[i] + 1), format_number(made.lift[lifted[i]])});
  text += lifts.plain();
  return text;
}

Explanation picture_of(const QueryKey& made, const Explanation& explanation) {
  Explanation picture;
  picture.task = explanation.task;
  picture.title = explanation.title;
  picture.prediction = explanation.prediction;
  picture.input = explanation.input;
  picture.maps = {products_view(made, kMostDimensions)};
  return picture;
}

}  // namespace fovea::cli
