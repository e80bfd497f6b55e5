#include "fovea/data/readers/visits.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "fovea/core/error.h"
#include "fovea/core/json.h"
#include "fovea/data/readers/csv.h"
#include "fovea/data/readers/text_lines.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kEndings = {".csv", ".tsv", ".tab", ".jsonl", ".ndjson"};

enum Role : size_t { kPatient, kTime, kCodes, kLabel, kSplit, kRoles };
const std::vector<std::string> kRoleNames = {"patient", "time", "codes", "label", "split"};
constexpr const char* kOwnCode = "code";  // the role of columns that are codes themselves

/// What a line says in each role; nothing where it does not have the column or key.
struct Line {
  std::array<std::optional<std::string>, kRoles> fields;
  std::vector<std::string> codes;
};

std::string ending_of(const fs::path& path) {
  return (path.extension() == ".gz" ? path.stem() : path).extension().string();
}

/// What the columns are called, and which of them must be there.
struct Columns {
  explicit Columns(const VisitsOptions& options) {
    for (size_t role = 0; role < kRoles; ++role) {
      names[role] = single_role(options.roles, kRoleNames[role], kRoleNames[role]);
      named[role] = options.roles.contains(kRoleNames[role]);
    }
    needed = {true, named[kTime], true, options.needs_label, named[kSplit]};
    if (const auto own = options.roles.find(kOwnCode); own != options.roles.end())
      own_codes = own->second;
  }
  std::array<std::string, kRoles> names;
  std::array<bool, kRoles> named{}, needed{};
  std::vector<std::string> own_codes;
};

/// Codes in the order in which they came, empty ones and repetitions left out.
class DistinctCodes {
 public:
  void add(std::string code) {
    if (!code.empty() && seen_.insert(code).second) codes_.push_back(std::move(code));
  }
  std::vector<std::string> take() {
    seen_.clear();
    return std::exchange(codes_, {});
  }

 private:
  std::vector<std::string> codes_;
  std::unordered_set<std::string> seen_;
};

/// Puts the lines of each patient together.
class Patients {
 public:
  explicit Patients(const VisitsOptions& options) : options_(options) {}

  void add(Line& line, bool has_split, const std::string& place) {
    const auto& fields = line.fields;
    const std::string name(trim(fields[kPatient].value_or("")));
    if (name.empty()) {
      ++without_patient_;
      return;
    }
    Entry& patient = entry_of(name);
    if (has_split) take_part(patient, *fields[kSplit], place);
    patient.lines.push_back({{std::move(line.codes), time_in(fields[kTime], place)},
                             std::string(trim(fields[kLabel].value_or(""))),
                             place});
  }

  ReadTexts<PatientRecord> take(const std::string& path, const std::string& hash) {
    ReadTexts<PatientRecord> result;
    result.hash = hash;
    for (Entry& patient : patients_) {
      PatientRecord record = record_of(patient);
      const bool has_codes = std::any_of(record.visits.begin(), record.visits.end(),
                                         [](const Visit& visit) { return !visit.codes.empty(); });
      without_code_ += !has_codes;
      const bool has_label = !options_.needs_label || !record.label.empty();
      without_label_ += has_codes && !has_label;
      if (!has_codes || !has_label) continue;
      result.items.push_back(std::move(record));
      if (patient.part) result.parts.push_back(*patient.part);
    }
    add_notes(path, result.notes);
    require(!result.items.empty(), ErrorKind::BadData, path, ": holds no patient with codes",
            options_.needs_label ? " and a label" : "");
    return result;
  }

 private:
  struct Row {
    Visit visit;
    std::string label, place;
  };
  struct Entry {
    std::string name;
    std::vector<Row> lines;
    std::optional<Part> part;
  };

  Entry& entry_of(const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace(name, patients_.size());
    if (is_new) patients_.push_back({name, {}, {}});
    return patients_[found->second];
  }

  static void take_part(Entry& patient, const std::string& cell, const std::string& place) {
    const Part part = part_in(cell, place);
    require(!patient.part || *patient.part == part, ErrorKind::BadData, place, ": patient '",
            patient.name, "' is in two parts, ", kPartNames[part], " here and ",
            patient.part ? kPartNames[*patient.part] : "", " before; all visits of a patient ",
            "belong to one, or the test has been seen");
    patient.part = part;
  }

  static std::optional<double> time_in(const std::optional<std::string>& cell,
                                       const std::string& place) {
    if (!cell) return {};
    const std::optional<double> time = parse_visit_time(*cell);
    require(time.has_value(), ErrorKind::BadData, place, ": the time '", *cell,
            "' is neither a number nor a date such as 2014-05-03 or 2014-05-03 17:20:05");
    return time;
  }

