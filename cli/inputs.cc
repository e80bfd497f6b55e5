#include "cli/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <span>

#include "cli/media.h"
#include "cli/output.h"
#include "fovea/base/error.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/text_encoding.h"
#include "fovea/data/input_table.h"

namespace fovea::cli {

namespace {

constexpr int64_t kMostBytes = int64_t{1} << 30;

Example parse(const Pipeline& pipeline, const std::string& line) {
  return pipeline.parse(with_media(line, pipeline.task().input_schema()));
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

/// The key columns of an input that is a JSON object.
void add_keys(const std::string& line, std::vector<KeyColumn>& keys) {
  if (keys.empty()) return;
  require(is_json_object(line), ErrorKind::InvalidArgument, "--key ", keys[0].name,
          ": the inputs have no names; give a table with a header, or JSON objects");
  const Json object = parse_json(line, "input");
  for (KeyColumn& key : keys) {
    const auto found = object.find(key.name);
    require(found != object.end(), ErrorKind::NotFound, "--key ", key.name,
            ": the input has no such field");
    key.cells.push_back(found->is_string() ? found->get<std::string>()
                        : found->is_null() ? ""
                                           : found->dump());
  }
}

/// The key columns of a table. Where several rows make one input (the visits of a patient), each
/// value once, if there are as many of them as inputs.
void add_keys(const CsvTable& table, size_t examples, std::vector<KeyColumn>& keys) {
  for (KeyColumn& key : keys) {
    const int64_t column = table.column(key.name);
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

std::vector<Example> read_lines(const Pipeline& pipeline, const std::string& content,
                                const std::string& name, std::vector<KeyColumn>& keys) {
  std::vector<Example> examples;
  for (const InputRecord& record : records_of(pipeline, content)) {
    try {
      add_keys(std::string(record.text), keys);
      examples.push_back(parse(pipeline, std::string(record.text)));
    } catch (const Error& error) {
      fail(error.kind(), name, ":", record.line, ": ", error.what());
    }
  }
  return examples;
}

std::vector<Example> read_rows(const Pipeline& pipeline, const CsvTable& table,
                               std::vector<KeyColumn>& keys) {
  const InputColumns& columns = pipeline.input_columns();
  std::vector<std::string> known = columns.known;
  for (const KeyColumn& key : keys) known.push_back(key.name);
  for (const std::string& note : table.notes) tell(note);
  const std::string note = unknown_columns_note(table, columns.needed, known);
  if (!note.empty()) tell(note);
  std::vector<Example> examples = pipeline.task().parse_table(table, columns);
  for (const std::string& odd : pipeline.task().table_notes(table)) tell(odd);
  add_keys(table, examples.size(), keys);
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

std::vector<Example> read_file_of_inputs(const Pipeline& pipeline, const std::string& file,
                                         std::vector<KeyColumn>& keys) {
  std::string content = read_content(file);
  const std::string name = file == "-" ? "standard input" : file;
  require(!content.empty() && (!trim(content).empty() || pipeline.task().takes_plain_text()),
          ErrorKind::BadData, name, ": is empty");
  const InputColumns& columns = pipeline.input_columns();
  if (columns.needed.empty()) return read_lines(pipeline, content, name, keys);
  std::vector<std::string> notes;
  if (!columns.texts) content = decode_table_text(std::move(content), name, notes);
  for (const std::string& note : notes) tell(note);
  if (!columns.texts && trim(content).starts_with('[')) {
    CsvTable table = parse_json_table(std::move(content), name);
    if (const std::string note = match_names(table, columns.needed); !note.empty()) tell(note);
    return read_rows(pipeline, table, keys);
  }
  if (!has_header(content, name, columns)) {
    std::vector<Example> examples = read_lines(pipeline, content, name, keys);
    check_first_line(pipeline, examples, name);
    tell_notes(pipeline, examples, name);
    return examples;
  }
  return read_rows(pipeline, parse_input_table(std::move(content), name, columns), keys);
}

/// Nothing is left out without being said.
void tell_cuts(const std::vector<Example>& examples) {
  int64_t inputs = 0, tokens = 0;
  for (const Example& example : examples) inputs += example.cut > 0, tokens += example.cut;
  if (inputs > 0)
    std::cerr << format_count(inputs) << " of " << format_count(int64_t(examples.size()))
              << " inputs were longer than this run reads and lost " << format_count(tokens)
              << " tokens\n";
}

/// `fovea predict RUN new.csv`: what is on the command line is the file itself. Paths of pictures
/// and sounds are inputs.
bool names_a_file(const Pipeline& pipeline, const InputFlags& flags) {
  if (!flags.file.empty() || flags.inputs.size() != 1) return false;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(flags.inputs[0], ignored)) return false;
  for (const Json& property : pipeline.task().input_schema().value("properties", Json::object()))
    if (property.is_object() && property.contains("contentMediaType")) return false;
  return true;
}

std::vector<Example> read_all(const Pipeline& pipeline, InputFlags flags,
                              std::vector<KeyColumn>& keys) {
  if (names_a_file(pipeline, flags)) flags.file = flags.inputs[0], flags.inputs.clear();
  std::vector<Example> examples;
  for (const std::string& input : flags.inputs) {
    add_keys(input, keys);
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
  const std::vector<Example> more = read_file_of_inputs(pipeline, file, keys);
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
  for (const std::string& key : keys) inputs.keys.push_back({key, {}});
  inputs.examples = read_all(pipeline, flags, inputs.keys);
  tell_cuts(inputs.examples);
  return inputs;
}

std::vector<Example> read_inputs(const Pipeline& pipeline, const InputFlags& flags) {
  return read_keyed_inputs(pipeline, flags, {}).examples;
}

}  // namespace fovea::cli
