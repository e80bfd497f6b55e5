#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <set>

#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/progress.h"
#include "fovea/data/formats/csv.h"
#include "fovea/tasks/nearest.h"

namespace fovea::cli {

namespace {

struct PredictFlags {
  InputFlags inputs;
  std::string run, device = "cpu", corpus, out;
  std::vector<std::string> assignments, columns, keys;
  int64_t k = 5;
  bool json = false;
};

void print_answers(const Pipeline& pipeline, const std::vector<Example>& examples, bool json) {
  const Task& task = pipeline.setup().task();
  Json answers = Json::array();
  const std::vector<Prediction> predictions = pipeline.predict(examples);
  for (size_t i = 0; i < examples.size(); ++i) {
    if (json)
      answers.push_back(task.answer(examples[i], predictions[i]));
    else
      put_line(task.answer_line(examples[i], predictions[i]));
  }
  if (json) std::cout << answers.dump() << "\n";
}

/// A table of answers, written as its name says.
class AnswerFile {
 public:
  /// Before the work. Unsupported for a name that says nothing; Io where it cannot be written.
  explicit AnswerFile(const std::string& path) : path_(path) {
    const std::string ending = std::filesystem::path(path).extension().string();
    is_json_ = ending == ".jsonl" || ending == ".ndjson";
    delimiter_ = ending == ".tsv" || ending == ".tab" ? '\t' : ',';
    require(is_json_ || delimiter_ == '\t' || ending == ".csv", ErrorKind::Unsupported, "--out ",
            path, ": expected a name that ends in .csv, .tsv or .jsonl");
    check_output_file(path);
  }
  bool is_json() const { return is_json_; }

  /// Columns are those of all rows, in the order in which they first occur.
  void write(const std::vector<Json>& rows) const {
    std::string content;
    if (is_json_) {
      for (const Json& row : rows) content += row.dump() + "\n";
      return write_file(path_, content);
    }
    std::vector<std::string> names;
    std::set<std::string> known;
    for (const Json& row : rows)
      for (const auto& [name, value] : row.items())
        if (known.insert(name).second) names.push_back(name);
    add_line(names, content);
    for (const Json& row : rows) {
      std::vector<std::string> cells;
      for (const std::string& name : names) {
        const auto found = row.find(name);
        cells.push_back(found == row.end() ? "" : cell_text(*found));
      }
      add_line(cells, content);
    }
    write_file(path_, content);
  }

 private:
  static std::string cell_text(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return format_exact(value.get<double>());
    return value.is_null() ? "" : value.dump();
  }
  void add_line(const std::vector<std::string>& cells, std::string& content) const {
    for (size_t i = 0; i < cells.size(); ++i)
      content += (i > 0 ? std::string(1, delimiter_) : "") + quote_csv_cell(cells[i], delimiter_);
    // A line without anything in it would be read as no row.
    if (cells.size() == 1 && cells[0].empty()) content += "\"\"";
    content += "\n";
  }

