#include "fovea/data/pairs/reader.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/names.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/json_rows.h"
#include "fovea/data/formats/named_cells.h"
#include "fovea/data/formats/text_lines.h"
#include "fovea/data/formats/tsv_columns.h"
#include "fovea/data/input_table.h"
#include "fovea/data/speech/spoken_word.h"

namespace fovea {

namespace {

/// Adds the pair, unless one side is empty.
void add_pair(TextPairs& result, TextPair pair, const std::string& split = "",
              const std::string& place = "") {
  const auto is_empty = [](const std::string& text) { return trim(text).empty(); };
  if (is_empty(pair.source) || is_empty(pair.references[0])) {
    ++result.left_out;
    return;
  }
  pair.references.erase(
      std::remove_if(pair.references.begin() + 1, pair.references.end(), is_empty),
      pair.references.end());
  result.add(std::move(pair),
             place.empty() ? std::nullopt : std::optional(split_in_cell(split, place)));
}

void check_cells(const TsvColumns& columns, size_t cells, const std::string& place) {
  require(cells >= 2, ErrorKind::BadData, place,
          ": has one column; a source and a target with a tab between them are expected");
  if (columns.header)
    require(cells == columns.cells, ErrorKind::BadData, place, ": has ", cells,
            " columns, the header has ", columns.cells);
  require(cells >= columns.cells, ErrorKind::BadData, place, ": has ", cells, " columns; column ",
          columns.cells, " was asked for");
  require(!columns.swap || !columns.rest_are_references || cells == 2, ErrorKind::BadData, place,
          ": has ", cells,
          " columns; with swap there must be two, since further references belong ",
          "to the other direction");
}

TextPair pair_of(const TsvColumns& columns, std::vector<std::string>& cells,
                 const std::string& place) {
  TextPair pair;
  pair.source = cells[columns.source];
  for (const size_t column : columns.targets) pair.references.push_back(cells[column]);
  if (columns.rest_are_references)
    for (size_t i = 2; i < cells.size(); ++i) pair.references.push_back(std::move(cells[i]));
  if (columns.links) pair.links = parse_links(cells[*columns.links], pair, place);
  if (columns.swap) swap_sides(pair);
  return pair;
}

}  // namespace

Direction parse_direction(const std::string& text) {
  const std::vector<std::string> names = split(text, '-');
  require(names.size() == 2 && !names[0].empty() && !names[1].empty() && names[0] != names[1],
          ErrorKind::InvalidArgument, "direction '", text,
          "': expected two languages around one '-', for example de-en");
  return {names[0], names[1]};
}

TextPairs read_tsv_pairs(const std::filesystem::path& path, const TextPairsOptions& options,
                         const RowSink<TextPair>& sink) {
  TextLines lines(path, options.max_bytes);
  TextPairs result{{sink}, path.string()};
  TsvColumns columns;
  bool first = true;
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) {
      ++result.left_out;
      continue;
    }
    std::vector<std::string> cells = split(line, '\t');
    if (first) columns = find_tsv_columns(cells, options, lines.place());
    if (std::exchange(first, false) && columns.header) continue;
    check_cells(columns, cells.size(), lines.place());
    const std::string named = columns.split ? cells[*columns.split] : "";
    add_pair(result, pair_of(columns, cells, lines.place()), named,
             columns.split ? lines.place() : "");
  }
  result.hash = lines.hash();
  return result;
}

