#include "cli/inputs.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "cli/media.h"
#include "fovea/core/error.h"
#include "fovea/data/readers/bytes.h"

namespace fovea::cli {

namespace {

constexpr int64_t kMostBytes = int64_t{1} << 30;

/// A file that is gone when the object is.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    const int descriptor = ::mkstemp(name_);
    require(descriptor >= 0, ErrorKind::Io, "no temporary file can be made");
    ::close(descriptor);
    write_file(name_, content);
  }
  ~TemporaryFile() { std::remove(name_); }
  const char* name() const { return name_; }

 private:
  char name_[32] = "/tmp/fovea-input-XXXXXX";
};

std::string content_of(const std::string& file) {
  if (file != "-") return read_bytes(file, kMostBytes).content;
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

std::vector<Example> read_table(const Task& task, const std::string& path) {
  const auto rows = task.parse_table(path);
  std::vector<Example> examples;
  for (int64_t row = 0; row < rows->size(); ++row) examples.push_back(rows->example(row));
  return examples;
}

Example parse(const Pipeline& pipeline, const std::string& line) {
  return pipeline.parse(with_media(line, pipeline.task().input_schema()));
}

std::vector<Example> read_lines(const Pipeline& pipeline, const std::string& content,
                                const std::string& name) {
  std::vector<Example> examples;
  int64_t number = 0;
  std::vector<std::string> lines = split(content, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();  // after the last line end
  for (std::string& line : lines) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (trim(line).empty() && !pipeline.setup().task().takes_plain_text()) continue;
    try {
      examples.push_back(parse(pipeline, line));
    } catch (const Error& error) {
      fail(error.kind(), name, ":", number, ": ", error.what());
    }
  }
  return examples;
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
  const std::string content = content_of(file), name = file == "-" ? "standard input" : file;
  require(!content.empty(), ErrorKind::BadData, name, ": is empty");
  const Task& task = pipeline.setup().task();
  const std::string first_line = content.substr(0, content.find_first_of("\r\n"));
  std::vector<Example> more;
  if (!task.is_header(first_line))
    more = read_lines(pipeline, content, name);
  else if (file == "-")
    more = read_table(task, TemporaryFile(content).name());
  else
    more = read_table(task, file);
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