  /// Visits in order; those of one time are one visit.
  PatientRecord record_of(Entry& patient) {
    std::vector<Row>& lines = patient.lines;
    const auto earlier = [](const Row& a, const Row& b) { return a.visit.time < b.visit.time; };
    if (!std::is_sorted(lines.begin(), lines.end(), earlier)) {
      ++out_of_order_;
      std::stable_sort(lines.begin(), lines.end(), earlier);
    }
    PatientRecord record{patient.name, {}, ""};
    DistinctCodes codes;  // of the last visit
    bool disagree = false;
    for (Row& row : lines) {
      const bool same =
          !record.visits.empty() && row.visit.time && record.visits.back().time == row.visit.time;
      same_time_ += same;
      if (!same) {
        if (!record.visits.empty()) record.visits.back().codes = codes.take();
        record.visits.push_back({{}, row.visit.time});
      }
      for (std::string& code : row.visit.codes) codes.add(std::move(code));
      if (row.label.empty()) continue;
      const bool differs = !record.label.empty() && record.label != row.label;
      require(!differs || options_.labels != "same", ErrorKind::BadData, row.place, ": patient '",
              patient.name, "' has the label '", row.label, "' here and '", record.label,
              "' before; with data.labels=last that of the last visit counts");
      disagree = disagree || differs;
      record.label = row.label;
    }
    record.visits.back().codes = codes.take();
    disagreeing_ += disagree;
    return record;
  }

  void add_notes(const std::string& path, std::vector<std::string>& notes) const {
    const auto note = [&](int64_t count, const char* what) {
      if (count > 0) notes.push_back(concat(path, ": ", format_count(count), what));
    };
    note(without_patient_, " lines without a patient were left out");
    note(without_code_, " patients without a code were left out");
    note(without_label_, " patients without a label were left out");
    note(out_of_order_, " patients have visits that were not in the order of time; they are now");
    note(same_time_, " lines have the patient and the time of another one: they are one visit");
    note(disagreeing_, " patients have visits with different labels: that of the last counts");
  }

  const VisitsOptions& options_;
  std::vector<Entry> patients_;
  std::unordered_map<std::string, size_t> numbers_;
  int64_t without_patient_ = 0, without_code_ = 0, without_label_ = 0;
  int64_t out_of_order_ = 0, same_time_ = 0, disagreeing_ = 0;
};

int64_t place_of_role(const CsvTable& table, const Columns& columns, size_t role) {
  const int64_t place = table.find(columns.names[role]);
  if (place >= 0 || !columns.needed[role]) return place;
  if (columns.named[role]) table.column(columns.names[role]);  // names the nearest one
  fail(ErrorKind::NotFound, table.path, ": there is no column '", columns.names[role],
       "'; say which one holds the ", kRoleNames[role], ": --columns ", kRoleNames[role],
       "=NAME. The columns are: ", join(table.names));
}

ReadTexts<PatientRecord> read_table(const fs::path& path, const VisitsOptions& options) {
  CsvOptions reading;
  reading.max_bytes = options.max_bytes;
  reading.quotes = options.quotes == "auto" ? ending_of(path) == ".csv" : options.quotes == "yes";
  const CsvTable table = read_csv(path, reading);
  const Columns columns(options);
  std::array<int64_t, kRoles> places;
  for (size_t role = 0; role < kRoles; ++role) places[role] = place_of_role(table, columns, role);
  int64_t& split = places[kSplit];
  if (split >= 0 && !columns.named[kSplit] && !says_parts(table, split)) split = -1;
  std::vector<int64_t> own_places;
  for (const std::string& name : columns.own_codes) own_places.push_back(table.column(name));
  Patients patients(options);
  for (int64_t row = 0; row < table.rows(); ++row) {
    Line line;
    for (size_t role = 0; role < kRoles; ++role)
      if (places[role] >= 0) line.fields[role] = std::string(table.cell(row, places[role]));
    line.codes = parse_codes(*line.fields[kCodes], options.separator);
    for (size_t i = 0; i < own_places.size(); ++i) {
      const std::string_view cell = trim(table.cell(row, own_places[i]));
      if (!cell.empty()) line.codes.push_back(concat(columns.own_codes[i], "=", cell));
    }
    patients.add(line, split >= 0, table.place(row));
  }
  return patients.take(table.path, table.hash);
}

// Objects of Json are searched from the front: a line with very many keys would take very long.
using SortedJson = nlohmann::json;

SortedJson parse_row(std::string_view line, const std::string& place) {
  try {
    SortedJson row = SortedJson::parse(line);
    require(row.is_object(), ErrorKind::BadData, place, ": found ", row.type_name(),
            "; expected one JSON object a line, as in {\"patient\": \"p1\", \"time\": 17, "
            "\"codes\": [\"D_401\", …], \"label\": \"yes\"}");
    return row;
  } catch (const SortedJson::exception& error) {
    fail(ErrorKind::BadData, place, ": is not JSON: ", error.what());
  }
}

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
  DistinctCodes codes;
  for (const SortedJson& code : value) codes.add(std::string(trim(text_of(code, key, place))));
  return codes.take();
}

