#include "fovea/data/choices/reader.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "fovea/base/code_points.h"
#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/base/names.h"
#include "fovea/data/formats/role_rows.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

constexpr size_t kShown = 100;  // of a text, in a message
constexpr int64_t kMostCodePoints = int64_t{1} << 31;
constexpr const char* kExample =
    "{\"question\": \"…\", \"choices\": [\"…\", \"…\"], \"answer\": 0}";

// What the columns of a row are called, here and elsewhere; the first that is there counts.
const Names kContexts = {"context", "article", "passage", "premise", "sent1", "story"};
const Names kQuestions = {"question", "prompt", "stem", "sent2",    "startphrase", "ctx",
                          "query",    "goal",   "text", "sentence", "problem"};
const Names kLists = {"choices", "options", "endings", "candidates", "answers"};
const Names kNumbered = {"choice", "ending", "option", "answer", "sol", "hyp", "alternative", ""};
const Names kAnswers = {"answer",  "label",      "answerKey", "answer_key",
                        "correct", "answer_idx", "gold",      "correct_answer"};

/// A row before its answer is known to be one of the choices.
struct RawRow {
  ChoiceRow row;
  Names labels;                     // of the choices, where they have some
  bool listed = true;               // otherwise the labels are the ends of the choices' keys
  std::optional<std::string> said;  // the answer
  bool is_number = false;           // in JSON, so counted from 0
  std::optional<Split> split;
  std::string place;
};

const SortedJson* find_key(const SortedJson& row, const std::string& key) {
  const auto found = row.find(key);
  return found == row.end() || found->is_null() ? nullptr : &*found;
}

std::string text_at(const SortedJson& value, const std::string& key, const std::string& place) {
  require(value.is_string(), ErrorKind::BadData, place, ": '", key, "' is ", value.type_name(),
          "; expected a text");
  return value.get<std::string>();
}

/// Of a label or an answer, which may be a number.
std::string name_at(const SortedJson& value, const std::string& key, const std::string& place) {
  return value.is_number() ? value.dump() : text_at(value, key, place);
}

[[noreturn]] void missing(const SortedJson& row, const std::string& place, const char* role,
                          const Names& names) {
  Names keys;
  for (const auto& item : row.items()) keys.push_back(item.key());
  fail(ErrorKind::BadData, place, ": has no ", role, "; expected '", names[0], "', as in ",
       kExample, ", or say with --columns ", role, "=NAME what holds it. There are: ", join(keys));
}

/// The name of a column: the user's, or the first known one that is there.
std::optional<std::string> named_column(const SortedJson& row, const Roles& roles, const char* role,
                                        const Names& known, const std::string& place) {
  if (const auto named = roles.find(role); named != roles.end()) {
    require(find_key(row, named->second.at(0)), ErrorKind::BadData, place, ": has no '",
            named->second[0], "', which --columns names as the ", role);
    return named->second[0];
  }
  for (const std::string& name : known)
    if (find_key(row, name)) return name;
  return {};
}

/// What of a key stands behind the word that choices begin with: "0" of ending0, "A" of option_A.
std::optional<std::string> label_in(const std::string& key, const std::string& word) {
  if (!key.starts_with(word)) return {};
  std::string label = key.substr(word.size());
  if (!word.empty() && label.starts_with('_')) label = label.substr(1);
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const bool number = !word.empty() && !label.empty() && label.size() <= 2 &&
                      std::all_of(label.begin(), label.end(), is_digit);
  const bool letter = label.size() == 1 && label[0] >= 'A' && label[0] <= 'Z';
  return number || letter ? std::optional(label) : std::nullopt;
}

/// Keys of choices of their own, in the order of their labels: ending0, ending1, …
std::vector<std::pair<std::string, std::string>> numbered_keys(const SortedJson& row) {
  for (const std::string& word : kNumbered) {
    std::vector<std::pair<std::string, std::string>> found;  // label, key
    for (const auto& item : row.items())
      if (const auto label = label_in(item.key(), word); label && !item.value().is_array())
        found.emplace_back(*label, item.key());
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.size(), a.first) < std::pair(b.first.size(), b.first);
    });
    if (found.size() >= 2) return found;
  }
  return {};
}

void add_choice(RawRow& raw, const std::string& text, const std::string& label = "") {
  raw.row.choices.push_back(text);
  if (!label.empty()) raw.labels.push_back(label);
}