namespace {

/// The two sides of a JSON row by their keys, as the user or the first row says.
Direction json_sides(const SortedJson& row, const TextPairsOptions& options,
                     const std::string& place) {
  if (!options.roles.empty())
    return {single_role(options.roles, "source", "source"),
            single_role(options.roles, "target", "target")};
  const auto has = [&](const char* key) { return find_key(row, key) != row.end(); };
  if (has("source") && has("target")) return {"source", "target"};
  if (!options.direction.empty()) return parse_direction(options.direction);
  const std::vector<std::string> keys = keys_of(row);
  fail(ErrorKind::InvalidArgument, place, ": which of ", quoted_list(keys),
       " is the source? Say it with --direction",
       keys.size() == 2 ? concat(" ", keys[0], "-", keys[1], " or ", keys[1], "-", keys[0]) : "",
       ", or --columns source=NAME --columns target=NAME");
}

TextPairs read_json_pairs(const std::filesystem::path& path, const TextPairsOptions& options,
                          const RowSink<TextPair>& sink) {
  TextPairs result{{sink}, path.string()};
  std::optional<Direction> sides;
  result.hash = for_each_json_row(
      path, options.max_bytes, "{\"translation\": {\"de\": \"…\", \"en\": \"…\"}}",
      [&](const SortedJson& row, const std::string& place) {
        const auto inner = row.find("translation");
        const SortedJson& texts = inner != row.end() && inner->is_object() ? *inner : row;
        if (!sides) sides = json_sides(texts, options, place);
        const auto text = [&](const std::string& key) {
          const auto found = find_key(texts, key);
          if (found == texts.end() || !found->is_string())
            fail(ErrorKind::BadData, place, ": has no text '", key,
                 "'; the keys are: ", quoted_list(keys_of(texts)));
          return found->get<std::string>();
        };
        TextPair pair{text(sides->source), {text(sides->target)}, {}};
        if (options.swap) swap_sides(pair);
        add_pair(result, std::move(pair));
      });
  return result;
}

TextPairs read_csv_pairs(const std::filesystem::path& path, const TextPairsOptions& options,
                         const RowSink<TextPair>& sink) {
  constexpr int64_t kTogether = 4096;  // rows
  CsvOptions reading;
  reading.max_bytes = options.max_bytes;
  CsvStream stream(path, reading);
  CsvTable head = stream.head();
  std::vector<std::string> known{"source", "target", "links", "split"};
  if (!options.direction.empty()) {
    const Direction direction = parse_direction(options.direction);
    known.insert(known.end(), {direction.source, direction.target});
  }
  match_names(head, known);
  const TsvColumns columns = find_tsv_columns(head.names, options, concat(head.path, ":1"));
  require(columns.header, ErrorKind::InvalidArgument, head.path,
          ": which column is the source? Say ",
          "it with --columns source=NAME --columns target=NAME; the columns are ",
          quoted_list(head.names));
  TextPairs result{{sink}, head.path};
  for (CsvTable table; stream.next(table, kTogether);)
    for (int64_t row = 0; row < table.rows(); ++row) {
      std::vector<std::string> cells;
      for (int64_t column = 0; column < table.columns(); ++column)
        cells.emplace_back(table.cell(row, column));
      const std::string named = columns.split ? cells[*columns.split] : "";
      add_pair(result, pair_of(columns, cells, table.place(row)), named,
               columns.split ? table.place(row) : "");
    }
  result.hash = stream.head().hash;
  return result;
}

}  // namespace

TextPairs read_file_pairs(const std::filesystem::path& path, const TextPairsOptions& options,
                          const RowSink<TextPair>& sink) {
  if (is_json_name(path)) return read_json_pairs(path, options, sink);
  return plain_ending(path) == ".csv" ? read_csv_pairs(path, options, sink)
                                      : read_tsv_pairs(path, options, sink);
}

