#include "fovea/data/formats/cells.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <charconv>
#include <chrono>
#include <cmath>
#include <unordered_set>

#include "fovea/base/error.h"

namespace fovea {

namespace {

/// Year, month, day, hour, minute, second; nothing where the text has another form.
std::optional<std::array<int, 6>> parse_date(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddsdd:dd:dd";  // d a digit, s a blank or T
  if (text.size() != 10 && text.size() != 16 && text.size() != 19) return {};
  std::array<int, 6> parts{};
  for (size_t i = 0, part = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd'   ? !is_digit
        : kForm[i] == 's' ? text[i] != ' ' && text[i] != 'T'
                          : text[i] != kForm[i])
      return {};
    if (is_digit)
      parts[part] = 10 * parts[part] + (text[i] - '0');
    else
      ++part;
  }
  return parts;
}

}  // namespace

std::string_view trim_cell(std::string_view cell) {
  const auto dark = [](char c) { return static_cast<unsigned char>(c) > ' '; };
  return cell.empty() || (dark(cell.front()) && dark(cell.back())) ? cell : trim(cell);
}

bool is_missing(std::string_view trimmed) {
  switch (trimmed.size()) {
    case 0:
      return true;
    case 1:
      return trimmed == "?";
    case 2:
      return trimmed == "NA";
    case 3:
      return trimmed == "N/A" || trimmed == "n/a" || trimmed == "NaN" || trimmed == "nan" ||
             trimmed == "NaT";
    case 4:
      return trimmed == "null" || trimmed == "NULL" || trimmed == "None" || trimmed == "#N/A" ||
             trimmed == "<NA>";
    default:
      return false;
  }
}

bool parse_cell(std::string_view trimmed, double& value) {
  const char* begin = trimmed.data();
  const char* end = begin + trimmed.size();
  if (trimmed.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc() && stop == end && begin != end && std::abs(value) <= FLT_MAX;
}

std::optional<double> parse_time(std::string_view text) {
  text = trim(text);
  double number = 0;
  if (parse_number(text, number))
    return std::isfinite(number) ? std::optional<double>(number) : std::nullopt;
  const auto parts = parse_date(text);
  if (!parts) return {};
  const auto [year, month, day, hour, minute, second] = *parts;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(unsigned(month)),
                                         std::chrono::day(unsigned(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return {};
  const double days = double(std::chrono::sys_days(date).time_since_epoch().count());
  return days + (hour * 3600 + minute * 60 + second) / 86400.0;
}

double time_in_cell(std::string_view cell, const std::string& place) {
  const std::optional<double> time = parse_time(cell);
  require(time.has_value(), ErrorKind::BadData, place, ": the time '", cell,
          "' is neither a number nor a date such as 2014-05-03 or 2014-05-03 17:20:05");
  return *time;
}

void sort_naturally(std::vector<std::string>& texts) {
  const auto number = [](const std::string& text) {
    double value = 0;
    return parse_cell(text, value) ? value : NAN;
  };
  const bool numeric = std::none_of(texts.begin(), texts.end(), [&](const std::string& text) {
    return std::isnan(number(text));
  });
  std::sort(texts.begin(), texts.end(), [&](const std::string& a, const std::string& b) {
    if (!numeric) return a < b;
    const double left = number(a), right = number(b);
    return left != right ? left < right : a < b;
  });
}

std::string choose_target(const CsvTable& table, const std::string& name) {
  if (!name.empty()) return table.names[static_cast<size_t>(table.column(name))];
  for (const char* usual : {"target", "label", "class", "y"})
    if (table.find(usual) >= 0) return usual;
  fail(ErrorKind::NotFound, table.path,
       ": which column is the target? None is called target, label, class or y; name it ",
       "with --target COLUMN. The columns are: ", quoted_list(table.names, 30));
}

CsvTable rows_with(const CsvTable& table, int64_t column) {
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < table.rows(); ++row)
    if (!is_missing(trim_cell(table.cell(row, column)))) rows.push_back(row);
  return int64_t(rows.size()) == table.rows() ? table : table.select(rows);
}

NamedCells name_cells(std::span<const std::string> cells, std::span<const std::string> file_columns,
                      std::span<const std::string> inputs, const std::string& target) {
  std::vector<std::string> names(inputs.begin(), inputs.end());
  if (cells.size() != names.size()) {
    names.assign(file_columns.begin(), file_columns.end());
    if (cells.size() + 1 == names.size()) std::erase(names, target);
  }
  require(cells.size() == names.size(), ErrorKind::BadData, "input row: ", cells.size(),
          " cells; expected ", inputs.size(), " (", quoted_list(inputs), ") or the ",
          file_columns.size(), " of the training file, with or without '", target, "'");
  NamedCells row;
  for (size_t i = 0; i < cells.size(); ++i) row[names[i]] = cells[i];
  return row;
}

const std::string& named_cell(const NamedCells& row, const std::string& column) {
  const auto found = row.find(column);
  if (found != row.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, cell] : row) names.push_back(name);
  fail(ErrorKind::BadData, "input row: no column '", column, "'; it has ", quoted_list(names),
       ". Give an empty value where it is missing");
}

void check_names(const NamedCells& row, std::span<const std::string> file_columns) {
  const std::unordered_set<std::string_view> known(file_columns.begin(), file_columns.end());
  for (const auto& [name, cell] : row)
    if (!known.contains(name))
      fail(ErrorKind::BadData, "input row: unknown column '", name, "'",
           suggestion(name, file_columns), "; the training file had ", quoted_list(file_columns));
}

std::string quoted_list(std::span<const std::string> names, size_t shown) {
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), shown); ++i)
    list += concat(i > 0 ? ", '" : "'", names[i], "'");
  if (names.size() > shown) list += concat(" and ", names.size() - shown, " more");
  return list.empty() ? "none" : list;
}

}  // namespace fovea
