#include "fovea/data/visits/reader.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/text_lines.h"
#include "fovea/data/visits/patients.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kEndings = {".csv", ".tsv", ".tab", ".jsonl", ".ndjson"};

constexpr size_t kRoles = VisitLine::kRoles;
const std::vector<std::string> kRoleNames = {"patient", "time", "codes", "label", "split"};
constexpr const char* kOwnCode = "code";  // the role of columns that are codes themselves

std::string file_ending(const fs::path& path) {
  return (path.extension() == ".gz" ? path.stem() : path).extension().string();
}

/// What the columns are called, and which of them must be there.
struct Columns {
  explicit Columns(const VisitsOptions& options) {
    for (size_t role = 0; role < kRoles; ++role) {
      names[role] = single_role(options.roles, kRoleNames[role], kRoleNames[role]);
      named[role] = options.roles.contains(kRoleNames[role]);
    }
    needed = {true, named[VisitLine::Time], true, options.needs_label, named[VisitLine::Split]};
    if (const auto own = options.roles.find(kOwnCode); own != options.roles.end())
      own_codes = own->second;
  }
  std::array<std::string, kRoles> names;
  std::array<bool, kRoles> named{}, needed{};
  std::vector<std::string> own_codes;
};

int64_t place_of_role(const CsvTable& table, const Columns& columns, size_t role) {
  const int64_t place = table.find(columns.names[role]);
  if (place >= 0 || !columns.needed[role]) return place;
  if (columns.named[role]) table.column(columns.names[role]);  // names the nearest one
  fail(ErrorKind::NotFound, table.path, ": there is no column '", columns.names[role],
       "'; say which one holds the ", kRoleNames[role], ": --columns ", kRoleNames[role],
       "=NAME. The columns are: ", join(table.names));
}

FileRows<PatientRecord> read_table(const fs::path& path, const VisitsOptions& options) {
  const std::string ending = file_ending(path);
  CsvOptions reading;
  reading.max_bytes = options.max_bytes;
  const bool may_quote = ending != ".tsv" && ending != ".tab";
  reading.quotes = options.quotes == "auto" ? may_quote : options.quotes == "yes";
  return visits_in_table(read_csv(path, reading), options);
}

const char* const kExampleRow =
    "{\"patient\": \"p1\", \"time\": 17, \"codes\": [\"D_401\", …], \"label\": \"yes\"}";

std::string text_of(const SortedJson& value, const std::string& key, const std::string& place) {
  require(value.is_primitive(), ErrorKind::BadData, place, ": '", key, "' is ", value.type_name(),
          "; expected a text or a number");
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// A list of codes, or a text of them.
std::vector<std::string> codes_in(const SortedJson& value, const std::string& key,
                                  const VisitsOptions& options, const std::string& place) {
  if (!value.is_array()) return parse_codes(text_of(value, key, place), options.separator);
  std::vector<std::string> codes;
  for (const SortedJson& code : value) codes.push_back(text_of(code, key, place));
  return distinct_codes(codes);
}

VisitLine line_of(const SortedJson& row, const Columns& columns, const VisitsOptions& options,
                  const std::string& place) {
  VisitLine line;
  const auto missing = [&](const std::string& key, const std::string& role) {
    std::vector<std::string> keys;
    for (const auto& item : row.items()) keys.push_back(item.key());
    fail(ErrorKind::BadData, place, ": has no '", key, "'", suggestion(key, keys),
         "; say with --columns ", role, "=NAME which key holds the ", role,
         ". The keys are: ", join(keys));
  };
  for (size_t role = 0; role < kRoles; ++role) {
    const std::string& key = columns.names[role];
    const auto found = row.find(key);
    if (found == row.end()) {
      if (columns.needed[role]) missing(key, kRoleNames[role]);
    } else if (role == VisitLine::Codes) {
      line.codes = codes_in(*found, key, options, place);
    } else {
      line.fields[role] = text_of(*found, key, place);
    }
  }
  for (const std::string& key : columns.own_codes) {
    const auto found = row.find(key);
    if (found == row.end()) missing(key, kOwnCode);
    const std::string value(trim(text_of(*found, key, place)));
    if (!value.empty()) line.codes.push_back(concat(key, "=", value));
  }
  return line;
}

FileRows<PatientRecord> read_json_lines(const fs::path& path, const VisitsOptions& options) {
  TextLines lines(path, options.max_bytes);
  const Columns columns(options);
  GatheredPatients patients(options);
  std::optional<bool> has_split, has_time;  // as the first line decides
  for (std::string_view text; lines.next(text);) {
    if (trim(text).empty()) continue;
    const std::string place = lines.place();
    VisitLine line = line_of(parse_json_row(text, place, kExampleRow), columns, options, place);
    const auto &split = line.fields[VisitLine::Split], &time = line.fields[VisitLine::Time];
    if (!has_split) {
      has_split = columns.named[VisitLine::Split] || (split && split_named(*split) >= 0);
      has_time = time.has_value();
    }
    require(!*has_split || split, ErrorKind::BadData, place, ": has no '",
            columns.names[VisitLine::Split], "', which the lines before it have");
    require(*has_time == time.has_value(), ErrorKind::BadData, place, ": ",
            time ? "has a '" : "has no '", columns.names[VisitLine::Time],
            "', unlike the lines before it");
    if (!*has_split) line.fields[VisitLine::Split].reset();
    patients.add(std::move(line), place);
  }
  return patients.take(lines.path(), lines.hash());
}

/// A test is none when its patients were learned by heart.
void check_patients(SplitRows<PatientRecord>& splits, const std::string& path) {
  std::unordered_map<std::string, int> seen;
  for (int split = 0; split < kSplitCount; ++split)
    for (const PatientRecord& patient : splits[split]) {
      const auto [found, is_new] = seen.try_emplace(patient.name, split);
      require(is_new, ErrorKind::BadData, path, ": patient '", patient.name, "' is in the ",
              kSplitNames[found->second], " and in the ", kSplitNames[split],
              " split; all visits of a patient belong to one");
    }
}

}  // namespace

