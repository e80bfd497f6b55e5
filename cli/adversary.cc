#include <cmath>
#include <filesystem>
#include <iostream>

#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/progress.h"
#include "fovea/explain/draw/chart.h"
#include "fovea/tasks/trained_adversary.h"

namespace fovea::cli {

namespace {

struct AdversaryFlags : RowFlags {
  AdversaryRequest request;
  std::string out;
  bool no_uniform = false, quiet = false;
};

Json point_json(const AdversaryPoint& point, const std::vector<std::string>& maps) {
  Json json{{"lambda", point.strength},
            {"tvd", point.distance},
            {"jsd", point.divergence},
            {"agreement", point.agreement},
            {"metrics", metrics_json(point.metrics)}};
  for (size_t i = 0; i < maps.size(); ++i) json["jsd_by_map"][maps[i]] = point.by_map[i];
  return json;
}

Json result_json(const AdversaryResult& result) {
  Json json{{"rows", result.rows},
            {"maps", result.maps},
            {"largest_jsd", std::log(2.0)},
            {"base", {{"metrics", metrics_json(result.base)}}},
            {"points", Json::array()}};
  for (const AdversaryPoint& point : result.points)
    json["points"].push_back(point_json(point, result.maps));
  const AdversaryPoint* farthest = result.farthest();
  json["farthest"] = farthest ? point_json(*farthest, result.maps) : Json();
  if (!result.uniform.empty()) json["uniform"] = {{"metrics", metrics_json(result.uniform)}};
  return json;
}

/// The first metric in which higher is better: accuracy, where there is one.
std::string main_metric(const AdversaryResult& result) {
  for (const Metric& metric : result.base)
    if (metric.higher_is_better) return metric.name;
  return result.base.empty() ? "" : result.base.front().name;
}

std::string value_of(const Metrics& metrics, const std::string& name) {
  const Metric* metric = find_metric(metrics, name);
  return metric ? format_number(metric->value, 4) : "-";
}

TextTable result_table(const AdversaryResult& result) {
  const std::string metric = main_metric(result);
  std::vector<std::string> header{"network", "TVD of answers", "JSD of attention"};
  if (result.maps.size() > 1)
    for (const std::string& map : result.maps) header.push_back("JSD " + map);
  header.insert(header.end(), {"same answer", metric});
  TextTable table(header);
  const size_t blank = header.size() - 2;
  const auto add = [&](const std::string& name, const Metrics& metrics) {
    std::vector<std::string> row(header.size(), "-");
    row.front() = name;
    row.back() = value_of(metrics, metric);
    table.add(std::move(row));
  };
  add("this run", result.base);
  for (const AdversaryPoint& point : result.points) {
    std::vector<std::string> row{concat("lambda ", format_number(point.strength, 4)),
                                 format_number(point.distance, 3),
                                 format_number(point.divergence, 3)};
    if (result.maps.size() > 1)
      for (const double divergence : point.by_map) row.push_back(format_number(divergence, 3));
    row.push_back(format_number(point.agreement, 4));
    row.push_back(value_of(point.metrics, metric));
    require(row.size() == blank + 2, ErrorKind::Internal, "adversary: a row of ", row.size());
    table.add(std::move(row));
  }
  if (!result.uniform.empty()) add("equal weights", result.uniform);
  return table;
}

std::string verdict(const AdversaryResult& result) {
  const AdversaryPoint* farthest = result.farthest();
  if (!farthest)
    return concat("no second network learned to answer as this run does (TVD at most ",
                  kSameAnswers, ", ", 100 * kSameShare, " % the same): train longer with --epochs");
  std::string text =
      concat("a network with the same answers (TVD ", format_number(farthest->distance, 3),
             ") has attention that differs by a JSD of ", format_number(farthest->divergence, 3),
             " of at most ", format_number(std::log(2.0), 2));
  for (const AdversaryPoint& point : result.points)
    if (point.strength == 0 && &point != farthest)
      text += concat("; other first weights alone make ", format_number(point.divergence, 3));
  return text;
}

LineChart result_chart(const AdversaryResult& result, const std::string& title) {
  LineChart chart;
  chart.title = title;
  chart.x_label = "lambda";
  chart.y_label = "mean over the rows";
  LineSeries answers{"TVD of answers", {}, {}}, attention{"JSD of attention", {}, {}};
  for (const AdversaryPoint& point : result.points) {
    chart.x_ticks.push_back(format_number(point.strength, 4));
    answers.values.push_back(point.distance);
    attention.values.push_back(point.divergence);
  }
  chart.series = {attention, answers};
  chart.notes.push_back(verdict(result));
  return chart;
}

void run_adversary(AdversaryFlags& flags) {
  if (!flags.out.empty()) check_output_file(flags.out);
  Pipeline pipeline = Pipeline::load(flags.run, flags.device, flags.assignments);
  const auto rows = choose_rows(pipeline, flags);
  const Splits own = pipeline.load_data("");
  require(own.train != nullptr, ErrorKind::BadData, flags.run,
          ": its data has no training rows, which a second network learns from");
  catch_interrupts();
  flags.request.uniform = !flags.no_uniform;
  flags.request.should_stop = was_interrupted;
  const AdversarySubject subject{
      pipeline.model(),
      [&] { return pipeline.task().make_model(); },
      *own.train,
      *rows,
      pipeline.setup().training(),
      [&](const Model& model) { return pipeline.task().measure(model, *rows); }};
  std::unique_ptr<Progress> progress;  // of the training that runs
  int64_t running = -1;
  const int64_t trainings =
      int64_t(flags.request.strengths.size()) + (flags.request.uniform ? 1 : 0);
  const int64_t epochs = flags.request.epochs > 0 ? flags.request.epochs : subject.training.epochs;
  flags.request.progress = [&](int64_t training, int64_t done, double loss) {
    if (training != running)
      progress = std::make_unique<Progress>(concat("network ", training + 1, " of ", trainings),
                                            epochs * own.train->size(), "rows", flags.quiet);
    running = training;
    progress->update(done, concat("loss ", format_number(loss, 4)));
  };
  const AdversaryResult result = train_adversaries(subject, flags.request);
  progress.reset();
  const auto folder = std::filesystem::absolute(flags.run).lexically_normal();
  const std::string name = (folder.has_filename() ? folder : folder.parent_path()).filename();
  Json json = result_json(result);
  json["task"] = pipeline.task_name();
  json["split"] = flags.split;
  json["seed"] = flags.request.seed;
  json["verdict"] = verdict(result);
  if (std::filesystem::path(flags.out).extension() == ".json")
    write_json_file(flags.out, json);
  else if (!flags.out.empty())
    write_chart(result_chart(result, concat("a second network for ", name)), flags.out);
  if (flags.json) {
    std::cout << json.dump() << "\n";
    return;
  }
  std::cout << result_table(result).plain();
  put_line(verdict(result));
}

}  // namespace

void add_adversary(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "adversary", "trains second networks that answer as a run does and look elsewhere");
  auto flags = std::make_shared<AdversaryFlags>();
  command->add_option("run", flags->run, "folder made by fovea train")->required();
  command->add_option("data", flags->data, "rows to measure on; none: the run's own");
  command
      ->add_option("--lambda", flags->request.strengths,
                   "weights of the attention's divergence, a network each (default "
                   "0,0.001,0.01,0.1,1; 0: other first weights alone)")
      ->delimiter(',')
      ->check(zero_or_more());
  command
      ->add_option("--epochs", flags->request.epochs,
                   "of each network (default: as many as the run)")
      ->check(above_zero());
  command->add_option("--seed", flags->request.seed, "of their first weights (default 1)");
  command->add_flag("--no-uniform", flags->no_uniform,
                    "leave out the network that learns the data with equal weights");
  command->add_option("--out", flags->out, "also write .svg, .png (the curve) or .json");
  command->add_flag("--quiet", flags->quiet, "no progress on standard error");
  add_row_flags(*command, *flags);
  command->footer(
      "Examples:\n"
      "  fovea adversary runs/first --lambda 0,0.1 --epochs 3\n"
      "  fovea adversary runs/first --lambda 0.1 --epochs 1 --no-uniform --out curve.svg\n"
      "  fovea adversary runs/first --lambda 0.01 --epochs 1 --no-uniform --json");
  command->callback([flags] { run_adversary(*flags); });
}

}  // namespace fovea::cli