/// A list of texts or of {"text", "label"}, {"text": […], "label": […]}, texts by label, or, in a
/// cell of a table, a list in JSON or with | between its choices.
void read_list(const SortedJson& list, const std::string& key, RawRow& raw) {
  const std::string& place = raw.place;
  if (list.is_string()) {
    const std::string cell = list.get<std::string>();
    if (SortedJson::accept(cell)) {
      const SortedJson parsed = parse_sorted_json(cell, place);
      if (parsed.is_array() || parsed.is_object()) return read_list(parsed, key, raw);
    }
    for (const std::string& part : split(cell, '|')) add_choice(raw, std::string(trim(part)));
    return;
  }
  if (list.is_object() && find_key(list, "text")) {
    const SortedJson &texts = list["text"], *labels = find_key(list, "label");
    require(texts.is_array() && (!labels || (labels->is_array() && labels->size() == texts.size())),
            ErrorKind::BadData, place, ": '", key,
            "' must have as many labels as texts: {\"text\": [\"…\", \"…\"], \"label\": [\"A\", "
            "\"B\"]}");
    for (size_t i = 0; i < texts.size(); ++i)
      add_choice(raw, text_at(texts[i], key, place),
                 labels ? name_at((*labels)[i], key, place) : "");
    return;
  }
  if (list.is_object()) {
    for (const auto& item : list.items())
      add_choice(raw, text_at(item.value(), key, place), item.key());
    return;
  }
  require(list.is_array(), ErrorKind::BadData, place, ": '", key, "' is ", list.type_name(),
          "; expected a list of texts");
  for (const SortedJson& one : list) {
    if (!one.is_object()) {
      add_choice(raw, text_at(one, key, place));
      continue;
    }
    const SortedJson *text = find_key(one, "text"), *label = find_key(one, "label");
    require(text, ErrorKind::BadData, place, ": a choice has no 'text'");
    add_choice(raw, text_at(*text, "text", place), label ? name_at(*label, "label", place) : "");
  }
}

/// `used` is given the keys that hold the choices.
void read_choice_list(const SortedJson& row, const Roles& roles, RawRow& raw, Names& used) {
  Names own;
  if (const auto named = roles.find("choice"); named != roles.end()) own = named->second;
  raw.listed = true;
  if (own.size() > 1) {
    for (const std::string& key : own) {
      const SortedJson* found = find_key(row, key);
      require(found, ErrorKind::BadData, raw.place, ": has no '", key,
              "', which --columns names as a choice");
      const std::string text = text_at(*found, key, raw.place);
      if (!trim(text).empty()) add_choice(raw, text);
    }
    used.insert(used.end(), own.begin(), own.end());
    return;
  }
  const auto list = named_column(row, roles, "choice", kLists, raw.place);
  if (list && (!own.empty() || !row[*list].is_primitive() || numbered_keys(row).empty())) {
    used.push_back(*list);
    return read_list(row[*list], *list, raw);
  }
  const auto keys = numbered_keys(row);
  if (keys.empty()) missing(row, raw.place, "choice", kLists);
  raw.listed = false;
  for (const auto& [label, key] : keys) {
    used.push_back(key);
    const SortedJson* found = find_key(row, key);
    const std::string text = found ? text_at(*found, key, raw.place) : "";
    if (!trim(text).empty()) add_choice(raw, text, label);  // rows may have fewer than others
  }
}

std::vector<Span> read_spans(const SortedField& field) {
  std::vector<Span> spans;
  field.each({}, [&](const SortedField& pair) {
    const std::vector<int64_t> ends = pair.integers(0, kMostCodePoints);
    pair.expect(ends.size() == 2 && ends[0] < ends[1], "begin and end");
    spans.push_back({ends[0], ends[1]});
  });
  return spans;
}

