#include <algorithm>
#include <iostream>

#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/media.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/query_key.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/names.h"
#include "fovea/base/progress.h"
#include "fovea/data/formats/npz.h"
#include "fovea/data/prepared.h"
#include "fovea/explain/draw/picture.h"
#include "fovea/explain/draw/report.h"
#include "fovea/explain/draw/terminal.h"
#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/explain/import/import.h"
#include "fovea/explain/record/edge_table.h"
#include "fovea/explain/record/json.h"
#include "fovea/explain/record/stability.h"

namespace fovea::cli {

namespace {

constexpr int64_t kRowsMeasured = 200;   // of a data set, when faithfulness is asked for
constexpr int64_t kRowsInOverview = 50;  // in a report that nobody asked to measure more

struct ExplainFlags : RowFlags {
  InputFlags inputs;
  std::vector<std::string> out, with, without;
  std::string weights, labels, truth, query_key;
  std::optional<std::string> flip;  // the axis, may be empty
  std::optional<int64_t> most;      // units of the set
  ImportOptions import;
  std::optional<bool> faithfulness;  // unset: reports have it
  int64_t adversary = 0;             // steps of the search for other weights
  std::optional<int64_t> rows;
  bool exact = false, quiet = false;
};

bool ends_in(const std::string& path, const char* ending) {
  return std::filesystem::path(path).extension() == ending;
}

bool writes(const ExplainFlags& flags, const char* ending) {
  return std::any_of(flags.out.begin(), flags.out.end(),
                     [&](const std::string& path) { return ends_in(path, ending); });
}

bool wants_faithfulness(const ExplainFlags& flags) {
  return flags.faithfulness.value_or(writes(flags, ".html"));
}

/// Up to `count` examples, evenly spread over the rows.
std::vector<Example> spread_examples(const Dataset& rows, int64_t count) {
  std::vector<Example> examples;
  count = std::min(count, rows.size());
  for (int64_t i = 0; i < count; ++i) examples.push_back(rows.example(i * rows.size() / count));
  return examples;
}

std::vector<Faithfulness> measure(const Pipeline& pipeline, std::span<const Example> examples,
                                  const ExplainFlags& flags) {
  Progress progress("faithfulness", int64_t(examples.size()), "examples", flags.quiet);
  FaithfulnessOptions options;
  options.progress = [&](int64_t done) { progress.update(done); };
  options.adversary_steps = flags.adversary;
  std::vector<Faithfulness> judged = measure_faithfulness(pipeline, examples, options);
  progress.finish();
  return judged;
}

/// Whether a file of this name is the data of a task whose inputs are files too.
bool is_data_file(const std::filesystem::path& path) {
  const std::string ending = plain_ending(path);
  return ending == ".csv" || ending == ".tsv" || ending == ".tab" || is_prepared(path);
}

/// `fovea explain RUN DATA --faithfulness`: what could be an input is the name of data, unless it
/// is a picture or a sound and the task takes those.
void find_data(const Task& task, ExplainFlags& flags) {
  if (flags.inputs.inputs.size() != 1 || !flags.data.empty() || !flags.faithfulness) return;
  const std::string& input = flags.inputs.inputs[0];
  std::error_code too_long;  // for a name, where it is a text
  if (!std::filesystem::exists(input, too_long)) return;
  const bool is_folder = std::filesystem::is_directory(input, too_long);
  if (!is_folder && takes_media(task.input_schema()) && !is_data_file(input)) return;
  flags.data = flags.inputs.inputs[0];
  flags.inputs.inputs.clear();
}

/// The whole data: the overview, and whether it shows what the model used.
Explanation explain_rows(Pipeline& pipeline, ExplainFlags& flags) {
  require(flags.import.layers.empty() && flags.import.heads.empty(), ErrorKind::InvalidArgument,
          "--layers and --heads choose among the maps of an input; give an input");
  require(flags.without.empty() && !flags.flip, ErrorKind::InvalidArgument,
          "--without and --flip take units away from an input; give an input");
  const auto rows = choose_rows(pipeline, flags);
  Explanation explanation = pipeline.overview(*rows);
  if (!flags.with.empty())
    fail(ErrorKind::InvalidArgument, "--with compares runs on one input; give an input");
  if (wants_faithfulness(flags)) {
    const int64_t count = flags.rows.value_or(flags.faithfulness ? kRowsMeasured : kRowsInOverview);
    explanation.faithfulness = measure(pipeline, spread_examples(*rows, count), flags);
  }
  return explanation;
}

/// The mean over runs of the same output: how far does each weight move from seed to seed?
Explanation over_seeds(const Pipeline& pipeline, const Example& example, const HeadChoice& heads,
                       const std::vector<Pipeline>& others) {
  const Prediction prediction = pipeline.predict({&example, 1})[0];
  std::vector<Explanation> explanations{pipeline.explain(example, prediction, heads)};
  const Explanation own = explanations.front();
  for (const Pipeline& other : others)
    explanations.push_back(other.explain(other.parse(example.given), prediction, heads));
  Explanation mean = mean_over_seeds(explanations);
  mean.prediction = concat(own.prediction, "; ", mean.prediction);
  mean.input = own.input;
  mean.answer = own.answer;
  mean.shares = own.shares;
  mean.truth = own.truth;
  mean.axes = own.axes;
  mean.media = own.media;
  return mean;
}

using Taken = std::pair<Example, std::optional<TakenAway>>;

/// --flip: without the smallest set of units found that changes the answer.
Taken take_smallest_away(const Pipeline& pipeline, const Example& whole,
                         const ExplainFlags& flags) {
  FlipOptions options;
  options.axis = *flags.flip;
  options.most = flags.most.value_or(options.most);
  std::optional<Progress> progress;
  options.progress = [&](int64_t done, int64_t most) {
    if (!progress) progress.emplace("smallest change", most, "predictions at most", flags.quiet);
    progress->update(done);
  };
  const Flip flip = pipeline.find_flip(whole, options);
  if (progress) progress->finish();
  if (flip.away.units.empty()) {
    tell(concat(flip.most == 1 ? "no single unit" : concat("no set of up to ", flip.most, " units"),
                " of the axis '", flip.away.axis, "' changes the answer (",
                format_count(flip.predictions), " predictions)"));
    return {whole, {}};
  }
  auto [left, without] = pipeline.take_away(whole, {{flip.away}});
  without.predictions = flip.predictions;
  return {left, without};
}

/// The input without the units that --without names.
Taken take_away(const Pipeline& pipeline, const Example& whole, const ExplainFlags& flags) {
  if (flags.flip) return take_smallest_away(pipeline, whole, flags);
  if (flags.without.empty()) return {whole, {}};
  std::vector<AxisUnits> away;
  for (const std::string& text : flags.without) away.push_back(parse_away(text, whole));
  return pipeline.take_away(whole, away);
}

std::vector<Explanation> explain_inputs(const Pipeline& pipeline, const ExplainFlags& flags) {
  std::vector<Pipeline> others;
  for (const std::string& run : flags.with) {
    others.push_back(Pipeline::load(run, flags.device, flags.assignments));
    require(others.back().task_name() == pipeline.task_name(), ErrorKind::InvalidArgument, run,
            ": is a run of the task ", others.back().task_name(), ", not ", pipeline.task_name());
  }
  const bool all_heads =
      flags.json || writes(flags, ".html") || writes(flags, ".json") || writes(flags, ".csv");
  HeadChoice heads(all_heads ? Heads::All : Heads::Mean);
  heads.layers = flags.import.layers;
  heads.heads = flags.import.heads;
  std::vector<Explanation> explanations;
  const KeyedInputs inputs = read_keyed_inputs(pipeline, flags.inputs, {});
  require(flags.truth.empty() || inputs.examples.size() == 1, ErrorKind::InvalidArgument,
          "--truth is the right answer of one input; of a table name the column as training did");
  for (size_t i = 0; i < inputs.examples.size(); ++i) {
    const auto [example, without] = take_away(pipeline, inputs.examples[i], flags);
    const Prediction prediction = pipeline.predict({&example, 1}).front();
    explanations.push_back(others.empty() ? pipeline.explain(example, prediction, heads)
                                          : over_seeds(pipeline, example, heads, others));
    const std::string& truth = inputs.truths.empty() ? flags.truth : inputs.truths[i];
    if (!truth.empty()) pipeline.tell_truth(explanations.back(), prediction, truth);
    if (wants_faithfulness(flags))
      explanations.back().faithfulness = measure(pipeline, {&example, 1}, flags);
    explanations.back().without = without;
  }
  return explanations;
}

/// One weight, by dimension: as a table, and as bars where a picture is wanted. A report and .json
/// are of the whole explanation, with that weight's making in it.
void explain_one_weight(const Pipeline& pipeline, const ExplainFlags& flags) {
  const KeyedInputs inputs = read_keyed_inputs(pipeline, flags.inputs, {});
  require(inputs.examples.size() == 1 && flags.with.empty(), ErrorKind::InvalidArgument,
          "--query-key is about one input and one run");
  const auto [example, without] = take_away(pipeline, inputs.examples[0], flags);
  Explanation whole = pipeline.explain(example, Heads::All);
  whole.without = without;
  const QueryKey made =
      pipeline.explain_weight(example, parse_weight_place(flags.query_key, whole));
  const Json json = query_key_to_json(made);
  for (const std::string& path : flags.out) {
    const bool is_whole = ends_in(path, ".html") || ends_in(path, ".json");
    Explanation shown = is_whole ? whole : picture_of(made, whole);
    shown.query_keys = Json::array({json});
    if (ends_in(path, ".html"))
      write_report(path, {&shown, 1});
    else
      write_picture(shown, path);
  }
  std::cout << (flags.json ? json.dump() + "\n" : query_key_table(made));
}

void write_all(const std::vector<Explanation>& explanations, const ExplainFlags& flags) {
  for (const std::string& path : flags.out) {
    if (ends_in(path, ".html")) {
      write_report(path, explanations);
      continue;
    }
    require(explanations.size() == 1, ErrorKind::InvalidArgument, path,
            ": holds one picture, there are ", explanations.size(),
            " inputs; a report (.html) holds all of them");
    if (ends_in(path, ".csv"))
      write_file(path, edge_table(explanations.front()));
    else if (ends_in(path, ".json") && flags.exact)
      write_explanation(path, explanations.front(), Exactness::Exact);
    else
      write_picture(explanations.front(), path);
  }
  Json list = Json::array();
  for (const Explanation& explanation : explanations) {
    if (flags.json)
      list.push_back(
          explanation_to_json(explanation, flags.exact ? Exactness::Exact : Exactness::Shown));
    else
      std::cout << render_terminal(explanation, user_terminal());
  }
  if (flags.json) std::cout << (list.size() == 1 ? list[0] : list).dump() << "\n";
}

void run_explain(ExplainFlags& flags) {
  for (const std::string& path : flags.out) {
    check_output_file(path);
    check_no_input(path, {flags.inputs.file, flags.data, flags.source, flags.target_text,
                          flags.weights, flags.labels});
    for (const std::string& input : flags.inputs.inputs) check_no_input(path, {input});
  }
  require(flags.adversary == 0 || (wants_faithfulness(flags) && flags.weights.empty()),
          ErrorKind::InvalidArgument,
          "--adversary is one of the measures of faithfulness; add --faithfulness",
          flags.weights.empty() ? "" : ", which needs a run in place of --weights");
  require(flags.without.empty() || (!flags.flip && flags.with.empty()), ErrorKind::InvalidArgument,
          "--without says itself what is taken away, of one run: leave out ",
          flags.flip ? "--flip" : "--with");
  require(!flags.flip || flags.with.empty(), ErrorKind::InvalidArgument,
          "--flip looks for what changes the answer of one run; leave out --with");
  require(flags.flip || !flags.most, ErrorKind::InvalidArgument,
          "--flip-most says how large a set --flip may find; add --flip");
  if (!flags.weights.empty()) {
    require(flags.without.empty() && !flags.flip, ErrorKind::InvalidArgument,
            "--without and --flip ask a run again; --weights has none");
    require(flags.run.empty(), ErrorKind::InvalidArgument,
            "--weights shows a file of weights; leave the run out");
    write_all({import_file(flags.weights, flags.labels, flags.import,
                           [](const std::filesystem::path& path) { return read_npz(path); })},
              flags);
    return;
  }
  require(!flags.run.empty(), ErrorKind::InvalidArgument,
          "name a run, as fovea explain runs/first, or a file: fovea explain --weights FILE");
  Pipeline pipeline = Pipeline::load(flags.run, flags.device, flags.assignments);
  for (const std::string& note : pipeline.notes()) tell(note);
  find_data(pipeline.task(), flags);
  const bool has_input = !flags.inputs.inputs.empty() || !flags.inputs.file.empty();
  require(flags.query_key.empty() || has_input, ErrorKind::InvalidArgument,
          "--query-key is about a weight of one input; give an input");
  if (!flags.query_key.empty())
    explain_one_weight(pipeline, flags);
  else if (!has_input)
    write_all({explain_rows(pipeline, flags)}, flags);
  else
    write_all(explain_inputs(pipeline, flags), flags);
}

}  // namespace

void add_explain(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("explain", "draws where a run looks: over its data, or for one input");
  auto flags = std::make_shared<ExplainFlags>();
  command->add_option("run", flags->run, "folder made by fovea train");
  command->add_option("inputs", flags->inputs.inputs, "inputs to explain; none: the whole data");
  command->add_option("--input", flags->inputs.file, "file with inputs; - is standard input");
  command->add_option("--data", flags->data, "file or folder instead of the run's own data");
  command->add_option(
      "--out", flags->out,
      "also write .html (a report that needs nothing else), .svg, .png, .json, or of a "
      "graph .csv: a line per edge");
  command->add_flag_callback(
      "--faithfulness", [flags] { flags->faithfulness = true; },
      "measure whether the picture shows what the model used; reports do so unless they are told "
      "not to");
  command->add_flag_callback(
      "--no-faithfulness", [flags] { flags->faithfulness = false; }, "leave that out of a report");
  command
      ->add_option("--adversary", flags->adversary,
                   "with --faithfulness: so many steps of a search for other weights with the same "
                   "answer; 500 as in the paper (default 0: none)")
      ->check(zero_or_more());
  command->add_option("--truth", flags->truth,
                      "the right answer of the input, shown beside that of the run; of a table of "
                      "inputs the column that training learned is taken");
  command->add_option(
      "--query-key", flags->query_key,
      "what one weight is made of: [MAP.]LAYER.HEAD:QUERY,KEY, as 2.1:5,7; layers, heads and units "
      "count from 1, units may be labels; what there is only one of may be left out");
  command->add_option("--rows", flags->rows, "rows of the data to measure (default 200)")
      ->check(above_zero());
  command->add_option("--with", flags->with,
                      "further runs of the same task, other seeds: the interval of each weight");
  command
      ->add_option("--without", flags->without,
                   "take units away from the input first, AXIS:UNIT,UNIT: labels, or places as #3; "
                   "may be repeated")
      ->allow_extra_args(false);
  command->add_flag_callback(
      "--flip", [flags] { flags->flip.emplace(); },
      "look for the smallest set of units without which the answer is another one, and show it");
  command->add_option_function<std::string>(
      "--flip-axis", [flags](const std::string& axis) { flags->flip = axis; },
      "the same among the units of this axis; else of the first that can lose some");
  command->add_option("--flip-most", flags->most, "units that such a set may have (default 10)")
      ->check(above_zero());
  command->add_option("--weights", flags->weights,
                      "show attention from elsewhere: .json, .safetensors or .npz; no run then");
  command->add_option("--labels", flags->labels,
                      "labels for --weights: a file, or texts with commas between them");
  command->add_option("--batch", flags->import.batch, "--weights: row of the batch, from 0");
  command
      ->add_option("--dimensions", flags->import.dimensions,
                   "--weights: what the dimensions are: layers, batch, heads, queries, keys")
      ->delimiter(',');
  command->add_option("--tensors", flags->import.tensors, "--weights: only these, by name")
      ->delimiter(',');
  command
      ->add_option("--layers", flags->import.layers,
                   "only these, from 1; of an input or of --weights")
      ->delimiter(',')
      ->check(above_zero());
  command->add_option("--heads", flags->import.heads, "only these, from 1, likewise")
      ->delimiter(',')
      ->check(above_zero());
  command->add_flag("--exact", flags->exact, "large maps in .json as float32, not within 0.4 %");
  command->add_flag("--quiet", flags->quiet, "no progress on standard error");
  add_row_flags(*command, *flags);
  command->footer(
      "Examples:\n"
      "  fovea explain runs/first --out report.html\n"
      "  fovea explain runs/first 0.1,0.7,0.4,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6 --out row.svg\n"
      "  fovea explain runs/tag \"Anna lives in Paris\" --faithfulness\n"
      "  fovea explain runs/tag \"Anna lives in Paris\" --without words:Anna\n"
      "  fovea explain runs/tag \"Anna lives in Paris\" --flip\n"
      "  fovea explain runs/tag \"Anna lives in Paris\" --query-key 1:4,1 --out weight.svg");
  command->callback([flags] { run_explain(*flags); });
}

}  // namespace fovea::cli