void VisitsOptions::describe(OptionList& list) {
  list.add("separator", separator,
           "what stands between the codes of a cell: one character; a blank is any white space");
  list.add("labels", labels,
           "last: the label of a patient's last visit counts; same: all visits must have the same")
      .choices({"last", "same"});
  describe_quotes(list, quotes);
}

FileRows<PatientRecord> read_visits(const fs::path& path, const VisitsOptions& options) {
  const std::string ending = file_ending(path);
  return ending == ".jsonl" || ending == ".ndjson" ? read_json_lines(path, options)
                                                   : read_table(path, options);
}

FileRows<PatientRecord> visits_in_table(const CsvTable& table, const VisitsOptions& options) {
  const Columns columns(options);
  std::array<int64_t, kRoles> places;
  for (size_t role = 0; role < kRoles; ++role) places[role] = place_of_role(table, columns, role);
  int64_t& split = places[VisitLine::Split];
  if (split >= 0 && !columns.named[VisitLine::Split] && !names_splits(table, split)) split = -1;
  std::vector<int64_t> own_places;
  for (const std::string& name : columns.own_codes) own_places.push_back(table.column(name));
  GatheredPatients patients(options);
  for (int64_t row = 0; row < table.rows(); ++row) {
    VisitLine line;
    for (size_t role = 0; role < kRoles; ++role)
      if (places[role] >= 0) line.fields[role] = std::string(table.cell(row, places[role]));
    line.codes = parse_codes(*line.fields[VisitLine::Codes], options.separator);
    for (size_t i = 0; i < own_places.size(); ++i) {
      const std::string_view cell = trim(table.cell(row, own_places[i]));
      if (!cell.empty()) line.codes.push_back(concat(columns.own_codes[i], "=", cell));
    }
    patients.add(std::move(line), table.place(row));
  }
  return patients.take(table.path, table.hash);
}

SplitRows<PatientRecord> open_visits(const DataSource& source, const SplitOptions& split,
                                     VisitsOptions options) {
  std::vector<std::string> roles = kRoleNames;
  roles.push_back(kOwnCode);
  check_roles(source, roles);
  options.roles = source.roles;
  SplitRows<PatientRecord> splits = read_splits<PatientRecord>(
      source, split,
      {kEndings, [&](const fs::path& path) { return read_visits(path, options); }, "patients",
       "visits"});
  check_patients(splits, source.path.string());
  return splits;
}

std::vector<std::string> distinct_codes(const std::vector<std::string>& codes) {
  std::unordered_set<std::string> seen;
  std::vector<std::string> distinct;
  for (const std::string& code : codes)
    if (std::string name(trim(code)); !name.empty() && seen.insert(name).second)
      distinct.push_back(std::move(name));
  return distinct;
}

std::vector<std::string> parse_codes(std::string_view cell, const std::string& separator) {
  require(separator.size() == 1, ErrorKind::InvalidArgument, "data.separator is '", separator,
          "'; expected one character");
  std::string text(cell);
  if (separator == " ")
    for (const char blank : {'\t', '\r', '\n'}) std::replace(text.begin(), text.end(), blank, ' ');
  return distinct_codes(split(text, separator[0]));
}

}  // namespace fovea