/// Everything but which choice the answer is. `inputs` is given the keys that hold the input.
RawRow read_raw(const SortedJson& row, const Roles& roles, const std::string& place, bool answered,
                Names& inputs) {
  require(row.is_object(), ErrorKind::BadData, place, ": expected an object, as ", kExample);
  RawRow raw;
  raw.place = place;
  const auto context = named_column(row, roles, "context", kContexts, place);
  auto question = named_column(row, roles, "question", kQuestions, place);
  // {"question": {"stem": …, "choices": […]}, "answerKey": …}, as CommonsenseQA and ARC come.
  const bool nested = question && row[*question].is_object();
  const SortedJson& holder = nested ? row[*question] : row;
  if (nested) question = named_column(holder, {}, "question", kQuestions, place);
  if (!question && !context) missing(row, place, "question", kQuestions);
  if (context)
    inputs.push_back(*context), raw.row.context = text_at(row[*context], *context, place);
  if (question)
    inputs.push_back(*question), raw.row.question = text_at(holder[*question], *question, place);
  if (!question || trim(raw.row.context).empty()) {  // what there is is the question
    if (!question || trim(raw.row.question).empty()) raw.row.question = raw.row.context;
    raw.row.context.clear();
  }
  require(!trim(raw.row.question).empty() || !trim(raw.row.context).empty(), ErrorKind::BadData,
          place, ": the question is empty");
  read_choice_list(holder, roles, raw, inputs);
  const size_t count = raw.row.choices.size();
  require(count >= 2 && count <= kMostChoices, ErrorKind::BadData, place, ": has ", count,
          count == 1 ? " choice" : " choices", "; expected 2 to ", kMostChoices);
  for (size_t i = 0; i < count; ++i)
    require(!trim(raw.row.choices[i]).empty(), ErrorKind::BadData, place, ": choice ", i + 1,
            " is empty");
  require(raw.labels.empty() || raw.labels.size() == count, ErrorKind::BadData, place,
          ": some choices have a label and others have none");
  const auto answer = named_column(row, roles, "answer", kAnswers, place);
  if (answer) {
    raw.is_number = row[*answer].is_number();
    raw.said = std::string(trim(name_at(row[*answer], *answer, place)));
  }
  if (answered && !answer) missing(row, place, "answer", kAnswers);
  if (const auto decisive = SortedField::root(row, place).find("decisive")) {
    if (const auto own = decisive->find("context")) raw.row.decisive_context = read_spans(*own);
    if (const auto own = decisive->find("choice")) raw.row.decisive_choice = read_spans(*own);
  }
  return raw;
}

/// From which number on the answers that are numbers in texts count: as is clear from all of them,
/// otherwise as the choices' keys do.
int64_t first_number(const std::vector<RawRow>& rows) {
  bool zero = false, last = false, keys_from_1 = false;
  for (const RawRow& raw : rows) {
    keys_from_1 = keys_from_1 || (!raw.listed && raw.labels.front() == "1");
    int64_t number = -1;
    if (!raw.said || raw.is_number || !parse_integer(*raw.said, number)) continue;
    zero = zero || number == 0;
    last = last || number == int64_t(raw.row.choices.size());
  }
  return zero ? 0 : last || keys_from_1 ? 1 : 0;
}

/// The choice that the answer names, or -1.
int64_t choice_named(const RawRow& raw, int64_t first) {
  const std::string& said = *raw.said;
  const auto count = int64_t(raw.row.choices.size());
  const auto place_in = [&](const Names& names) -> int64_t {
    const auto found = std::find(names.begin(), names.end(), said);
    return found == names.end() ? -1 : found - names.begin();
  };
  int64_t number = -1;
  const bool is_integer = parse_integer(said, number);
  if (!raw.labels.empty() && (raw.listed || !is_integer))
    if (const int64_t found = place_in(raw.labels); found >= 0) return found;
  if (is_integer && !(raw.listed && place_in(raw.row.choices) >= 0 && !raw.is_number)) {
    const int64_t index = raw.is_number ? number : number - first;
    return index >= 0 && index < count ? index : -1;
  }
  if (const int64_t found = place_in(raw.row.choices); found >= 0) return found;
  const bool letter = said.size() == 1 && std::isalpha(static_cast<unsigned char>(said[0])) != 0;
  const int64_t index = letter ? std::toupper(static_cast<unsigned char>(said[0])) - 'A' : -1;
  return index < count ? index : -1;
}

void resolve(RawRow& raw, int64_t first) {
  if (!raw.said) return;
  raw.row.answer = choice_named(raw, first);
  const auto count = int64_t(raw.row.choices.size());
  require(raw.row.answer >= 0, ErrorKind::BadData, raw.place, ": the answer '",
          shorten_bytes(*raw.said, kShown), "' is not among the ", count,
          " choices; expected the text of one, ",
          raw.labels.empty()
              ? concat("a number from ", raw.is_number ? 0 : first, " to ",
                       count - 1 + (raw.is_number ? 0 : first), " or a letter from A to ",
                       std::string(1, char('A' + std::min<int64_t>(count, 26) - 1)))
              : concat("or a label: ", join(raw.labels)));
}

