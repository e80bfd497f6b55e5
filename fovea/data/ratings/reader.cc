#include "fovea/data/ratings/reader.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/text_lines.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kEndings = {".csv", ".tsv", ".tab", ".jsonl", ".ndjson"};

enum Role : size_t { kUser, kItem, kRating, kText, kTime, kSplit, kRoles };
const std::vector<std::string> kRoleNames = {"user", "item", "rating", "text", "time", "split"};

/// What a row says in each role; nothing where it does not have the column or key.
using Fields = std::array<std::optional<std::string>, kRoles>;

std::string ending_of(const fs::path& path) {
  return (path.extension() == ".gz" ? path.stem() : path).extension().string();
}

/// What the columns are called, and which of them must be there.
class Columns {
 public:
  explicit Columns(const ReviewsOptions& options) {
    for (size_t role = 0; role < kRoles; ++role) {
      names_[role] = single_role(options.roles, kRoleNames[role], kRoleNames[role]);
      named_[role] = options.roles.contains(kRoleNames[role]);
    }
    needed_ = {true, true, true, options.needs_text, false, false};
  }
  const std::string& name(size_t role) const { return names_[role]; }
  bool is_named(size_t role) const { return named_[role]; }  // by the user
  bool is_needed(size_t role) const { return needed_[role] || named_[role]; }

 private:
  std::array<std::string, kRoles> names_;
  std::array<bool, kRoles> named_{}, needed_{};
};

/// "2014-05-03" or "2014-05-03 17:20:05", as a number that orders dates.
std::optional<double> parse_date(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddsdd:dd:dd";
  if (text.size() != 10 && text.size() != 16 && text.size() != 19) return {};
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    const bool fits = kForm[i] == 'd'   ? is_digit
                      : kForm[i] == 's' ? text[i] == ' ' || text[i] == 'T'
                                        : text[i] == kForm[i];
    if (!fits) return {};
    if (is_digit) digits += text[i];
  }
  digits.resize(14, '0');
  return std::stod(digits);  // exact: 14 digits
}

double parse_rating(const std::string& cell, const std::string& place) {
  double rating = 0;
  require(parse_number(trim(cell), rating) && std::isfinite(rating), ErrorKind::BadData, place,
          ": the rating '", cell, "' is no number");
  return rating;
}

std::optional<double> parse_time(const std::string& cell, const std::string& place) {
  const std::string_view text = trim(cell);
  if (text.empty()) return {};
  double number = 0;
  if (parse_number(text, number) && std::isfinite(number)) return number;
  const std::optional<double> date = parse_date(text);
  require(date.has_value(), ErrorKind::BadData, place, ": the time '", cell,
          "' is neither a number nor a date such as 2014-05-03 or 2014-05-03 17:20:05");
  return date;
}

/// Collects rows; leaves out and counts what cannot be used.
class Rows {
 public:
  void add(Fields& fields, bool has_split, const std::string& place) {
    for (const size_t role : {kUser, kItem, kRating})
      if (!fields[role] || trim(*fields[role]).empty()) {
        ++without_[role];
        return;
      }
    Review review{std::string(trim(*fields[kUser])), std::string(trim(*fields[kItem])),
                  parse_rating(*fields[kRating], place)};
    if (fields[kText]) review.text = std::move(*fields[kText]);
    if (fields[kTime]) review.time = parse_time(*fields[kTime], place);
    review.place = place;
    if (has_split) result_.splits.push_back(split_in_cell(*fields[kSplit], place));
    result_.rows.push_back(std::move(review));
  }

  FileRows<Review> take(const std::string& path, const std::string& hash) {
    result_.hash = hash;
    for (const size_t role : {kUser, kItem, kRating})
      if (without_[role] > 0)
        result_.notes.push_back(concat(path, ": ", format_count(without_[role]), " rows without ",
                                       role == kItem ? "an " : "a ", kRoleNames[role],
                                       " were left out"));
    require(!result_.rows.empty(), ErrorKind::BadData, path, ": holds no review");
    return std::move(result_);
  }

 private:
  std::array<int64_t, kRoles> without_{};
  FileRows<Review> result_;
};

