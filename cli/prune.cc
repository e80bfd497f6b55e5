#include <iostream>

#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/tasks/prune_heads.h"
#include "fovea/tasks/train.h"

namespace fovea::cli {

namespace {

struct PruneFlags {
  std::string run, out, by = "gradient";
  int64_t keep = 0, heads = 0, rows = 100, epochs = 0;
  std::vector<std::string> assignments;
  bool curve = false, json = false, quiet = false, overwrite = false;
};

RunFolder new_folder(const PruneFlags& flags) {
  return RunFolder(output_folder(
      flags.out, std::filesystem::path(flags.run).lexically_normal().string() + "-pruned"));
}

void prune_columns(const PruneFlags& flags) {
  Pipeline before = Pipeline::load(flags.run);
  before.setup().task().loading = progress_bar;
  const Splits splits = before.load_data("");
  const auto judge = splits.validation ? splits.validation : splits.train;
  const Metrics metrics_before = before.measure(*judge);
  const int64_t parameters_before = count_parameters(before.model());

  Setup setup = std::move(before.setup());
  const std::vector<std::string> kept =
      setup.task().keep_most_attended(before.model(), *splits.train, flags.keep);
  RunFolder folder = new_folder(flags);
  catch_interrupts();
  TrainRequest request;
  request.folder = &folder;
  request.overwrite = flags.overwrite;
  request.hooks.should_stop = was_interrupted;
  const Training after = train(setup, request);

  if (flags.json) {
    std::cout << Json{{"run", folder.path().string()},
                      {"kept", kept},
                      {"before",
                       {{"parameters", parameters_before},
                        {"metrics", metrics_json(metrics_before)}}},
                      {"after",
                       {{"parameters", count_parameters(*after.model)},
                        {"metrics", metrics_json(after.validation)}}}}
                     .dump(2)
              << "\n";
    return;
  }
  TextTable table({"", "before", "after"});
  table.add({"parameters", format_count(parameters_before),
             format_count(count_parameters(*after.model))});
  for (const Metric& metric : metrics_before)
    for (const Metric& now : after.validation)
      if (now.name == metric.name)
        table.add({metric.name, format_number(metric.value, 5), format_number(now.value, 5)});
  tell("kept: " + join(kept));
  std::cout << table.plain();
  put_line(folder.path().string());
}

Json stage_json(const PrunedStage& stage) {
  Json json{{"heads", stage.heads},
            {"parameters", stage.parameters},
            {"metrics", metrics_json(stage.metrics)}};
  if (stage.seconds > 0) json["seconds_per_prediction"] = stage.seconds;
  return json;
}

Json pruned_json(const PruneResult& result, const RunFolder& folder) {
  Json json{{"run", folder.path().string()},
            {"pruned_heads", pruned_heads_text(result.gone)},
            {"before", stage_json(result.before)},
            {"pruned", stage_json(result.pruned)}};
  if (result.retrained) json["retrained"] = stage_json(*result.retrained);
  for (const PrunedStage& stage : result.curve) json["curve"].push_back(stage_json(stage));
  return json;
}

/// "-" where the network of that stage has no such metric: without heads there are no maps to
/// measure.
std::string metric_text(const PrunedStage& stage, const std::string& name) {
  const Metric* metric = find_metric(stage.metrics, name);
  return metric ? format_number(metric->value, 5) : "-";
}

/// A column per stage.
TextTable stage_table(const PruneResult& result) {
  std::vector<const PrunedStage*> stages{&result.before, &result.pruned};
  std::vector<std::string> header{"", "before", "pruned"};
  if (result.retrained) stages.push_back(&*result.retrained), header.push_back("retrained");
  TextTable table(header);
  const auto add = [&](const std::string& name, const auto& text) {
    std::vector<std::string> row{name};
    for (const PrunedStage* stage : stages) row.push_back(text(*stage));
    table.add(std::move(row));
  };
  add("heads", [](const PrunedStage& stage) { return format_count(stage.heads); });
  add("parameters", [](const PrunedStage& stage) { return format_count(stage.parameters); });
  for (const Metric& metric : result.before.metrics)
    add(metric.name, [&](const PrunedStage& stage) { return metric_text(stage, metric.name); });
  add("ms per prediction",
      [](const PrunedStage& stage) { return format_number(1000 * stage.seconds, 3); });
  return table;
}

/// A row per share of the heads.
TextTable curve_table(const std::vector<PrunedStage>& curve) {
  std::vector<std::string> header{"heads", "parameters"};
  for (const Metric& metric : curve.front().metrics) header.push_back(metric.name);
  TextTable table(header);
  for (const PrunedStage& stage : curve) {
    std::vector<std::string> row{format_count(stage.heads), format_count(stage.parameters)};
    for (const Metric& metric : curve.front().metrics)
      row.push_back(metric_text(stage, metric.name));
    table.add(std::move(row));
  }
  return table;
}

void prune_heads_of(const PruneFlags& flags) {
  RunFolder folder = new_folder(flags);
  catch_interrupts();
  PruneRequest request;
  request.run = flags.run;
  request.heads = flags.heads;
  request.by_drop = flags.by == "drop";
  request.rows = flags.rows;
  request.epochs = flags.epochs;
  request.curve = flags.curve;
  request.assignments = flags.assignments;
  request.folder = &folder;
  request.overwrite = flags.overwrite;
  request.should_stop = was_interrupted;
  std::unique_ptr<Progress> progress;  // of what is done now
  request.measured = [&](int64_t rows, int64_t total) {
    if (!progress) progress = std::make_unique<Progress>("importance", total, "rows", flags.quiet);
    progress->update(rows);
    if (rows == total) progress.reset();
  };
  request.trained = [&](int64_t rows, int64_t total, double loss) {
    if (!progress) progress = std::make_unique<Progress>("training", total, "rows", flags.quiet);
    progress->update(rows, concat("loss ", format_number(loss, 4)));
  };
  const PruneResult result = prune_run(request);
  progress.reset();
  if (flags.json) {
    std::cout << pruned_json(result, folder).dump(2) << "\n";
    return;
  }
  std::cerr << "taken out: " << pruned_heads_text(result.gone) << "\n";
  if (!result.curve.empty()) std::cout << curve_table(result.curve).plain() << "\n";
  std::cout << stage_table(result).plain();
  put_line(folder.path().string());
}

void run_prune(const PruneFlags& flags) {
  require((flags.keep > 0) != (flags.heads > 0), ErrorKind::InvalidArgument,
          "prune: say either how many columns stay, --keep K, or how many heads go, --heads K");
  require(flags.keep == 0 || (flags.epochs == 0 && !flags.curve && flags.assignments.empty()),
          ErrorKind::InvalidArgument, "prune: --epochs, --curve and --set go with --heads");
  flags.keep > 0 ? prune_columns(flags) : prune_heads_of(flags);
}

}  // namespace

void add_prune(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "prune", "takes out the columns or heads that matter least, and shows what that costs");
  auto flags = std::make_shared<PruneFlags>();
  command->add_option("run", flags->run, "folder made by fovea train")->required();
  command
      ->add_option("--keep", flags->keep,
                   "features: how many columns stay, those that attention looks at most; retrains")
      ->check(above_zero());
  command
      ->add_option("--heads", flags->heads,
                   "Transformer, BERT, LSTM tagger: how many heads go, the least important ones")
      ->check(above_zero());
  command->add_option("--by", flags->by, "importance of heads: gradient, one pass; drop, one each")
      ->check(CLI::IsMember({"gradient", "drop"}));
  command->add_option("--rows", flags->rows, "training rows to measure heads on (default 100)")
      ->check(above_zero());
  command->add_option("--epochs", flags->epochs, "heads: train on so long (default 0)")
      ->check(zero_or_more());
  command->add_option("--set", flags->assignments, "heads: option of that training, key=value")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--curve", flags->curve,
                    "heads: the metrics without 0, 10, 20 … 100 % of them, too");
  command->add_option("--out", flags->out, "folder for the new run (default: RUN-pruned)");
  command->add_flag("--overwrite", flags->overwrite, "replace the run that --out holds");
  command->add_flag("--json", flags->json, "the result as one JSON value");
  command->add_flag("--quiet", flags->quiet, "no progress on standard error");
  command->footer(
      "Examples:\n"
      "  fovea prune runs/first --keep 2\n"
      "  fovea prune runs/first --keep 3 --out runs/three --json\n"
      "  fovea prune runs/tag --heads 1 --rows 20 --out runs/fewer-heads");
  command->callback([flags] { run_prune(*flags); });
}

}  // namespace fovea::cli
