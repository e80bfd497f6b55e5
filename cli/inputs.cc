#include "cli/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "cli/media.h"
#include "cli/output.h"
#include "fovea/base/error.h"
#include "fovea/data/formats/bytes.h"
#include "fovea/data/input_table.h"

namespace fovea::cli {

namespace {

constexpr int64_t kMostBytes = int64_t{1} << 30;

std::string content_of(const std::string& file) {
  if (file != "-") return read_text(file, kMostBytes).content;
  return decode_text({std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()},
                     "standard input");
}

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

std::vector<Example> read_lines(const Pipeline& pipeline, const std::string& content,
                                const std::string& name) {
  std::vector<Example> examples;
  for (const InputRecord& record : records_of(pipeline, content)) {
    try {
      examples.push_back(parse(pipeline, std::string(record.text)));
    } catch (const Error& error) {
      fail(error.kind(), name, ":", record.line, ": ", error.what());
    }
  }
  return examples;
}

std::vector<Example> read_file_of_inputs(const Pipeline& pipeline, const std::string& file) {
  std::string content = content_of(file);
  const std::string name = file == "-" ? "standard input" : file;
  require(!content.empty() && (!trim(content).empty() || pipeline.task().takes_plain_text()),
          ErrorKind::BadData, name, ": is empty");
  const InputColumns& columns = pipeline.input_columns();
  if (columns.needed.empty()) return read_lines(pipeline, content, name);
  if (!columns.texts) check_csv_text(content, name);
  if (!has_header(content, name, columns)) return read_lines(pipeline, content, name);
  const CsvTable table = parse_input_table(std::move(content), name, columns);
  const std::string note = unknown_columns_note(table, columns.needed, columns.known);
  if (!note.empty()) tell(note);
  return pipeline.task().parse_table(table, columns);
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

std::vector<Example> read_all(const Pipeline& pipeline, const InputFlags& flags) {
  std::vector<Example> examples;
  for (const std::string& input : flags.inputs) examples.push_back(parse(pipeline, input));
  std::string file = flags.file;
  if (flags.inputs.empty() && file.empty() && !::isatty(STDIN_FILENO)) file = "-";
  if (file.empty()) {
    require(!examples.empty(), ErrorKind::InvalidArgument,
            "there is no input; give one, or --input FILE, or pipe lines into standard input");
    return examples;
  }
  const std::vector<Example> more = read_file_of_inputs(pipeline, file);
  examples.insert(examples.end(), more.begin(), more.end());
  return examples;
}

}  // namespace

std::vector<Example> read_inputs(const Pipeline& pipeline, const InputFlags& flags) {
  std::vector<Example> examples = read_all(pipeline, flags);
  tell_cuts(examples);
  return examples;
}

}  // namespace fovea::cli
