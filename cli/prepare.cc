#include <iostream>

#include "cli/flags.h"
#include "cli/output.h"
#include "cli/program.h"
#include "fovea/core/error.h"

namespace fovea::cli {

void add_prepare(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "prepare", "reads and tokenises once, into one file that trains on any machine");
  auto flags = std::make_shared<TrainFlags>();
  auto out = std::make_shared<std::string>();
  add_data_flags(*command, *flags);
  command->add_option("--out", *out, "file to write, for example pairs.safetensors")->required();
  command->footer(
      "Example:  fovea prepare translate pairs.tsv --set data.tokens=bpe --out pairs.safetensors\n"
      "          fovea train translate pairs.safetensors --out runs/pairs");
  command->callback([=] {
    Setup setup = make_setup(*flags);
    setup.task().prepare(setup.source(), static_cast<uint64_t>(setup.common().seed), *out);
    put_line(*out);
  });
}

}  // namespace fovea::cli
