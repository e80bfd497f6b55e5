#include "cli/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <span>

#include "cli/media.h"
#include "cli/output.h"
#include "fovea/base/error.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/json_rows.h"
#include "fovea/data/formats/named_cells.h"
#include "fovea/data/formats/table.h"
#include "fovea/data/formats/text_encoding.h"
#include "fovea/data/input_table.h"

namespace fovea::cli {

namespace {

constexpr int64_t kMostBytes = int64_t{1} << 30;

Example parse(const Pipeline& pipeline, const std::string& line) {
  const Json schema = pipeline.task().input_schema();
  return pipeline.parse(takes_media(schema) ? with_media(line, schema) : line);
}

/// Lines, each an input; where rows of a table are due, a cell in quotes may hold line ends.
std::vector<InputRecord> records_of(const Pipeline& pipeline, const std::string& content) {
  const InputColumns& columns = pipeline.input_columns();
  if (!columns.needed.empty() && !columns.texts) return input_records(content);
  std::vector<InputRecord> records;
  std::string_view rest = content;
  for (int64_t number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!trim(line).empty() || pipeline.task().takes_plain_text())
      records.push_back({line, number});
  }
  return records;
}

/// The key columns of an input that is a JSON object, or a file.
void add_keys(const Pipeline& pipeline, const std::string& line, std::vector<KeyColumn>& keys) {
  Json object;
  for (KeyColumn& key : keys) {
    if (key.is_file) {
      key.cells.push_back(path_of_medium(line, pipeline.task().input_schema()));
      continue;
    }
    require(is_json_object(line), ErrorKind::InvalidArgument, "--key ", key.name,
            ": the inputs have no names; give a table with a header, or JSON objects");
    if (object.is_null()) object = parse_json(line, "input");
    const auto found = find_key(object, key.name);
    require(found != object.end(), ErrorKind::NotFound, "--key ", key.name,
            ": the input has no such field");
    key.cells.push_back(found->is_string() ? found->get<std::string>()
                        : found->is_null() ? ""
                                           : found->dump());
  }
}

/// The place of a key's column: by the name that the file has, or the run knows it by.
int64_t key_column(const CsvTable& table, const std::string& name) {
  const int64_t column = find_name(table.names, name);
  return column >= 0 ? column : table.column(name);  // which says what there is
}

/// The key columns of a table. Where several rows make one input (the visits of a patient), each
/// value once, if there are as many of them as inputs.
void add_keys(const CsvTable& table, size_t examples, std::vector<KeyColumn>& keys) {
  for (KeyColumn& key : keys) {
    const int64_t column = key_column(table, key.name);
    const bool row_by_row = table.rows() == int64_t(examples);
    std::set<std::string_view> known;
    std::vector<std::string> cells;
    for (int64_t row = 0; row < table.rows(); ++row)
      if (row_by_row || known.insert(table.cell(row, column)).second)
        cells.emplace_back(table.cell(row, column));
    require(cells.size() == examples, ErrorKind::InvalidArgument, "--key ", key.name,
            ": several rows are one input here, and this column has ", cells.size(), " values for ",
            examples, " inputs");
    key.cells.insert(key.cells.end(), cells.begin(), cells.end());
  }
}

/// A first line that is no row, without a number in it: a header with other names.
void check_header(const Pipeline& pipeline, std::string_view line, const std::string& where,
                  const std::string& error) {
  const InputColumns& columns = pipeline.input_columns();
  if (columns.needed.empty() || columns.texts || line.find_first_of("{[") == 0) return;
  if (std::ranges::count(line, '"') % 2 != 0) return;
  const std::vector<std::string> cells = parse_csv_line(line, delimiter_of(line));
  double number = 0;
  for (const std::string& cell : cells)
    if (trim(cell).empty() || parse_cell(trim(cell), number)) return;
  std::vector<std::string> missing;
  for (const std::string& needed : columns.needed)
    if (find_name(cells, needed) < 0) missing.push_back(needed);
  fail(ErrorKind::BadData, where, ": as a header it lacks ", quoted_list(missing, 30), "; it has ",
       quoted_list(cells), ". As a row: ", error);
}

std::vector<Example> read_lines(const Pipeline& pipeline, const std::string& content,
                                const std::string& name, std::vector<KeyColumn>& keys) {
  std::vector<Example> examples;
  for (const InputRecord& record : records_of(pipeline, content)) {
    try {
      add_keys(pipeline, std::string(record.text), keys);
      examples.push_back(parse(pipeline, std::string(record.text)));
    } catch (const Error& error) {
      const std::string where = concat(name, ":", record.line);
      if (examples.empty()) check_header(pipeline, record.text, where, error.what());
      fail(error.kind(), where, ": ", error.what());
    }
  }
  return examples;
}

/// What rows without a header hold that training did not.
void tell_notes(const Pipeline& pipeline, std::span<const Example> examples,
                const std::string& name) {
  constexpr size_t kShown = 8;
  std::vector<std::string> notes;
  std::map<std::string, int64_t> counts;
  for (const Example& example : examples)
    for (const std::string& note : pipeline.task().input_notes(example))
      if (counts[note]++ == 0) notes.push_back(note);
  for (size_t i = 0; i < std::min(notes.size(), kShown); ++i)
    tell(concat(name,
                examples.size() > 1 ? concat(", ", format_count(counts[notes[i]]), " of ",
                                             format_count(int64_t(examples.size())), " rows")
                                    : "",
                ": ", notes[i]));
  if (notes.size() > kShown)
    tell(concat(name, ": and ", notes.size() - kShown, " more such notes"));
}

/// The objects of a JSON list that holds nothing else, a line each; none of "[1] A film".
std::vector<std::string> listed_objects(std::string_view text, const std::string& name) {
  std::vector<std::string> objects;
  if (!trim(text).starts_with('[') || !SortedJson::accept(text)) return objects;
  for (const Json& one : parse_json(text, name)) {
    if (!one.is_object()) return {};
    objects.push_back(one.dump());
  }
  return objects;
}

/// Texts in a JSON file or list, in the forms in which training takes them; none where it is no
/// such.
std::vector<std::string> text_objects(const std::string& content, const std::string& name) {
  if (!std::filesystem::path(name).filename().string().ends_with(".json"))
    return listed_objects(content, name);
  std::vector<std::string> objects;
  for_each_json_row(
      name, kMostBytes, "{\"text\": \"…\"}",
      [&](const SortedJson& row, const std::string&) { objects.push_back(row.dump()); });
  return objects;
}

std::vector<Example> read_objects(const Pipeline& pipeline, std::span<const std::string> objects,
                                  const std::string& name, std::vector<KeyColumn>& keys) {
  std::vector<Example> examples;
  for (const std::string& object : objects) {
    try {
      add_keys(pipeline, object, keys);
      examples.push_back(parse(pipeline, object));
    } catch (const Error& error) {
      fail(error.kind(), name, ": row ", examples.size() + 1, ": ", error.what());
    }
  }
  return examples;
}

/// The right answers of a table's inputs, where it has them: one cell for each.
std::vector<std::string> truths_in(const CsvTable& table, const InputColumns& columns,
                                   size_t examples) {
  std::vector<std::string> truths;
  const auto found = std::ranges::find(table.names, columns.truth);
  if (columns.truth.empty() || found == table.names.end()) return truths;
  if (table.rows() != int64_t(examples)) return truths;
  const int64_t column = found - table.names.begin();
  for (int64_t row = 0; row < table.rows(); ++row) truths.emplace_back(table.cell(row, column));
  return truths;
}

std::vector<Example> read_rows(const Pipeline& pipeline, const CsvTable& table,
                               KeyedInputs& inputs) {
  std::vector<KeyColumn>& keys = inputs.keys;
  const InputColumns& columns = pipeline.input_columns();
  std::vector<std::string> known = columns.known;
  for (const KeyColumn& key : keys)
    known.push_back(table.names[size_t(key_column(table, key.name))]);
  for (const std::string& note : table.notes) tell(note);
  const std::string note = unknown_columns_note(table, columns.needed, known);
  if (!note.empty()) tell(note);
  std::vector<Example> examples = pipeline.task().parse_table(table, columns);
  for (const std::string& odd : pipeline.task().table_notes(table)) tell(odd);
  add_keys(table, examples.size(), keys);
  inputs.truths = truths_in(table, columns, examples.size());
  return examples;
}

/// A line of as many texts as there are columns, none of which training knows, above lines that it
/// knows: a header with other names.
void check_first_line(const Pipeline& pipeline, const std::vector<Example>& examples,
                      const std::string& name) {
  const InputColumns& columns = pipeline.input_columns();
  if (examples.size() < 2 || columns.needed.size() < 2) return;
  const size_t first = pipeline.task().input_notes(examples[0]).size();
  const size_t second = pipeline.task().input_notes(examples[1]).size();
  require(first < columns.needed.size() || second == first, ErrorKind::BadData, name,
          ":1: training saw none of the values of the first line. If it is a header, it must have "
          "the columns ",
          quoted_list(columns.needed, 30));
}

std::vector<Example> read_file_of_inputs(const Pipeline& pipeline, const std::string& file,
                                         KeyedInputs& inputs) {
  const InputColumns& columns = pipeline.input_columns();
  if (!columns.needed.empty() && !columns.texts && is_whole_table_name(file)) {
    CsvTable table = read_table(file);
    if (const std::string note = match_names(table, columns.needed); !note.empty()) tell(note);
    return read_rows(pipeline, table, inputs);
  }
  std::string content = read_content(file);
  const std::string name = file == "-" ? "standard input" : file;
  require(!content.empty() && (!trim(content).empty() || pipeline.task().takes_plain_text()),
          ErrorKind::BadData, name, ": is empty");
  if (pipeline.task().takes_plain_text())
    if (const auto objects = text_objects(content, name); !objects.empty()) {
      std::vector<Example> examples = read_objects(pipeline, objects, name, inputs.keys);
      tell_notes(pipeline, examples, name);
      return examples;
    }
  if (columns.needed.empty()) return read_lines(pipeline, content, name, inputs.keys);
  std::vector<std::string> notes;
  if (!columns.texts) content = decode_table_text(std::move(content), name, notes);
  for (const std::string& note : notes) tell(note);
  if (!columns.texts && trim(content).starts_with('[')) {
    CsvTable table = parse_json_table(std::move(content), name);
    if (const std::string note = match_names(table, columns.needed); !note.empty()) tell(note);
    return read_rows(pipeline, table, inputs);
  }
  if (!has_header(content, name, columns)) {
    std::vector<Example> examples = read_lines(pipeline, content, name, inputs.keys);
    check_first_line(pipeline, examples, name);
    tell_notes(pipeline, examples, name);
    return examples;
  }
  return read_rows(pipeline, parse_input_table(std::move(content), name, columns), inputs);
}

/// Nothing is left out without being said.
void tell_cuts(const std::vector<Example>& examples) {
  int64_t inputs = 0;
  std::map<std::string, int64_t> lost;  // by unit
  for (const Example& example : examples) {
    inputs += !example.cuts.empty();
    for (const Cut& cut : example.cuts) lost[cut.unit] += cut.of - cut.read;
  }
  if (inputs == 0) return;
  std::vector<std::string> parts;
  for (const auto& [unit, count] : lost) parts.push_back(concat(format_count(count), " ", unit));
  std::cerr << format_count(inputs) << " of " << format_count(int64_t(examples.size()))
            << " inputs were longer than this run reads and lost " << join(parts) << "\n";
}

/// `fovea predict RUN new.csv`: what is on the command line is the file itself. Paths of pictures
/// and sounds are inputs.
bool names_a_file(const Pipeline& pipeline, const InputFlags& flags) {
  if (!flags.file.empty() || flags.inputs.size() != 1) return false;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(flags.inputs[0], ignored)) return false;
  return !takes_media(pipeline.task().input_schema());
}

