#include <iostream>

#include "cli/flags.h"
#include "cli/inputs.h"
#include "cli/program.h"

namespace fovea::cli {

void add_predict(CLI::App& program) {
  CLI::App* command = program.add_subcommand("predict", "answers for raw inputs, one a line");
  auto inputs = std::make_shared<InputFlags>();
  auto run = std::make_shared<std::string>();
  auto device = std::make_shared<std::string>("cpu");
  auto json = std::make_shared<bool>(false);
  auto assignments = std::make_shared<std::vector<std::string>>();
  command->add_option("run", *run, "folder made by fovea train")->required();
  command->add_option(
      "inputs", inputs->inputs,
      "a text, a row such as 0.1,0.2,… in the order of the file's columns, or a JSON object");
  command->add_option("--input", inputs->file,
                      "one input a line, or a table with a header; - is standard input");
  command->add_option("--device", *device, "cpu or cuda");
  add_decoding_flag(*command, *assignments);
  command->add_flag("--json", *json, "answers as one JSON list");
  command->footer(
      "Examples:\n  fovea predict runs/first 0.1,0.7,0.4,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6\n"
      "  fovea predict runs/dates \"Saturday 9 May 2018\" --set decoding.method=beam");
  command->callback([=] {
    const Pipeline pipeline = Pipeline::load(*run, *device, *assignments);
    const std::vector<Example> examples = read_inputs(pipeline, *inputs);
    const std::vector<Prediction> predictions = pipeline.predict(examples);
    Json answers = Json::array();
    for (const Prediction& prediction : predictions) {
      if (*json)
        answers.push_back(pipeline.setup().task().answer(prediction));
      else
        std::cout << pipeline.setup().task().answer_line(prediction) << "\n";
    }
    if (*json) std::cout << answers.dump() << "\n";
  });
}

}  // namespace fovea::cli
