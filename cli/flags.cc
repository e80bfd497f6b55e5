#include "cli/flags.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cli/config_file.h"
#include "cli/output.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/base/progress.h"
#include "fovea/base/text.h"
#include "fovea/data/formats/table.h"
#include "fovea/data/input_table.h"
#include "fovea/data/prepared.h"

namespace fovea::cli {

namespace {

constexpr const char* kBadShare = "data.max_bad_share";

void add_assignments(CLI::App& command, std::vector<std::string>& assignments, const char* help) {
  command.add_option("--set", assignments, help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// Two parallel files come instead of DATA, and together.
void check_parallel(const std::string& data, const std::string& source,
                    const std::string& target_text) {
  require(source.empty() == target_text.empty(), ErrorKind::InvalidArgument,
          "two parallel files are named together: --source FILE --target-text FILE");
  require(source.empty() || data.empty(), ErrorKind::InvalidArgument,
          "give either DATA or --source and --target-text");
}

/// Empty where `text` is a number that fits.
std::string refuse_number(const std::string& text, const char* expected, bool (*fits)(double)) {
  double value = 0;
  if (parse_number(text, value) && fits(value)) return {};
  return concat("expected a number ", expected, ", found ", text);
}

/// A run in the place of data would be read as a folder without files.
void check_is_data(const std::string& data) {
  require(data.empty() || !RunFolder(data).holds_run(), ErrorKind::InvalidArgument, data,
          ": is a run, not data; give a file or a folder of data (to go on with the run: fovea "
          "train TASK --out ",
          data, " --resume)");
}

/// Rows of the data that the run learned from, by its hash: those of another split than the run's
/// own, which a file without splits gives as a whole, were trained on in part.
void find_training_rows(const RunFolder& run, const std::string& hash, int64_t rows,
                        RowFlags& flags) {
  flags.own_data = flags.data.empty() && flags.source.empty();
  if (!std::filesystem::exists(run.manifest())) return;
  const Json manifest = read_json_file(run.manifest());
  const Field root = Field::root(manifest, run.manifest().string());
  const auto data = root.find("data");
  const auto counts = data ? data->find("rows") : std::nullopt;
  if (!counts || hash.empty() || data->text_or_empty("hash") != hash) return;
  flags.own_data = true;
  const auto own_rows = [&](const char* split) {
    return counts->integer_or(split, 0, 0, INT64_MAX);
  };
  if (flags.split != "train" && own_rows(flags.split.c_str()) == rows) return;
  const int64_t learned =
      own_rows("train") + (root.mark_or("refits", false) ? own_rows("validation") : 0);
  flags.trained_on =
      learned >= rows
          ? concat("these ", format_count(rows), rows == 1 ? " row was" : " rows were")
          : concat(format_count(learned), " of these ", format_count(rows), " rows were");
  flags.trained_on += " trained on";
}

}  // namespace

void add_data_flags(CLI::App& command, TrainFlags& flags) {
  command.add_option("task", flags.task, "which task; `fovea tasks` lists them")->required();
  command.add_option("data", flags.data,
                     "file (plain or .gz), prepared file, or a folder with train and val files; "
                     "none: built-in data");
  command.add_option("--source", flags.source, "parallel text files: the sources, one a line");
  command.add_option("--target-text", flags.target_text, "parallel text files: the targets");
  command.add_option("--direction", flags.direction,
                     "translate: from which language to which, de-en");
  command.add_option("--locales", flags.locales, "dates: ICU locales such as en,de,fr, or all")
      ->delimiter(',');
  command.add_option("--target", flags.target, "column to predict");
  command.add_option("--columns", flags.columns, "columns by role: role=name,…")->delimiter(',');
  command
      .add_option("--val-fraction", flags.validation_fraction,
                  "share of rows held out when the data has no validation split")
      ->check(CLI::Range(0.0, 0.99));
  command.add_flag("--strict", flags.strict,
                   "pictures, sounds: stop at the first file that cannot be read "
                   "(data.max_bad_share=0)");
  command.add_option("--seed", flags.seed, "decides weights, order and split");
  command.add_option("--config", flags.config,
                     "JSON file with options (comments allowed), or settings by name: tutorial");
  add_assignments(command, flags.assignments,
                  "one option, key=value; `fovea tasks TASK` lists the keys");
}

void add_train_flags(CLI::App& command, TrainFlags& flags) {
  add_data_flags(command, flags);
  command.add_option("--from", flags.from,
                     "documents, tag, pretrain, language: run or Hugging Face folder whose network "
                     "and tokeniser to begin with");
  command.add_option(
      "--epochs", flags.epochs,
      "passes over the training rows, at most (default: as many as suit the rows); 0: none");
  command.add_option("--time", flags.time,
                     "end after so long with the best weights so far: 90s, 5m, 1h");
  command.add_option("--threads", flags.threads, "CPU threads; 0: one per processor");
  command.add_option("--device", flags.device, "cpu or cuda");
  command.add_option("--precision", flags.precision, "float32, tf32 or bf16 (training.precision)");
  add_answer_flags(command, flags.assignments);
  command.add_flag("--quiet", flags.quiet, "no progress on standard error");
  command.add_flag("--json", flags.json, "the result as one JSON value");
}

std::vector<std::string> roles_of(const std::vector<std::string>& columns,
                                  const std::string& target) {
  std::vector<std::string> roles = columns;
  if (!target.empty()) roles.push_back("target=" + target);
  return roles;
}

CLI::Validator above_zero() {
  return {[](std::string& text) {
            return refuse_number(text, "above 0", [](double x) { return x > 0; });
          },
          "POSITIVE"};
}

CLI::Validator zero_or_more() {
  return {[](std::string& text) {
            return refuse_number(text, "of 0 or more", [](double x) { return x >= 0; });
          },
          "NONNEGATIVE"};
}

double parse_duration(const std::string& text) {
  const size_t end = text.find_first_not_of("0123456789.");
  const std::string unit = end == std::string::npos ? "s" : text.substr(end);
  const double seconds = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  double number = 0;
  require(seconds > 0 && parse_number(text.substr(0, end), number) && number > 0,
          ErrorKind::InvalidArgument, "--time ", text, ": expected a time such as 90s, 5m or 1h");
  return number * seconds;
}

Setup make_setup(const TrainFlags& flags) {
  Setup setup(flags.task);
  if (!flags.config.empty() && !std::filesystem::exists(flags.config) &&
      flags.config.find_first_of("./") == std::string::npos) {
    setup.use_config(flags.config);
  } else if (!flags.config.empty()) {
    Json config = read_config_file(flags.config);
    if (config.is_object() && config.contains("task")) {
      require(config["task"] == flags.task, ErrorKind::InvalidArgument, flags.config,
              ": is for the task ", config["task"].dump(), ", not ", flags.task);
      config.erase("task");
    }
    if (config.is_object()) config.erase("format_version");  // a run's config.json works too
    setup.merge(config, flags.config);
  }
  check_parallel(flags.data, flags.source, flags.target_text);
  check_is_data(flags.data);
  setup.set_source(flags.source.empty() ? flags.data : flags.source,
                   roles_of(flags.columns, flags.target), flags.target_text);
  const auto set = [&](const char* key, const auto& value) { setup.set(key, concat(value)); };
  if (flags.from) setup.set_from(*flags.from);
  if (flags.seed) set("seed", *flags.seed);
  if (flags.epochs) set("training.epochs", *flags.epochs);
  if (flags.time) set("training.seconds", format_exact(parse_duration(*flags.time)));
  if (flags.threads) set("threads", *flags.threads);
  if (flags.device) set("device", *flags.device);
  if (flags.precision) set("training.precision", *flags.precision);
  if (flags.direction) set("data.direction", *flags.direction);
  if (!flags.locales.empty()) set("data.locales", join(flags.locales, ","));
  if (flags.validation_fraction)
    set("data.validation_fraction", format_exact(*flags.validation_fraction));
  if (flags.strict) {
    require(setup.options().has(kBadShare), ErrorKind::InvalidArgument, "--strict: ", flags.task,
            " reads no pictures or sounds of which some could be left out");
    setup.set(kBadShare, "0");
  }
  for (const std::string& assignment : flags.assignments) setup.set(assignment);
  setup.task().loading = progress_bar;
  return setup;
}

void add_decoding_flag(CLI::App& command, std::vector<std::string>& assignments) {
  add_assignments(command, assignments,
                  "how outputs are searched for, for example decoding.method=beam");
  command.add_option_function<int64_t>(
      "--threads",
      [&assignments](int64_t count) { assignments.push_back(concat("threads=", count)); },
      "CPU threads; 0: one per processor");
}

void add_answer_flags(CLI::App& command, std::vector<std::string>& assignments) {
  command.add_option_function<std::string>(
      "--threshold",
      [&assignments](const std::string& rule) {
        assignments.push_back("output.threshold=" + rule);
      },
      "two classes: from which probability on the second is the answer: 0.3, f1, youden, "
      "cost=FP:FN, precision=0.9 or recall=0.9, chosen on the validation rows");
  command.add_flag_callback(
      "--no-calibration", [&assignments] { assignments.emplace_back("output.calibrate=false"); },
      "probabilities as the network gives them, without temperature scaling");
}

void add_row_flags(CLI::App& command, RowFlags& flags) {
  command.add_option("--target", flags.target,
                     "column with the answers, when it is called otherwise than in training");
  command.add_option("--source", flags.source, "parallel text files: the sources, one a line");
  command.add_option("--target-text", flags.target_text, "parallel text files: the targets");
  add_decoding_flag(command, flags.assignments);
  add_answer_flags(command, flags.assignments);
  command.add_option("--columns", flags.columns, "columns by role: role=name,…")->delimiter(',');
  command
      .add_option("--split", flags.split,
                  "train, validation or test (default: test if there is one, else validation)")
      ->check(CLI::IsMember({"train", "validation", "test"}));
  command.add_option("--device", flags.device, "cpu or cuda");
  command.add_flag("--json", flags.json, "the result as one JSON value");
}

void check_no_input(const std::string& out, std::initializer_list<std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code none;  // of the two is there
    require(input.empty() || !std::filesystem::equivalent(out, input, none),
            ErrorKind::InvalidArgument, "--out ", out,
            ": is an input, which would be lost; give another name");
  }
}

/// Columns of a file that the run does not know, where its reader said nothing of them.
void tell_unknown_columns(const Pipeline& pipeline, const std::string& path,
                          const std::vector<std::string>& roles,
                          const std::vector<std::string>& said) {
  const InputColumns columns = pipeline.task().input_columns(
      roles.empty() ? pipeline.setup().source().roles : parse_roles(roles));
  const bool has_header = std::filesystem::is_regular_file(path) && !is_prepared(path) &&
                          is_csv_name(path) && plain_ending(path) != ".txt";
  if (columns.needed.empty() || !has_header) return;
  CsvTable head = CsvStream(path).head();
  std::vector<std::string> all = columns.needed;
  all.insert(all.end(), columns.known.begin(), columns.known.end());
  match_names(head, all);
  for (const std::string& name : columns.needed)
    if (head.find(name) < 0) return;  // no header
  const std::string note = unknown_columns_note(head, {}, all);
  if (!note.empty() && std::ranges::find(said, note) == said.end()) tell(note);
}

std::shared_ptr<Dataset> choose_rows(Pipeline& pipeline, RowFlags& flags) {
  check_parallel(flags.data, flags.source, flags.target_text);
  check_is_data(flags.data);
  pipeline.setup().task().loading = progress_bar;
  const std::string& path = flags.source.empty() ? flags.data : flags.source;
  const std::vector<std::string> roles = roles_of(flags.columns, flags.target);
  const Splits splits = pipeline.load_data(path, roles, flags.target_text);
  if (!path.empty()) {  // of the run's own data training said them
    for (const std::string& note : splits.notes) tell(note);
    tell_unknown_columns(pipeline, path, roles, splits.notes);
  }
  const std::pair<const char*, std::shared_ptr<Dataset>> named[] = {
      {"test", splits.test}, {"validation", splits.validation}, {"train", splits.train}};
  const bool asked_for_training = flags.split == "train";
  for (const auto& [name, rows] : named) {
    if (!rows || (!flags.split.empty() && flags.split != name)) continue;
    flags.split = name;
    find_training_rows(pipeline.folder(), splits.hash, rows->size(), flags);
    if (asked_for_training) flags.trained_on.clear();
    return rows;
  }
  fail(ErrorKind::NotFound, "the data has no ",
       flags.split.empty() ? "rows" : flags.split + " rows");
}

TerminalOptions user_terminal() {
  TerminalOptions options;
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  winsize size{};
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    options.width = size.ws_col;
  options.colour = terminal && std::getenv("NO_COLOR") == nullptr;
  return options;
}

std::string metrics_text(const Metrics& metrics) {
  std::string text;
  for (const Metric& metric : metrics)
    text += concat(text.empty() ? "" : "  ", metric.name, " ", format_number(metric.value, 4));
  return text;
}

Json metrics_json(const Metrics& metrics) {
  Json json = Json::object();
  for (const Metric& metric : metrics) json[metric.name] = metric.value;
  return json;
}

std::vector<std::string> split_values(const std::string& text) {
  std::vector<std::string> values{""};
  int depth = 0;
  for (char character : text) {
    depth += character == '[' ? 1 : character == ']' ? -1 : 0;
    if (character == ',' && depth == 0)
      values.emplace_back();
    else
      values.back() += character;
  }
  return values;
}

std::filesystem::path output_folder(const std::string& wanted, const std::string& base) {
  if (!wanted.empty()) return wanted;
  std::filesystem::path folder = base;
  for (int number = 2; std::filesystem::exists(folder); ++number)
    folder = concat(base, "-", number);
  return folder;
}

}  // namespace fovea::cli