TextPairs read_parallel_pairs(const std::filesystem::path& source,
                              const std::filesystem::path& target, const TextPairsOptions& options,
                              const RowSink<TextPair>& sink) {
  require(options.roles.empty(), ErrorKind::InvalidArgument, "column roles are for a TSV; ",
          source.string(), " and ", target.string(), " hold one sentence a line");
  require(!options.swap, ErrorKind::InvalidArgument,
          "swap is for the columns of a TSV; to reverse two parallel files, exchange them or turn ",
          "the direction round");
  TextLines sources(source, options.max_bytes), targets(target, options.max_bytes);
  TextPairs result{{sink}, concat(source.string(), " and ", target.string())};
  for (std::string_view from, to;;) {
    const bool more = sources.next(from), also = targets.next(to);
    if (!more && !also) break;
    if (more && also) add_pair(result, {std::string(from), {std::string(to)}, {}});
  }
  require(sources.number() == targets.number(), ErrorKind::BadData, source.string(), " has ",
          format_count(sources.number()), " lines and ", target.string(), " has ",
          format_count(targets.number()), "; line N of one must belong to line N of the other");
  ContentHash hash;
  hash.add(concat(sources.hash(), "\n", targets.hash(), "\n"));
  result.hash = hash.text();
  return result;
}

void swap_sides(TextPair& pair) {
  require(pair.references.size() == 1, ErrorKind::InvalidArgument, "a pair with ",
          pair.references.size(), " references cannot be swapped; one is needed");
  std::swap(pair.source, pair.references[0]);
  for (Link& link : pair.links) {
    std::swap(link.source_begin, link.target_begin);
    std::swap(link.source_end, link.target_end);
  }
}

std::string format_links(std::span<const Link> links) {
  std::string text;
  for (const Link& link : links)
    text += concat(text.empty() ? "" : " ", link.target_begin, "-", link.target_end,
                   link.possible ? "?" : ":", link.source_begin, "-", link.source_end);
  return text;
}

namespace {

/// Numbers and what stands between them: "0-3:4-9" is 0, 3, 4, 9 and "-:-". No numbers where the
/// text is anything else.
struct LinkText {
  std::vector<int64_t> numbers;
  std::string separators;
};

LinkText take_apart(const std::string& text) {
  LinkText parts;
  const char* next = text.data();
  const char* const end = next + text.size();
  while (parts.numbers.size() < 5) {
    int64_t number = 0;
    const auto parsed = std::from_chars(next, end, number);
    if (parsed.ec != std::errc() || number < 0) return {};
    parts.numbers.push_back(number);
    if (parsed.ptr == end) return parts;
    parts.separators += *parsed.ptr;
    next = parsed.ptr + 1;
  }
  return {};
}

}  // namespace

std::vector<Link> parse_links(std::string_view cell, const TextPair& pair,
                              const std::string& place) {
  std::vector<Link> links;
  for (const std::string& text : split(cell, ' ')) {
    const auto [numbers, separators] = take_apart(text);
    const bool words = separators == "-" || separators == "?" || separators == "p";
    require(words || separators == "-:-" || separators == "-?-", ErrorKind::BadData, place,
            ": the link '", text,
            "' is not of the form 0-3:4-9 (bytes of the target, bytes of the source) or 0-1 (words "
            "of the source and of the target, from 0 on)");
    Link link;
    if (words) {
      const auto from = word_spans(pair.source), to = word_spans(pair.references[0]);
      require(numbers[0] < int64_t(from.size()) && numbers[1] < int64_t(to.size()),
              ErrorKind::BadData, place, ": the link '", text, "' leaves the texts, of ",
              from.size(), " and ", to.size(), " words");
      const Span source = from[size_t(numbers[0])], target = to[size_t(numbers[1])];
      link = {target.begin, target.end, source.begin, source.end, separators != "-"};
    } else {
      link = {numbers[0], numbers[1], numbers[2], numbers[3], separators == "-?-"};
    }
    require(link.target_begin <= link.target_end && link.source_begin <= link.source_end &&
                link.target_end <= int64_t(pair.references[0].size()) &&
                link.source_end <= int64_t(pair.source.size()),
            ErrorKind::BadData, place, ": the link '", text, "' leaves the texts, of ",
            pair.references[0].size(), " and ", pair.source.size(), " bytes");
    links.push_back(link);
  }
  return links;
}

}  // namespace fovea