  std::string path_;
  bool is_json_ = false;
  char delimiter_ = ',';
};

void write_answers(const Pipeline& pipeline, const PredictFlags& flags) {
  const AnswerFile file(flags.out);
  const auto [examples, keys, truths] = read_keyed_inputs(pipeline, flags.inputs, flags.keys);
  const std::vector<Prediction> predictions = pipeline.predict(examples);
  std::vector<Json> rows;
  for (size_t i = 0; i < examples.size(); ++i) {
    Json row = Json::object();
    for (const KeyColumn& key : keys) row[key.name] = key.cells[i];
    const Json answer = pipeline.task().answer_row(examples[i], predictions[i]);
    for (const auto& [name, value] : answer.items()) {
      require(!row.contains(name), ErrorKind::InvalidArgument, "--key ", name,
              ": is also the name of a column of the answers");
      row[name] = value;
    }
    rows.push_back(std::move(row));
  }
  file.write(rows);
  tell(concat(flags.out, ": ", format_count(int64_t(rows.size())),
              rows.size() == 1 ? " answer" : " answers"));
}

/// Answers as they come, from a file or a pipe of any size.
void stream_answers(const Pipeline& pipeline, const PredictFlags& flags) {
  require(flags.keys.empty(), ErrorKind::InvalidArgument,
          "--key: a trace has no columns to take along");
  std::optional<AnswerFile> out;
  if (!flags.out.empty()) out.emplace(flags.out);
  std::vector<Json> rows;
  const auto keep = [&](const std::string& line) {
    rows.push_back(out->is_json() ? parse_json(line, "answer") : Json{{"prediction", line}});
  };
  const std::string& file = flags.inputs.file;
  const StreamReport report =
      pipeline.task().stream(pipeline.model(), file.empty() || file == "-" ? "/dev/stdin" : file,
                             out ? out->is_json() : flags.json,
                             out ? std::function<void(const std::string&)>(keep) : put_line);
  if (out) out->write(rows);
  for (const std::string& note : report.notes) tell(note);
  std::cerr << format_count(report.predictions) << " predictions in "
            << format_duration(report.seconds) << ": "
            << format_count(int64_t(double(report.predictions) / std::max(report.seconds, 1e-9)))
            << " a second\n";
}

/// What the user typed, without the JSON around it.
std::string query_text(const Example& query) {
  return query.axis("tokens").text;
}

void print_nearest(const Pipeline& pipeline, const std::vector<Example>& queries,
                   const PredictFlags& flags) {
  const SearchCorpus corpus = read_search_corpus(flags.corpus, parse_roles(flags.columns));
  for (const std::string& note : corpus.notes) tell(note);
  const at::Tensor asked = embed(pipeline, queries);  // [Q, D]
  Progress progress("embedding", int64_t(corpus.texts.size()), "texts", /*quiet=*/false);
  const at::Tensor known =
      embed(pipeline, corpus.texts, [&](int64_t done) { progress.update(done); });  // [N, D]
  progress.finish();
  const auto found = nearest_neighbours(asked, known, flags.k);
  std::vector<std::vector<int64_t>> relevant;
  for (const Example& query : queries) relevant.push_back(relevant_of(query.given));
  const Metrics metrics = measure_retrieval(found, corpus, relevant, flags.k);
  Json answers = Json::array();
  for (size_t i = 0; i < queries.size(); ++i) {
    Json neighbours = Json::array();
    if (!flags.json) put_line(query_text(queries[i]));
    for (const Neighbour& neighbour : found[i]) {
      const int64_t number = corpus.numbers[size_t(neighbour.index)];
      const std::string& text = corpus.texts[size_t(neighbour.index)];
      if (flags.json)
        neighbours.push_back({{"number", number}, {"cosine", neighbour.cosine}, {"text", text}});
      else
        put_line(concat("  ", format_number(neighbour.cosine, 4), "\t", number, "\t", text));
    }
    answers.push_back({{"text", query_text(queries[i])}, {"nearest", std::move(neighbours)}});
  }
  if (flags.json)
    std::cout << Json{{"queries", answers}, {"metrics", metrics_json(metrics)}}.dump() << "\n";
  else if (!metrics.empty())
    std::cout << metrics_text(metrics) << "\n";
}

void run_predict(const PredictFlags& flags) {
  require(!flags.corpus.empty() || flags.columns.empty(), ErrorKind::InvalidArgument,
          "--columns names the text of --nearest CORPUS; without that it means nothing");
  require(flags.out.empty() || flags.corpus.empty(), ErrorKind::InvalidArgument,
          "--out writes answers; --nearest prints what it finds");
  require(flags.keys.empty() || !flags.out.empty(), ErrorKind::InvalidArgument,
          "--key names a column to write beside the answers; give --out FILE too");
  const Pipeline pipeline = Pipeline::load(flags.run, flags.device, flags.assignments);
  for (const std::string& note : pipeline.notes()) tell(note);
  check_no_input(flags.out, {flags.inputs.file});
  for (const std::string& input : flags.inputs.inputs) check_no_input(flags.out, {input});
  const bool has_stream = !flags.inputs.file.empty() || !::isatty(STDIN_FILENO);
  if (pipeline.task().streams() && flags.inputs.inputs.empty() && has_stream)
    return stream_answers(pipeline, flags);
  if (!flags.out.empty()) return write_answers(pipeline, flags);
  const std::vector<Example> examples = read_inputs(pipeline, flags.inputs);
  if (flags.corpus.empty())
    print_answers(pipeline, examples, flags.json);
  else
    print_nearest(pipeline, examples, flags);
}

}  // namespace

void add_predict(CLI::App& program) {
  CLI::App* command = program.add_subcommand("predict", "answers for raw inputs, one a line");
  auto flags = std::make_shared<PredictFlags>();
  command->add_option("run", flags->run, "folder made by fovea train, or a Hugging Face folder")
      ->required();
  command->add_option(
      "inputs", flags->inputs.inputs,
      "a text, a row such as 0.1,0.2,… in the order of the file's columns, a JSON object; or the "
      "name of a file of such");
  command->add_option("--input", flags->inputs.file,
                      "one input a line, or a table with a header; - is standard input");
  command->add_option("--out", flags->out,
                      "file for the answers, a row each: .csv, .tsv (with a header) or .jsonl");
  command
      ->add_option("--key", flags->keys,
                   "column of the inputs to write beside the answers; give it again for more")
      ->delimiter(',')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--nearest", flags->corpus,
                      "pretrain: the texts of this file (one a line, or a text column) whose "
                      "embeddings are nearest; with inputs {\"text\": …, \"relevant\": [3, 17]} "
                      "also the recall");
  command->add_option("--k", flags->k, "how many of the nearest")->check(above_zero());
  command->add_option("--columns", flags->columns, "of a table to search: text=name")
      ->delimiter(',');
  command->add_option("--device", flags->device, "cpu or cuda");
  add_decoding_flag(*command, flags->assignments);
  add_answer_flags(*command, flags->assignments);
  command->add_flag("--json", flags->json,
                    "answers as one JSON list; of a trace, one object a line");
  command->footer(
      "Examples:\n"
      "  fovea predict runs/first 0.1,0.7,0.4,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6\n"
      "  fovea predict runs/first --input data/mine/val.csv --out answers.csv\n"
      "  fovea predict runs/tag \"Anna lives in Paris\"");
  command->callback([flags] { run_predict(*flags); });
}

}  // namespace fovea::cli