/// take(row, place) for each row of a table, as an object of its cells.
template <class Take>
std::string for_each_table_row(const fs::path& path, const ChoiceReading& reading, Notes& notes,
                               const Take& take) {
  CsvOptions options;
  options.max_bytes = reading.max_bytes;
  options.quotes =
      reading.quotes == "auto" ? plain_ending(path) == ".csv" : reading.quotes == "yes";
  const CsvTable table = read_csv(path, options);
  for (int64_t index = 0; index < table.rows(); ++index) {
    SortedJson row = SortedJson::object();
    for (int64_t column = 0; column < table.columns(); ++column)
      row[table.names[size_t(column)]] = std::string(table.cell(index, column));
    take(row, table.place(index));
  }
  notes.insert(notes.end(), table.notes.begin(), table.notes.end());
  return table.hash;
}

}  // namespace

bool ChoiceRow::operator==(const ChoiceRow& other) const {
  return context == other.context && question == other.question && choices == other.choices &&
         answer == other.answer;
}

ChoiceRow parse_choices(const SortedJson& row, const std::string& place) {
  Names inputs;
  return read_raw(row, {}, place, /*answered=*/false, inputs).row;
}

FileRows<ChoiceRow> read_choices(const fs::path& path, const ChoiceReading& reading,
                                 const RowSink<ChoiceRow>& sink) {
  FileRows<ChoiceRow> file{sink};
  std::vector<RawRow> rows;
  Names inputs;
  const std::string split_key = single_role(reading.roles, "split", "split");
  const auto take = [&](const SortedJson& json, const std::string& place) {
    inputs.clear();
    RawRow raw = read_raw(json, reading.roles, place, /*answered=*/true, inputs);
    const SortedJson* split = find_key(json, split_key);
    const bool names = split && split->is_string() && split_named(split->get<std::string>()) >= 0;
    const bool asked = reading.roles.contains("split") || (!rows.empty() && rows[0].split);
    if (asked || (rows.empty() && names)) {
      require(split && split->is_string(), ErrorKind::BadData, place, ": has no split, '",
              split_key, "'");
      raw.split = split_in_cell(split->get<std::string>(), place);
    }
    rows.push_back(std::move(raw));
  };
  const bool is_json = is_json_name(path);
  file.hash = is_json ? for_each_json_row(path, reading.max_bytes, kExample, take)
                      : for_each_table_row(path, reading, file.notes, take);
  require(!rows.empty(), ErrorKind::BadData, path.string(), ": holds no question");
  const int64_t first = first_number(rows);
  if (first == 1)
    file.notes.push_back(concat(path.string(), ": the answers count the choices from 1"));
  if (reading.found && !is_json) *reading.found = inputs;
  for (RawRow& raw : rows) {
    resolve(raw, first);
    file.add(std::move(raw.row), raw.split);
  }
  return file;
}

SplitRows<ChoiceRow> open_choices(const DataSource& source, const SplitOptions& split,
                                  ChoiceReading reading) {
  check_roles(source, {"context", "question", "choice", "answer", "target", "split"});
  reading.roles = source.roles;
  if (reading.roles.contains("target") && !reading.roles.contains("answer"))
    reading.roles["answer"] = reading.roles["target"];
  Reader<ChoiceRow> reader;
  reader.endings = kRoleEndings;
  reader.read = [reading](const fs::path& path, const RowSink<ChoiceRow>& sink) {
    return read_choices(path, reading, sink);
  };
  reader.rows = "questions";
  reader.group = {"text", [](const ChoiceRow& row) {
                    return row.context.empty() ? row.question : row.context;
                  }};
  return read_splits<ChoiceRow>(source, split, reader);
}

Json choices_json(const ChoiceRow& row) {
  Json json;
  if (!row.context.empty()) json["context"] = row.context;
  json["question"] = row.question;
  json["choices"] = row.choices;
  if (row.answer >= 0) json["answer"] = row.answer;
  const auto spans = [](const std::vector<Span>& all) {
    Json list = Json::array();
    for (const Span& span : all) list.push_back({span.begin, span.end});
    return list;
  };
  if (!row.decisive_context.empty() || !row.decisive_choice.empty())
    json["decisive"] = {{"context", spans(row.decisive_context)},
                        {"choice", spans(row.decisive_choice)}};
  return json;
}

}  // namespace fovea