Line line_of(const SortedJson& row, const Columns& columns, const VisitsOptions& options,
             const std::string& place) {
  Line line;
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
    } else if (role == kCodes) {
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

ReadTexts<PatientRecord> read_json_lines(const fs::path& path, const VisitsOptions& options) {
  TextLines lines(path, options.max_bytes);
  const Columns columns(options);
  Patients patients(options);
  std::optional<bool> has_split, has_time;  // as the first line decides
  for (std::string_view text; lines.next(text);) {
    if (trim(text).empty()) continue;
    const std::string place = lines.place();
    Line line = line_of(parse_row(text, place), columns, options, place);
    const auto &split = line.fields[kSplit], &time = line.fields[kTime];
    if (!has_split) {
      has_split = columns.named[kSplit] || (split && part_of(*split) >= 0);
      has_time = time.has_value();
    }
    require(!*has_split || split, ErrorKind::BadData, place, ": has no '", columns.names[kSplit],
            "', which the lines before it have");
    require(*has_time == time.has_value(), ErrorKind::BadData, place, ": ",
            time ? "has a '" : "has no '", columns.names[kTime], "', unlike the lines before it");
    patients.add(line, *has_split, place);
  }
  return patients.take(lines.path(), lines.hash());
}

/// The one file of the folder that is called visits, where no file is called after a part.
std::optional<fs::path> single_file(const fs::path& folder) {
  for (const auto& part : find_part_files(folder, kEndings))
    if (part) return {};
  std::optional<fs::path> found;
  for (const std::string& ending : kEndings)
    for (const char* packed : {"", ".gz"}) {
      const fs::path path = folder / ("visits" + ending + packed);
      if (!fs::exists(path)) continue;
      require(!found, ErrorKind::BadData, folder.string(), ": holds both ",
              found ? found->filename().string() : "", " and ", path.filename().string(),
              "; remove one");
      found = path;
    }
  return found;
}

/// A test is none when its patients were learned by heart.
void check_patients(TextParts<PatientRecord>& parts, const std::string& path) {
  std::unordered_map<std::string, int> seen;
  for (int part = 0; part < kParts; ++part)
    for (const PatientRecord& patient : parts[part]) {
      const auto [found, is_new] = seen.try_emplace(patient.name, part);
      require(is_new, ErrorKind::BadData, path, ": patient '", patient.name, "' is in the ",
              kPartNames[found->second], " and in the ", kPartNames[part],
              " part; all visits of a patient belong to one");
    }
}

}  // namespace

void VisitsOptions::describe(OptionList& list) {
  list.add("separator", separator,
           "what stands between the codes of a cell: one character; a blank is any white space");
  list.add("labels", labels,
           "last: the label of a patient's last visit counts; same: all visits must have the same")
      .choices({"last", "same"});
  list.add("quotes", quotes, "whether quotes quote; auto: in a CSV, not in a TSV")
      .choices({"auto", "yes", "no"});
}

std::optional<double> parse_visit_time(std::string_view text) {
  text = trim(text);
  double number = 0;
  if (parse_number(text, number))
    return std::isfinite(number) ? std::optional<double>(number) : std::nullopt;
  constexpr std::string_view kForm = "dddd-dd-ddsdd:dd:dd";
  if (text.size() != 10 && text.size() != 16 && text.size() != 19) return {};
  std::array<int, 6> parts{};  // year, month, day, hour, minute, second
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
  const std::chrono::year_month_day date{std::chrono::year(parts[0]),
                                         std::chrono::month(unsigned(parts[1])),
                                         std::chrono::day(unsigned(parts[2]))};
  if (!date.ok() || parts[3] > 23 || parts[4] > 59 || parts[5] > 59) return {};
  const double days = double(std::chrono::sys_days(date).time_since_epoch().count());
  return days + (parts[3] * 3600 + parts[4] * 60 + parts[5]) / 86400.0;
}

std::vector<std::string> parse_codes(std::string_view cell, const std::string& separator) {
  require(separator.size() == 1, ErrorKind::InvalidArgument, "data.separator is '", separator,
          "'; expected one character");
  const auto parts = [&](char letter) {
    const bool is_blank = letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
    return separator == " " ? is_blank : letter == separator[0];
  };
  DistinctCodes codes;
  for (size_t begin = 0; begin <= cell.size();) {
    size_t end = begin;
    while (end < cell.size() && !parts(cell[end])) ++end;
    codes.add(std::string(trim(cell.substr(begin, end - begin))));
    begin = end + 1;
  }
  return codes.take();
}

ReadTexts<PatientRecord> read_visits(const fs::path& path, const VisitsOptions& options) {
  const std::string ending = ending_of(path);
  return ending == ".jsonl" || ending == ".ndjson" ? read_json_lines(path, options)
                                                   : read_table(path, options);
}

TextParts<PatientRecord> open_visits(const DataSource& source, const SplitOptions& split,
                                     VisitsOptions options) {
  std::vector<std::string> roles = kRoleNames;
  roles.push_back(kOwnCode);
  check_roles(source, roles);
  options.roles = source.roles;
  DataSource found = source;
  if (fs::is_directory(source.path))
    if (const auto file = single_file(source.path)) found.path = *file;
  TextParts<PatientRecord> parts = open_text_parts<PatientRecord>(
      found, split, kEndings, [&](const fs::path& path) { return read_visits(path, options); });
  check_patients(parts, source.path.string());
  return parts;
}

}  // namespace fovea
