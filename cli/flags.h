// Flags that mean the same in every command that has them.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "fovea/explain/draw/terminal.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tasks/setup.h"

namespace fovea::cli {

/// What decides a training: task, data, and every option.
struct TrainFlags {
  std::string task, data, source, target_text, config, target;
  std::vector<std::string> columns, assignments, locales;
  std::optional<std::string> direction, from;
  std::optional<int64_t> seed, epochs, threads;
  std::optional<std::string> device, precision, time;
  std::optional<double> validation_fraction;
  bool quiet = false, json = false, strict = false;
};

void add_train_flags(CLI::App& command, TrainFlags& flags);
/// Those of them that name the task's data; `fovea prepare` has only these.
void add_data_flags(CLI::App& command, TrainFlags& flags);

/// Checks of a flag's number, whose errors say what is expected; CLI11's own name the largest
/// double.
CLI::Validator above_zero();
CLI::Validator zero_or_more();

/// "90", "60s", "5m" or "1.5h" in seconds. InvalidArgument for anything else.
double parse_duration(const std::string& text);

/// Config first, then the named flags, then --set.
Setup make_setup(const TrainFlags& flags);

/// Where a run's rows come from when they are not its own.
struct RowFlags {
  std::string run, data, source, target_text, split, target;
  std::vector<std::string> columns, assignments;
  std::string device = "cpu";
  bool json = false;
  /// What choose_rows() found: whether the rows are of the run's own data, and which of them the
  /// model was trained on without that being asked for: "320 of these 400 rows were trained on".
  bool own_data = false;
  std::string trained_on = {};
};

/// --set and --threads for a run that is already trained.
void add_decoding_flag(CLI::App& command, std::vector<std::string>& assignments);

/// --threshold and --no-calibration: how the answers of classes are given.
void add_answer_flags(CLI::App& command, std::vector<std::string>& assignments);

void add_row_flags(CLI::App& command, RowFlags& flags);

/// The rows of the named split, or of test, or of validation; says which in `split`.
std::shared_ptr<Dataset> choose_rows(Pipeline& pipeline, RowFlags& flags);

/// InvalidArgument where an output is the file of an input, under whatever name.
void check_no_input(const std::string& out, std::initializer_list<std::string> inputs);

/// --columns and --target together.
std::vector<std::string> roles_of(const std::vector<std::string>& columns,
                                  const std::string& target);

/// Width and colours of the user's terminal; plain text of 80 columns when there is none.
TerminalOptions user_terminal();

/// "accuracy 0.9310  auc 0.9872".
std::string metrics_text(const Metrics& metrics);
Json metrics_json(const Metrics& metrics);

/// `text` cut at commas that stand outside brackets.
std::vector<std::string> split_values(const std::string& text);

/// `wanted`, or the first of base, base-2, base-3, … that does not exist.
std::filesystem::path output_folder(const std::string& wanted, const std::string& base);

}  // namespace fovea::cli
