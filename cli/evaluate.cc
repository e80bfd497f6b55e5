#include <iostream>

#include "cli/flags.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/base/progress.h"
#include "fovea/base/text.h"
#include "fovea/explain/draw/report.h"
#include "fovea/explain/record/beside.h"
#include "fovea/tasks/record_rows.h"

namespace fovea::cli {

namespace {

struct EvaluateFlags : RowFlags {
  std::vector<std::string> out;
  std::string beside;  // a second run
  int64_t explain = RecordOptions().explain;
  bool no_faithfulness = false, quiet = false;
};

bool is_page(const std::string& path) {
  return std::filesystem::path(path).extension() == ".html";
}

/// Before the work.
void check_outputs(const Pipeline& pipeline, const EvaluateFlags& flags) {
  for (const std::string& path : flags.out) {
    const bool is_own = flags.data.empty() && flags.source.empty();
    check_no_input(path, {is_own ? pipeline.setup().source().path.string() : flags.data,
                          flags.source, flags.target_text});
    require(is_page(path) || std::filesystem::path(path).extension() == ".json",
            ErrorKind::Unsupported, "--out ", path,
            ": expected a name that ends in .html or .json");
    check_output_file(path);
  }
  if (!flags.out.empty() || !flags.beside.empty()) check_rows_kind(pipeline);
}

/// What the second run answers to the same rows, those of `same`.
RowsRecord record_beside(const Pipeline& pipeline, const EvaluateFlags& flags, RowFlags same) {
  Pipeline other = Pipeline::load(flags.beside, flags.device, flags.assignments);
  require(other.task_name() == pipeline.task_name(), ErrorKind::InvalidArgument, "--beside ",
          flags.beside, ": is a run of the task ", other.task_name(), ", not ",
          pipeline.task_name());
  for (const std::string& note : other.notes()) tell(note);
  const auto rows = choose_rows(other, same);
  Progress answering(concat("answering, ", flags.beside), rows->size(), "rows", flags.quiet);
  RecordOptions options;
  options.explain = 0;
  options.progress = [&](int64_t done) { answering.update(done); };
  RecordedRows recorded = record_rows(other, *rows, options);
  answering.finish();
  return std::move(recorded.record);
}

/// Writes the table of all rows, where one is wanted. What the second run makes of them comes back,
/// and into `evaluation`.
std::optional<BesideCounts> write_rows(const Pipeline& pipeline, const Dataset& rows,
                                       const RowFlags& chosen, Json& evaluation,
                                       const EvaluateFlags& flags) {
  if (flags.out.empty() && flags.beside.empty()) return {};
  RecordOptions options;
  options.explain = flags.out.empty() ? 0 : flags.explain;
  options.faithfulness = !flags.no_faithfulness;
  Progress answering("answering", rows.size(), "rows", flags.quiet);
  options.progress = [&](int64_t done) { answering.update(done); };
  Progress explaining("explaining", std::min(flags.explain, rows.size()), "rows", flags.quiet);
  options.explaining = [&](int64_t done) {
    if (done == 1) answering.finish();
    explaining.update(done);
  };
  RecordedRows recorded = record_rows(pipeline, rows, options);
  answering.finish();
  explaining.finish();
  std::optional<BesideCounts> counts;
  if (!flags.beside.empty()) {
    counts = put_beside(recorded.record, record_beside(pipeline, flags, chosen));
    evaluation["beside"] = counts->to_json();
  }
  recorded.record.data = flags.data.empty() ? flags.source : flags.data;
  recorded.record.split = flags.split;
  recorded.record.evaluation = evaluation;
  recorded.record.notes = pipeline.notes();
  if (evaluation.contains("trained_on"))
    recorded.record.notes.push_back(evaluation["notes"].back().get<std::string>());
  for (const std::string& path : flags.out) {
    write_file(path, is_page(path) ? rows_html(recorded.record, recorded.explanations)
                                   : rows_to_json(recorded.record).dump());
    tell(concat(path, ": ", format_count(rows.size()), rows.size() == 1 ? " row" : " rows"));
  }
  return counts;
}

/// What figures of rows that were trained on are worth, and where better ones are: after --folds
/// those of the folds.
std::string training_warning(const Pipeline& pipeline, const std::string& trained_on) {
  std::string text = concat("warning: ", trained_on,
                            ": the figures say how well the model remembers them, not how well it "
                            "answers new rows");
  const Json manifest = read_json_file(pipeline.folder().manifest());
  const Field root = Field::root(manifest, pipeline.folder().manifest().string());
  const auto folds = root.find("folds");
  if (!folds) return text;
  std::vector<std::string> means;
  folds->at("metrics").each_member([&](const std::string& name, const Field& metric) {
    if (const auto mean = metric.find("mean"))
      means.push_back(concat(name, " ", format_number(mean->number(), 4)));
  });
  return concat(text, "; its ", folds->at("folds").integer(0, INT64_MAX),
                " folds, measured on rows that were not trained on, have on average ", join(means));
}

void run_evaluate(EvaluateFlags& flags) {
  Pipeline pipeline = Pipeline::load(flags.run, flags.device, flags.assignments);
  for (const std::string& note : pipeline.notes()) tell(note);
  check_outputs(pipeline, flags);
  const auto rows = choose_rows(pipeline, flags);
  const RowFlags chosen = flags;
  if (flags.split == "validation" && flags.own_data && flags.trained_on.empty() &&
      pipeline.use_held_out_weights())
    tell(
        "measured with the weights that have not seen these rows; answers come from weights "
        "that were then learned from all rows");
  Evaluation evaluation;
  {
    Progress progress("measuring", rows->size(), "rows", flags.quiet);
    pipeline.setup().task().progress = [&](int64_t done) { progress.update(done); };
    evaluation = pipeline.evaluate(*rows);
    pipeline.setup().task().progress = {};
  }
  std::vector<std::string> notes = pipeline.setup().task().metric_notes(*rows);
  if (!flags.trained_on.empty()) {
    flags.split = "training data";
    notes.push_back(training_warning(pipeline, flags.trained_on));
  }
  Json json{{"task", pipeline.task_name()}, {"split", flags.split}, {"rows", rows->size()}};
  json.update(evaluation.to_json());
  if (!notes.empty()) json["notes"] = notes;
  if (!flags.trained_on.empty()) json["trained_on"] = flags.trained_on;
  if (!pipeline.unfinished().empty()) json["unfinished"] = pipeline.unfinished();
  const std::optional<BesideCounts> counts = write_rows(pipeline, *rows, chosen, json, flags);
  if (flags.json) {
    std::cout << json.dump() << "\n";
    return;
  }
  std::cerr << pipeline.task_name() << ", " << flags.split
            << (flags.trained_on.empty() ? " split, " : ", ") << format_count(rows->size())
            << " rows\n";
  for (const std::string& note : notes) tell(note);
  std::cout << evaluation.text();
  if (counts) std::cout << "\n" << counts->text();
  for (const std::string& remark : evaluation.remarks()) tell(remark);
}

}  // namespace

void add_evaluate(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "evaluate", "metrics of a run on its own data or on a file with the same columns");
  auto flags = std::make_shared<EvaluateFlags>();
  command->add_option("run", flags->run, "folder made by fovea train")->required();
  command->add_option("data", flags->data, "file or folder; none: the run's own data");
  command->add_option("--out", flags->out,
                      "also write the table of all rows: .html (a page that needs nothing else) or "
                      ".json");
  command->add_option("--beside", flags->beside,
                      "a second run of the same task: its answers to the same rows, where the two "
                      "differ and which is right");
  command
      ->add_option("--explain", flags->explain,
                   "of how many rows that table shows where the network looked: half of them the "
                   "worst, half the most surprising (default 20; 0: none)")
      ->check(zero_or_more());
  command->add_flag("--no-faithfulness", flags->no_faithfulness,
                    "with --out: leave out whether those pictures show what the network used");
  command->add_flag("--quiet", flags->quiet, "no progress on standard error");
  add_row_flags(*command, *flags);
  command->footer(
      "Examples:\n"
      "  fovea evaluate runs/first\n"
      "  fovea evaluate runs/first data/mine --split validation\n"
      "  fovea evaluate runs/first --out rows.html\n"
      "  fovea evaluate runs/first data/mine --beside runs/mine --out rows.html\n"
      "  fovea evaluate runs/tag --json");
  command->callback([flags] { run_evaluate(*flags); });
}

}  // namespace fovea::cli
