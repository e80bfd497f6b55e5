#include "fovea/export/export.h"

#include <iostream>

#include "cli/program.h"

namespace fovea::cli {

namespace {

struct Flags {
  std::string run, onnx;
  bool attention = false;
};

void run(const Flags& flags) {
  const Pipeline pipeline = Pipeline::load(flags.run);
  for (const std::filesystem::path& file : export_onnx(pipeline, flags.onnx, {flags.attention}))
    std::cout << file.string() << "\n";
}

}  // namespace

void add_export(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("export", "writes a run as ONNX, for ONNX Runtime and others");
  auto flags = std::make_shared<Flags>();
  command->add_option("run", flags->run, "a run of any task")->required();
  command
      ->add_option("--onnx", flags->onnx,
                   "the file to write; a model with encoder and decoder becomes two files, "
                   "FILE-encoder.onnx and FILE-decoder.onnx")
      ->required()
      ->type_name("FILE.onnx");
  command->add_flag("--attention", flags->attention, "attention weights are outputs, too");
  command->footer("Example:  fovea export runs/dates --onnx dates.onnx --attention");
  command->callback([flags] { run(*flags); });
}

}  // namespace fovea::cli
