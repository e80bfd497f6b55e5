#include "cli/mistakes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "fovea/base/error.h"
#include "fovea/tasks/setup.h"
#include "fovea/tasks/train.h"

namespace fovea::cli {

namespace {

using Words = std::vector<std::string>;

/// What other programs call our commands, flags and options.
const std::map<std::string, std::string> kOtherCommands{
    {"fit", "train"},         {"eval", "evaluate"}, {"test", "evaluate"}, {"infer", "predict"},
    {"run", "predict"},       {"plot", "explain"},  {"show", "explain"},  {"visualize", "explain"},
    {"visualise", "explain"}, {"list", "tasks"},    {"models", "tasks"},  {"check", "doctor"},
    {"search", "tune"},       {"sweep", "tune"},    {"monitor", "board"}, {"tensorboard", "board"},
    {"sample", "generate"}};
const std::map<std::string, std::string> kOtherFlags{{"o", "out"},
                                                     {"output", "out"},
                                                     {"output-dir", "out"},
                                                     {"save", "out"},
                                                     {"save-dir", "out"},
                                                     {"e", "epochs"},
                                                     {"n-epochs", "epochs"},
                                                     {"num-epochs", "epochs"},
                                                     {"q", "quiet"},
                                                     {"silent", "quiet"},
                                                     {"label", "target"},
                                                     {"y", "target"},
                                                     {"label-column", "target"},
                                                     {"gpu", "device"},
                                                     {"cuda", "device"},
                                                     {"s", "seed"},
                                                     {"random-state", "seed"},
                                                     {"val-split", "val-fraction"},
                                                     {"validation-split", "val-fraction"},
                                                     {"test-size", "val-fraction"},
                                                     {"t", "threads"},
                                                     {"workers", "threads"},
                                                     {"num-workers", "threads"},
                                                     {"c", "config"},
                                                     {"i", "input"},
                                                     {"force", "overwrite"},
                                                     {"f", "overwrite"},
                                                     {"continue", "resume"},
                                                     {"cv", "folds"},
                                                     {"cross-validation", "folds"},
                                                     {"kfold", "folds"},
                                                     {"k-fold", "folds"},
                                                     {"p", "port"},
                                                     {"j", "jobs"}};
const std::map<std::string, std::string> kOtherOptions{
    {"lr", "learning_rate"},    {"bs", "batch_size"},
    {"batch", "batch_size"},    {"wd", "weight_decay"},
    {"l2", "weight_decay"},     {"hidden_size", "hidden"},
    {"hidden_dim", "hidden"},   {"hidden_layers", "hidden"},
    {"units", "hidden"},        {"model", "name"},
    {"arch", "name"},           {"num_layers", "layers"},
    {"n_layers", "layers"},     {"num_heads", "heads"},
    {"n_heads", "heads"},       {"optim", "optimiser"},
    {"optimizer", "optimiser"}, {"beam", "beam_size"},
    {"max_length", "longest"},  {"class_weight", "class_weights"}};
/// Flags elsewhere for what stands here behind the task or the run.
const std::set<std::string> kDataFlags{"data",          "dataset", "file",     "train-data",
                                       "training-data", "test",    "test-data"};

std::string found_in(const std::map<std::string, std::string>& table, const std::string& word) {
  const auto found = table.find(word);
  return found == table.end() ? "" : found->second;
}

/// A flag as it was typed: its name without dashes and value, and what follows it.
struct TypedFlag {
  std::string typed;  // "--lr"
  std::string name;   // "lr"
  std::string value;  // of --lr=0.1, or of --lr 0.1; "" where nothing follows
};

bool is_flag(const std::string& argument) {
  const size_t letter = argument.find_first_not_of('-');
  return (letter == 1 || letter == 2) && std::isalpha(static_cast<unsigned char>(argument[letter]));
}

TypedFlag flag_at(const Words& arguments, size_t at) {
  const std::string& argument = arguments[at];
  const size_t equals = std::min(argument.find('='), argument.size());
  TypedFlag flag{argument.substr(0, equals), "", ""};
  flag.name = flag.typed.substr(flag.typed.find_first_not_of('-'));
  if (equals < argument.size())
    flag.value = argument.substr(equals + 1);
  else if (at + 1 < arguments.size() && !is_flag(arguments[at + 1]))
    flag.value = arguments[at + 1];
  return flag;
}

std::string with_underscores(std::string word) {
  std::replace(word.begin(), word.end(), '-', '_');
  return word;
}

Words flags_of(const CLI::App& command) {
  Words flags;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

/// The options of the task that the arguments name, or of the task of the run.
std::optional<Setup> setup_named(const Words& arguments) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (is_flag(arguments[i])) continue;
    try {
      for (const TaskRow& row : task_table())
        if (row.name == arguments[i]) return Setup(row.name);
      if (RunFolder(arguments[i]).holds_run()) return setup_of_run(RunFolder(arguments[i]));
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// "training.learning_rate" for lr. Of several keys that end so, training comes first.
std::string key_ending_in(const OptionList& list, const std::string& word) {
  std::string best;
  const auto rank = [](const std::string& key) {
    constexpr const char* kGroups[] = {"training.", "model.", "data.", "decoding."};
    return std::find_if(std::begin(kGroups), std::end(kGroups),
                        [&](const char* group) { return key.starts_with(group); }) -
           std::begin(kGroups);
  };
  for (const Option& option : list.options()) {
    const std::string& key = option.key();
    if (key.substr(key.rfind('.') + 1) != word && with_underscores(key) != word) continue;
    if (best.empty() || rank(key) < rank(best)) best = key;
  }
  return best;
}

/// "--set training.learning_rate=0.1" for a flag that is an option of the task, or "".
std::string assignment_for(Setup& setup, const TypedFlag& flag) {
  const std::string word = with_underscores(flag.name);
  const std::string value = flag.value.empty() ? "VALUE" : flag.value;
  const std::string other = found_in(kOtherOptions, word);
  const auto key_in = [&](const OptionList& list) {
    const std::string key = word == "model" ? "model.name" : key_ending_in(list, word);
    return key.empty() && !other.empty() ? key_ending_in(list, other) : key;
  };
  const std::string own = key_in(setup.options());
  if (!own.empty()) return concat("--set ", own, "=", value);
  for (const std::string& model : setup.task().option_lists()) {
    Setup with_model(setup.task_name());
    with_model.set("model.name", model);
    if (const std::string key = key_in(with_model.options()); !key.empty())
      return concat("--set model.name=", model, " --set ", key, "=", value);
  }
  return "";
}

/// The flag of the command that was meant, or "": called otherwise elsewhere, cut short, or
/// mistyped.
std::string meant_flag(const CLI::App& command, const TypedFlag& flag) {
  const Words flags = flags_of(command);
  const auto has = [&](const std::string& name) {
    return std::find(flags.begin(), flags.end(), name) != flags.end();
  };
  std::string name = flag.name;
  std::replace(name.begin(), name.end(), '_', '-');
  if (has("--" + name)) return "--" + name;
  if (const std::string other = "--" + found_in(kOtherFlags, name); has(other)) return other;
  Words longer;
  for (const std::string& known : flags)
    if (name.size() > 1 && known.starts_with("--" + name)) longer.push_back(known);
  return longer.size() == 1 ? longer[0] : nearest("--" + name, flags);
}

/// Of a flag for the data, which is no flag here: where it stands. Else "".
std::string place_of_data(const CLI::App& command, const TypedFlag& flag) {
  const std::string name = command.get_name();
  const bool has_inputs = command.get_option_no_throw("inputs") != nullptr,
             has_data = command.get_option_no_throw("data") != nullptr;
  if (!has_inputs && !has_data) return "";
  if (!kDataFlags.contains(flag.name) && !(has_data && flag.name == "input")) return "";
  const bool has_task = command.get_option_no_throw("task") != nullptr;
  return concat("; the file stands behind the ", has_task ? "task" : "run", ": fovea ", name,
                has_task ? " TASK " : " RUN ", flag.value.empty() ? "FILE" : flag.value);
}

std::string unknown_flag(const CLI::App& command, const Words& arguments, const TypedFlag& flag) {
  const std::string name = command.get_name();
  const std::string meant = meant_flag(command, flag);
  const std::string refusal = concat("fovea ", name, " has no flag ", flag.typed);
  if (const std::string place = place_of_data(command, flag); !place.empty())
    return refusal + place;
  const bool can_set = command.get_option_no_throw("--set") != nullptr;
  if (found_in(kOtherFlags, flag.name).empty() && can_set)
    if (std::optional<Setup> setup = setup_named(arguments))
      if (const std::string assignment = assignment_for(*setup, flag); !assignment.empty())
        return concat(refusal, "; it is an option: ", assignment);
  if (!meant.empty()) {
    const bool on_gpu = meant == "--device" && flag.name != "device";
    return concat(refusal, " (did you mean ", meant, on_gpu ? " cuda" : "", "?)");
  }
  return concat(refusal, "; `fovea ", name, " --help` lists its flags",
                can_set ? ", `fovea tasks TASK` the options for --set" : "");
}

Words command_names(const CLI::App& program) {
  Words names;
  for (const CLI::App* command : program.get_subcommands(
           std::function<bool(const CLI::App*)>([](const CLI::App*) { return true; })))
    names.push_back(command->get_name());
  return names;
}

std::string unknown_command(const CLI::App& program, const std::string& word) {
  const Words names = command_names(program);
  const std::string other = found_in(kOtherCommands, word);
  for (const TaskRow& row : task_table())
    if (row.name == word)
      return concat("'", word, "' is a task; write: fovea train ", word, " (or evaluate, …)");
  return concat("there is no command '", shorten_bytes(word, 100), "'",
                other.empty() ? suggestion(word, names) : concat(" (did you mean '", other, "'?)"),
                "; the commands are: ", join(names));
}

/// The words of CLI11, and where the nearest of a set of choices is among them.
std::string plain_message(const CLI::App& command, const CLI::ParseError& error) {
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  const size_t open = message.find(" not in {"), close = message.find('}');
  if (open != std::string::npos && close != std::string::npos) {
    const size_t word = message.rfind(' ', open - 1) + 1;
    message += suggestion(message.substr(word, open - word),
                          split(message.substr(open + 9, close - open - 9), ','));
  }
  return concat("fovea ", command.get_name(), ": ", message, "; `fovea ", command.get_name(),
                " --help` shows how");
}

}  // namespace

/// A flag in the place of another's value.
std::string missing_value(const CLI::App& program, const Words& arguments) {
  const Words names = command_names(program);
  const auto place =
      std::find_first_of(arguments.begin(), arguments.end(), names.begin(), names.end());
  if (place == arguments.end()) return "";
  const CLI::App& command = *program.get_subcommand(*place);
  for (auto one = place; one != arguments.end() && *one != "--"; ++one) {
    const auto next = std::next(one);
    if (!is_flag(*one) || next == arguments.end() || !is_flag(*next) || !next->starts_with("--"))
      continue;
    const CLI::Option* option = command.get_option_no_throw(*one);
    if (option && option->get_items_expected_min() > 0)
      return concat(*one, " needs a value, and ", *next,
                    " is a flag; a value that looks like one: ", *one, "=", *next);
  }
  return "";
}

std::string explain_mistake(const CLI::App& program, const Words& arguments,
                            const CLI::ParseError& error) {
  const auto first = std::find_if_not(arguments.begin(), arguments.end(), is_flag);
  if (first == arguments.end())
    return arguments.empty() ? "name a command, as in: fovea train dates --out runs/dates; `fovea "
                               "--help` lists them"
                             : concat("fovea has no flag ", arguments[0],
                                      "; name a command first: `fovea --help` lists them");
  const Words names = command_names(program);
  const bool flag_first = first != arguments.begin();
  auto place = first;
  if (flag_first)  // its value may stand before the command
    place = std::find_first_of(arguments.begin(), arguments.end(), names.begin(), names.end());
  const bool known =
      place != arguments.end() && std::find(names.begin(), names.end(), *place) != names.end();
  if (!known) return unknown_command(program, *first);
  if (flag_first)
    return concat("flags stand behind the command: fovea ", *place, " … ",
                  join(Words(arguments.begin(), place), " "));
  const CLI::App& command = *program.get_subcommand(*place);
  const Words own(place, arguments.end());
  for (size_t i = 1; i < own.size() && own[i] != "--"; ++i) {
    if (!is_flag(own[i])) continue;
    const TypedFlag flag = flag_at(own, i);
    if (command.get_option_no_throw(flag.typed) == nullptr) return unknown_flag(command, own, flag);
  }
  return plain_message(command, error);
}

}  // namespace fovea::cli
