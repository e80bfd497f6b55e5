// Items of some symbols, a delimiter before each; then one of them again between two delimiters of
// another kind, and the item that followed it is due. As text "011 100 | 111 010 ? 011 100".
#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/data/copies/symbols.h"

namespace fovea {

namespace {

int64_t item_length_of(const CopyRow& row) {
  return int64_t(row.symbols.size()) / row.items;
}

CopySequence item_of(const CopyRow& row, int64_t item) {
  const auto begin = row.symbols.begin() + item * item_length_of(row);
  return {begin, begin + item_length_of(row)};
}

void check_recall(const CopyDraw& options, int64_t fewest, int64_t most) {
  require(fewest >= 2, ErrorKind::InvalidArgument,
          "data.kind=associative-recall needs 2 items, so ", "that one follows the query; found ",
          fewest);
  require(options.item_length >= 1 && options.item_length <= kMostSequenceSymbols / most,
          ErrorKind::InvalidArgument, "data.item_length=", options.item_length, ": ", most,
          " items of as many symbols cannot be drawn; expected 1 to ",
          format_count(kMostSequenceSymbols / most));
  const int64_t bits = options.bits * options.item_length;
  require(double(bits) >= std::log2(double(2 * most)), ErrorKind::InvalidArgument, most,
          " items cannot differ when they have ", bits, bits == 1 ? " bit" : " bits",
          "; raise data.bits or data.item_length, or draw fewer items");
}

/// All items differ, so that there is one answer.
CopyRow draw_recall(const CopySize& size, const CopyDraw& options, const Random& random) {
  CopyRow row;
  row.items = size.length;
  std::vector<CopySequence> items;
  for (uint64_t attempt = 0; int64_t(items.size()) < size.length; ++attempt) {
    CopySequence item = draw_sequence(options.item_length, options.bits, random.split(attempt));
    if (std::ranges::find(items, item) == items.end()) items.push_back(std::move(item));
  }
  for (const CopySequence& item : items)
    row.symbols.insert(row.symbols.end(), item.begin(), item.end());
  row.query = int64_t(random.split("query").below(0, uint64_t(size.length - 1)));
  return row;
}

std::vector<CopyStep> recall_steps(const CopyRow& row, const CopyLayout&) {
  std::vector<CopyStep> steps;
  const int64_t length = item_length_of(row);
  for (int64_t item = 0; item < row.items; ++item) {
    steps.push_back({.marks = {1, 0}, .name = concat("item ", item + 1)});
    for (const int64_t symbol : item_of(row, item)) steps.push_back({.shown = symbol});
  }
  steps.push_back({.marks = {0, 1}, .name = "query"});
  for (const int64_t symbol : item_of(row, row.query)) steps.push_back({.shown = symbol});
  steps.push_back({.marks = {0, 1}, .name = "now"});
  // A network may write an item down when the delimiter behind it says that it is whole.
  const int64_t source = (row.query + 1) * (length + 1) + 1;
  for (const int64_t symbol : item_of(row, row.query + 1))
    steps.push_back({.due = symbol, .source = source, .sources = length + 1});
  return steps;
}

std::string format_recall(const CopyRow& row, int64_t bits) {
  std::vector<std::string> items;
  for (int64_t item = 0; item < row.items; ++item)
    items.push_back(format_sequence(item_of(row, item), bits));
  return concat(join(items, " | "), " ? ", items[size_t(row.query)]);
}

CopyRow parse_recall(std::string_view text, int64_t& bits, const std::string& where) {
  const size_t asks = text.find('?');
  require(asks != std::string_view::npos, ErrorKind::BadData, where,
          ": asks for nothing; expected items and a query, such as 011 100 | 111 010 ? 011 100");
  CopyRow row;
  row.items = 0;
  size_t length = 0;
  for (const std::string& item : split(text.substr(0, asks), '|')) {
    const CopySequence symbols = parse_sequence(item, bits, concat(where, ", item ", ++row.items));
    if (row.items == 1) length = symbols.size();
    require(symbols.size() == length, ErrorKind::BadData, where, ": item ", row.items, " has ",
            symbols.size(), " symbols and the first one ", length, "; expected as many in each");
    row.symbols.insert(row.symbols.end(), symbols.begin(), symbols.end());
    require(int64_t(row.symbols.size()) <= kMostSequenceSymbols, ErrorKind::BadData, where,
            ": more than ", format_count(kMostSequenceSymbols), " symbols");
  }
  require(row.items >= 2, ErrorKind::BadData, where,
          ": has one item; expected at least 2, with | between them");
  const CopySequence query = parse_sequence(text.substr(asks + 1), bits, where + ", query");
  while (row.query < row.items && item_of(row, row.query) != query) ++row.query;
  require(row.query < row.items, ErrorKind::BadData, where, ": the query ",
          shorten_bytes(format_sequence(query, bits), 80), " is none of the ", row.items, " items");
  require(row.query + 1 < row.items, ErrorKind::BadData, where,
          ": the query is the last item, so none follows it; ask for another one");
  return row;
}

}  // namespace

const CopyKind& associative_recall_kind() {
  static const CopyKind kind{.name = "associative-recall",
                             .counts = "items",
                             .answer = "item",
                             .marks = 2,
                             .has_truth = true,
                             .bits = 6,
                             .shortest = 2,
                             .longest = 6,
                             .test_lengths = {6, 8, 10, 12, 15, 20},
                             .options = {"item_length"},
                             .check = check_recall,
                             .draw = draw_recall,
                             .size_of = [](const CopyRow& row) -> CopySize { return {row.items}; },
                             .steps = recall_steps,
                             .format = format_recall,
                             .parse = parse_recall};
  return kind;
}

}  // namespace fovea
