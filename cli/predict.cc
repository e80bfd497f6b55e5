#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/tasks/nearest.h"

namespace fovea::cli {

namespace {

struct PredictFlags {
  InputFlags inputs;
  std::string run, device = "cpu", corpus;
  std::vector<std::string> assignments, columns;
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

/// Answers as they come, from a file or a pipe of any size.
void stream_answers(const Pipeline& pipeline, const PredictFlags& flags) {
  const std::string& file = flags.inputs.file;
  const StreamReport report = pipeline.task().stream(
      pipeline.model(), file.empty() || file == "-" ? "/dev/stdin" : file, flags.json, put_line);
  for (const std::string& note : report.notes) tell(note);
  std::cerr << format_count(report.predictions) << " predictions in "
            << format_duration(report.seconds) << ": "
            << format_count(int64_t(double(report.predictions) / std::max(report.seconds, 1e-9)))
            << " a second\n";
}

/// What the user typed, without the JSON around it.
std::string text_of(const Example& query) {
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
    if (!flags.json) put_line(text_of(queries[i]));
    for (const Neighbour& neighbour : found[i]) {
      const int64_t number = corpus.numbers[size_t(neighbour.index)];
      const std::string& text = corpus.texts[size_t(neighbour.index)];
      if (flags.json)
        neighbours.push_back({{"number", number}, {"cosine", neighbour.cosine}, {"text", text}});
      else
        put_line(concat("  ", format_number(neighbour.cosine, 4), "\t", number, "\t", text));
    }
    answers.push_back({{"text", text_of(queries[i])}, {"nearest", std::move(neighbours)}});
  }
  if (flags.json)
    std::cout << Json{{"queries", answers}, {"metrics", metrics_json(metrics)}}.dump() << "\n";
  else if (!metrics.empty())
    std::cout << metrics_text(metrics) << "\n";
}

void run_predict(const PredictFlags& flags) {
  require(!flags.corpus.empty() || flags.columns.empty(), ErrorKind::InvalidArgument,
          "--columns names the text of --nearest CORPUS; without that it means nothing");
  const Pipeline pipeline = Pipeline::load(flags.run, flags.device, flags.assignments);
  for (const std::string& note : pipeline.notes()) tell(note);
  const bool has_stream = !flags.inputs.file.empty() || !::isatty(STDIN_FILENO);
  if (pipeline.task().streams() && flags.inputs.inputs.empty() && has_stream)
    return stream_answers(pipeline, flags);
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
      "a text, a row such as 0.1,0.2,… in the order of the file's columns, or a JSON object");
  command->add_option("--input", flags->inputs.file,
                      "one input a line, or a table with a header; - is standard input");
  command->add_option("--nearest", flags->corpus,
                      "pretrain: the texts of this file (one a line, or a text column) whose "
                      "embeddings are nearest; with inputs {\"text\": …, \"relevant\": [3, 17]} "
                      "also the recall");
  command->add_option("--k", flags->k, "how many of the nearest")->check(CLI::PositiveNumber);
  command->add_option("--columns", flags->columns, "of a table to search: text=name")
      ->delimiter(',');
  command->add_option("--device", flags->device, "cpu or cuda");
  add_decoding_flag(*command, flags->assignments);
  command->add_flag("--json", flags->json,
                    "answers as one JSON list; of a trace, one object a line");
  command->footer(
      "Examples:\n  fovea predict runs/first 0.1,0.7,0.4,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6\n"
      "  fovea predict runs/dates \"Saturday 9 May 2018\" --set decoding.method=beam\n"
      "  fovea predict all-MiniLM-L6-v2 \"a man eats\" --nearest sentences.txt --k 3\n"
      "  fovea predict runs/trace --input program.trace.gz");
  command->callback([flags] { run_predict(*flags); });
}

}  // namespace fovea::cli
