#include <iostream>

#include "cli/program.h"
#include "fovea/base/text.h"
#include "fovea/tasks/catalogue.h"

namespace fovea::cli {

namespace {

/// What may follow a command: its flags, and names of tasks where it takes one.
struct CompletedCommand {
  std::string name, help;
  std::vector<std::string> words;
};

std::vector<CompletedCommand> completed_commands(const CLI::App& program) {
  std::vector<std::string> tasks;
  for (const TaskRow& row : task_table()) tasks.push_back(row.name);
  std::vector<CompletedCommand> commands;
  for (const CLI::App* command : program.get_subcommands(
           std::function<bool(const CLI::App*)>([](const CLI::App*) { return true; }))) {
    CompletedCommand own{command->get_name(), command->get_description(), {}};
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) own.words.push_back("--" + name);
      if (option->get_positional() && option->get_name() == "task")
        own.words.insert(own.words.end(), tasks.begin(), tasks.end());
    }
    commands.push_back(std::move(own));
  }
  return commands;
}

std::string bash_script(const std::vector<CompletedCommand>& commands) {
  std::string cases, names;
  for (const CompletedCommand& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    cases += concat("    ", command.name, ") words=\"", join(command.words, " "), "\" ;;\n");
  }
  return concat("_fovea() {\n  local words=\"", names,
                "\" word=${COMP_WORDS[COMP_CWORD]}\n"
                "  [ \"$COMP_CWORD\" -gt 1 ] && case ${COMP_WORDS[1]} in\n",
                cases,
                "  esac\n"
                "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                "}\n"
                "complete -o default -F _fovea fovea\n");
}

/// zsh runs the functions of bash.
std::string zsh_script(const std::vector<CompletedCommand>& commands) {
  return concat("autoload -U +X bashcompinit && bashcompinit\n", bash_script(commands));
}

std::string fish_script(const std::vector<CompletedCommand>& commands) {
  std::string script;
  for (const CompletedCommand& command : commands) {
    script += concat("complete -c fovea -n __fish_use_subcommand -a ", command.name, " -d \"",
                     command.help, "\"\n");
    script += concat("complete -c fovea -n '__fish_seen_subcommand_from ", command.name, "' -a '",
                     join(command.words, " "), "'\n");
  }
  return script;
}

}  // namespace

void add_completion(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "completion", "prints what makes a shell complete commands, flags and tasks");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n"
      "  fovea completion bash\n"
      "  fovea completion zsh\n"
      "  fovea completion fish\n"
      "In ~/.bashrc or ~/.zshrc:  eval \"$(fovea completion bash)\"");
  command->callback([&program, shell] {
    const auto commands = completed_commands(program);
    std::cout << (*shell == "bash"  ? bash_script(commands)
                  : *shell == "zsh" ? zsh_script(commands)
                                    : fish_script(commands));
  });
}

}  // namespace fovea::cli