FileRows<Review> read_table(const fs::path& path, const ReviewsOptions& options) {
  CsvOptions reading;
  reading.max_bytes = options.max_bytes;
  reading.quotes = options.quotes == "auto" ? ending_of(path) == ".csv" : options.quotes == "yes";
  const CsvTable table = read_csv(path, reading);
  const Columns columns(options);
  std::array<int64_t, kRoles> places;
  for (size_t role = 0; role < kRoles; ++role) {
    places[role] = table.find(columns.name(role));
    if (places[role] >= 0 || !columns.is_needed(role)) continue;
    if (columns.is_named(role)) table.column(columns.name(role));  // names the nearest one
    fail(ErrorKind::NotFound, table.path, ": there is no column '", columns.name(role),
         "'; say which one holds the ", kRoleNames[role], ": --columns ", kRoleNames[role],
         "=NAME. The columns are: ", join(table.names));
  }
  int64_t& split = places[kSplit];
  if (!options.reads_split) split = -1;
  if (split >= 0 && !columns.is_named(kSplit) && !names_splits(table, split)) split = -1;
  Rows rows;
  for (int64_t row = 0; row < table.rows(); ++row) {
    Fields fields;
    for (size_t role = 0; role < kRoles; ++role)
      if (places[role] >= 0) fields[role] = std::string(table.cell(row, places[role]));
    rows.add(fields, split >= 0, table.place(row));
  }
  return rows.take(table.path, table.hash);
}

const char* const kExampleRow =
    "{\"user\": \"…\", \"item\": \"…\", \"rating\": 4, \"text\": \"…\"}";

Fields fields_of(const SortedJson& row, const Columns& columns, const std::string& place) {
  Fields fields;
  for (size_t role = 0; role < kRoles; ++role) {
    const auto found = row.find(columns.name(role));
    if (found == row.end()) {
      std::vector<std::string> keys;
      for (const auto& item : row.items()) keys.push_back(item.key());
      require(!columns.is_needed(role), ErrorKind::BadData, place, ": has no '", columns.name(role),
              "'", suggestion(columns.name(role), keys), "; say with --columns ", kRoleNames[role],
              "=NAME which key holds the ", kRoleNames[role], ". The keys are: ", join(keys));
      continue;
    }
    if (found->is_null()) {
      fields[role] = "";
      continue;
    }
    const bool fits = role == kText ? found->is_string() : found->is_primitive();
    require(fits, ErrorKind::BadData, place, ": '", columns.name(role), "' is ", found->type_name(),
            "; expected ", role == kText ? "a text" : "a text or a number");
    fields[role] = found->is_string() ? found->get<std::string>() : found->dump();
  }
  return fields;
}

FileRows<Review> read_json_lines(const fs::path& path, const ReviewsOptions& options) {
  TextLines lines(path, options.max_bytes);
  const Columns columns(options);
  Rows rows;
  std::optional<bool> has_split;  // as the first row decides
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) continue;
    const std::string place = lines.place();
    Fields fields = fields_of(parse_json_row(line, place, kExampleRow), columns, place);
    if (!has_split)
      has_split = options.reads_split && (columns.is_named(kSplit) ||
                                          (fields[kSplit] && split_named(*fields[kSplit]) >= 0));
    require(!*has_split || fields[kSplit], ErrorKind::BadData, place, ": has no '",
            columns.name(kSplit), "', which the rows before it have");
    rows.add(fields, *has_split, place);
  }
  return rows.take(lines.path(), lines.hash());
}

}  // namespace

FileRows<Review> read_reviews(const fs::path& path, const ReviewsOptions& options) {
  require(options.quotes == "auto" || options.quotes == "yes" || options.quotes == "no",
          ErrorKind::InvalidArgument, "quotes is '", options.quotes, "'; expected auto, yes or no");
  const std::string ending = ending_of(path);
  return ending == ".jsonl" || ending == ".ndjson" ? read_json_lines(path, options)
                                                   : read_table(path, options);
}

SplitRows<Review> open_reviews(const DataSource& source, const SplitOptions& split,
                               ReviewsOptions options) {
  check_roles(source, kRoleNames);
  options.roles = source.roles;
  const auto read = [&](const fs::path& path) { return read_reviews(path, options); };
  SplitOptions whole = split;
  whole.fraction = 0;
  SplitRows<Review> rows =
      read_splits<Review>(source, whole, {kEndings, read, "reviews", "reviews"});
  require(!rows.given || options.reads_split, ErrorKind::InvalidArgument, source.path.string(),
          ": the folder's files say which split is which; leave data.split at auto");
  if (rows.given) hold_out(rows, source.path.string(), "reviews", split);
  return rows;
}

}  // namespace fovea
