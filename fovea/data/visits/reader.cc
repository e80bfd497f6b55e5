#include "fovea/data/visits/reader.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/data/formats/role_rows.h"
#include "fovea/data/visits/patients.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kRoleNames = {"patient", "time", "codes", "label", "split"};
constexpr const char* kOwnCode = "code";  // the role of columns that are codes themselves

/// Columns of 0 and 1, one for each of several labels: --columns label=flu,label=gout.
std::vector<std::string> label_columns(const VisitsOptions& options) {
  const auto named = options.roles.find("label");
  const bool several = named != options.roles.end() && named->second.size() > 1;
  return several && options.needs_label ? named->second : std::vector<std::string>();
}

RoleReader visit_reader(const VisitsOptions& options) {
  RoleOptions reading;
  reading.roles = kRoleNames;
  reading.needed = {"patient", "codes"};
  reading.lists = {"codes", "label"};
  reading.plural = kLabelsColumn;
  reading.plural_of = "label";
  reading.several = kOwnCode;
  reading.named = options.roles;
  const std::vector<std::string> columns = label_columns(options);
  if (options.needs_label && columns.empty())
    reading.needed.push_back("label");
  else
    reading.named.erase("label");
  if (!columns.empty()) {  // read behind the columns that are codes
    std::vector<std::string>& several = reading.named[kOwnCode];
    several.insert(several.end(), columns.begin(), columns.end());
  }
  reading.quotes = options.quotes;
  reading.max_bytes = options.max_bytes;
  reading.example =
      "{\"patient\": \"p1\", \"time\": 17, \"codes\": [\"D_401\", …], \"label\": \"yes\"}";
  return RoleReader(reading);
}

/// Puts the rows of a file together as patients.
class VisitRows {
 public:
  explicit VisitRows(const VisitsOptions& options)
      : options_(options),
        reader_(visit_reader(options)),
        label_columns_(label_columns(options)),
        patients_(options) {}
  const RoleReader& reader() const { return reader_; }

  void operator()(RoleRow& row) {
    const auto& time = row.cells[VisitLine::Time];
    if (!has_time_) has_time_ = time.has_value();
    require(*has_time_ == time.has_value(), ErrorKind::BadData, row.place, ": ",
            time ? "has a '" : "has no '", reader_.name(VisitLine::Time),
            "', unlike the lines before it");
    VisitLine line;
    const auto* codes = row.list("codes");
    line.codes = codes ? distinct_codes(*codes)
                       : parse_codes(row.cells[VisitLine::Codes].value_or(""), options_.separator);
    const size_t codes_end = row.several.size() - label_columns_.size();
    for (size_t i = 0; i < codes_end; ++i)
      if (const std::string_view cell = trim(row.several[i]); !cell.empty())
        line.codes.push_back(concat(reader_.several()[i], "=", cell));
    if (row.is_plural || reader_.name(VisitLine::Label) == kLabelsColumn)
      line.answer.cell = LabelCell::Perhaps;
    line.answer.label = std::string(trim(row.cells[VisitLine::Label].value_or("")));
    if (auto* labels = row.list("label")) line.answer = list_of_labels(std::move(*labels));
    if (!label_columns_.empty()) line.answer = marked_labels(row, codes_end);
    line.fields = std::move(row.cells);
    patients_.add(std::move(line), row.place);
  }
  FileRows<PatientRecord> take(const std::string& path, const std::string& hash,
                               const RowSink<PatientRecord>& sink) {
    return patients_.take(path, hash, sink);
  }

 private:
  /// Those whose column says yes.
  VisitLabel marked_labels(const RoleRow& row, size_t first) const {
    std::vector<std::string> labels;
    for (size_t i = 0; i < label_columns_.size(); ++i)
      if (says_yes(row.several[first + i], label_columns_[i], row.place))
        labels.push_back(label_columns_[i]);
    return list_of_labels(std::move(labels));
  }

  const VisitsOptions& options_;
  RoleReader reader_;
  std::vector<std::string> label_columns_;
  GatheredPatients patients_;
  std::optional<bool> has_time_;  // as the first row decides
};

/// A test is none when its patients were learned by heart.
void check_patients(SplitRows<PatientRecord>& splits, const std::string& path) {
  std::unordered_map<std::string, int> seen;
  for (int split = 0; split < kSplitCount; ++split)
    splits[split].for_each([&](const PatientRecord& patient) {
      const auto [found, is_new] = seen.try_emplace(patient.name, split);
      require(is_new, ErrorKind::BadData, path, ": patient '", patient.name, "' is in the ",
              kSplitNames[found->second], " and in the ", kSplitNames[split],
              " split; all visits of a patient belong to one");
    });
}

}  // namespace

void VisitsOptions::describe(OptionList& list) {
  list.add("separator", separator,
           "what stands between the codes of a cell: one character; a blank is any white space");
  list.add("labels", labels,
           "last: the label of a patient's last visit counts; same: all visits must have the same; "
           "every: each visit is answered by its own, from what was known until then")
      .choices({"last", "same", "every"});
  describe_quotes(list, quotes);
}

FileRows<PatientRecord> read_visits(const fs::path& path, const VisitsOptions& options,
                                    const RowSink<PatientRecord>& sink) {
  VisitRows rows(options);
  std::vector<std::string> notes;
  const std::string hash = rows.reader().read(
      path, [&](RoleRow& row) { rows(row); }, &notes);
  FileRows<PatientRecord> file = rows.take(path.string(), hash, sink);
  file.notes.insert(file.notes.begin(), notes.begin(), notes.end());
  return file;
}

FileRows<PatientRecord> visits_in_table(const CsvTable& table, const VisitsOptions& options) {
  VisitRows rows(options);
  rows.reader().read(table, [&](RoleRow& row) { rows(row); });
  return rows.take(table.path, table.hash, {});
}

SplitRows<PatientRecord> open_visits(const DataSource& source, const SplitOptions& split,
                                     VisitsOptions options) {
  std::vector<std::string> roles = kRoleNames;
  roles.push_back(kOwnCode);
  roles.push_back("target");  // another word for label: --target flu,gout
  check_roles(source, roles);
  options.roles = source.roles;
  if (auto target = options.roles.extract("target"); target && !options.roles.contains("label"))
    for (const std::string& name : target.mapped())
      for (const std::string& part : fovea::split(name, ','))
        options.roles["label"].emplace_back(trim(part));
  SplitRows<PatientRecord> splits = read_splits<PatientRecord>(
      source, split,
      {kRoleEndings,
       [options](const fs::path& path, const RowSink<PatientRecord>& sink) {
         return read_visits(path, options, sink);
       },
       "patients", "visits"});
  check_patients(splits, source.path.string());
  return splits;
}

VisitLabel list_of_labels(std::vector<std::string> labels) {
  VisitLabel answer{{}, LabelCell::List, distinct_labels(std::move(labels))};
  answer.label = join(answer.labels, "|");
  return answer;
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
