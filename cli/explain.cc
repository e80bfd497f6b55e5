#include <iostream>

#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/program.h"
#include "fovea/core/error.h"
#include "fovea/explain/json.h"
#include "fovea/explain/picture.h"
#include "fovea/explain/terminal.h"

namespace fovea::cli {

namespace {

struct Flags : RowFlags {
  InputFlags inputs;
  std::vector<std::string> out;
};

void run(Flags& flags) {
  Pipeline pipeline = Pipeline::load(flags.run, flags.device, flags.assignments);
  std::vector<Explanation> explanations;
  if (flags.inputs.inputs.empty() && flags.inputs.file.empty()) {
    explanations.push_back(pipeline.overview(*choose_rows(pipeline, flags)));
  } else {
    for (const Example& example : read_inputs(pipeline, flags.inputs))
      explanations.push_back(pipeline.explain(example));
    require(explanations.size() == 1 || flags.out.empty(), ErrorKind::InvalidArgument,
            "--out holds one picture, there are ", explanations.size(),
            " inputs; explain them one by one");
  }
  for (const std::string& path : flags.out) write_picture(explanations.front(), path);
  Json list = Json::array();
  for (const Explanation& explanation : explanations) {
    if (flags.json)
      list.push_back(explanation_to_json(explanation));
    else
      std::cout << render_terminal(explanation, terminal_of_user());
  }
  if (flags.json) std::cout << (list.size() == 1 ? list[0] : list).dump() << "\n";
}

}  // namespace

void add_explain(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("explain", "draws where a run looks: over its data, or for one input");
  auto flags = std::make_shared<Flags>();
  command->add_option("run", flags->run, "folder made by fovea train")->required();
  command->add_option("inputs", flags->inputs.inputs, "an input to explain; none: the whole data");
  command->add_option("--input", flags->inputs.file, "file with the input; - is standard input");
  command->add_option("--data", flags->data, "file or folder instead of the run's own data");
  command->add_option("--out", flags->out, "also write the picture: .svg, .png or .json");
  add_row_flags(*command, *flags);
  command->footer("Example:  fovea explain runs/first --out attention.svg");
  command->callback([flags] { run(*flags); });
}

}  // namespace fovea::cli