/// A path in the place of an input: "new.csv", which is not there, is no text to answer.
void check_paths(const Pipeline& pipeline, const InputFlags& flags) {
  if (flags.inputs.size() != 1 || takes_media(pipeline.task().input_schema())) return;
  const std::string& input = flags.inputs[0];
  std::error_code ignored;
  if (std::filesystem::is_directory(input, ignored)) {
    const bool word = pipeline.task().takes_plain_text() && input.find('/') == std::string::npos;
    require(word, ErrorKind::InvalidArgument, input, ": is a folder; a file of inputs is needed");
    tell(concat("'", input, "' is read as a text; the folder of that name is not opened"));
  }
  constexpr std::array kEndings = {".csv",    ".tsv",    ".tab",  ".txt",   ".jsonl",   ".ndjson",
                                   ".csv.gz", ".tsv.gz", ".json", ".conll", ".parquet", ".xlsx"};
  const bool path = input.find_first_of(" \t\n{") == std::string::npos &&
                    std::ranges::any_of(kEndings, [&](const char* ending) {
                      return input.size() > std::strlen(ending) && input.ends_with(ending);
                    });
  require(!path || std::filesystem::exists(input, ignored), ErrorKind::NotFound, input,
          ": no such file");
}

std::vector<Example> read_all(const Pipeline& pipeline, InputFlags flags, KeyedInputs& inputs) {
  check_paths(pipeline, flags);
  if (names_a_file(pipeline, flags)) flags.file = flags.inputs[0], flags.inputs.clear();
  std::vector<Example> examples;
  for (const std::string& input : flags.inputs) {
    if (pipeline.task().takes_plain_text())
      if (const auto objects = listed_objects(input, "input"); !objects.empty()) {
        const auto listed = read_objects(pipeline, objects, "input", inputs.keys);
        examples.insert(examples.end(), listed.begin(), listed.end());
        continue;
      }
    add_keys(pipeline, input, inputs.keys);
    examples.push_back(parse(pipeline, input));
  }
  tell_notes(pipeline, examples, "input");
  std::string file = flags.file;
  if (flags.inputs.empty() && file.empty() && !::isatty(STDIN_FILENO)) file = "-";
  if (file.empty()) {
    require(!examples.empty(), ErrorKind::InvalidArgument,
            "there is no input; give one, or --input FILE, or pipe lines into standard input");
    return examples;
  }
  const std::vector<Example> more = read_file_of_inputs(pipeline, file, inputs);
  if (!inputs.truths.empty()) inputs.truths.insert(inputs.truths.begin(), examples.size(), "");
  examples.insert(examples.end(), more.begin(), more.end());
  return examples;
}

}  // namespace

std::string read_content(const std::string& file) {
  if (file != "-") return read_text(file, kMostBytes).content;
  return decode_text({std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()},
                     "standard input");
}

KeyedInputs read_keyed_inputs(const Pipeline& pipeline, const InputFlags& flags,
                              const std::vector<std::string>& keys) {
  KeyedInputs inputs;
  if (takes_media(pipeline.task().input_schema()) && std::ranges::count(keys, "file") == 0)
    inputs.keys.push_back({"file", {}, true});
  for (const std::string& key : keys) inputs.keys.push_back({key, {}});
  inputs.examples = read_all(pipeline, flags, inputs);
  tell_cuts(inputs.examples);
  return inputs;
}

std::vector<Example> read_inputs(const Pipeline& pipeline, const InputFlags& flags) {
  return read_keyed_inputs(pipeline, flags, {}).examples;
}

}  // namespace fovea::cli
