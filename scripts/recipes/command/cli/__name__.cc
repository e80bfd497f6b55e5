#include <iostream>

#include "cli/program.h"
#include "fovea/tasks/pipeline.h"

namespace fovea::cli {

void add___name__(CLI::App& program) {
  CLI::App* command = program.add_subcommand("__name__", "how many numbers a run has learned");
  const auto run = std::make_shared<std::string>();
  command->add_option("run", *run, "folder made by fovea train")->required();
  command->footer("Example:  fovea __name__ runs/first");
  command->callback([run] {
    std::cout << format_count(count_parameters(Pipeline::load(*run).model())) << "\n";
  });
}

}  // namespace fovea::cli
