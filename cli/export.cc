#include "fovea/export/export.h"

#include <iostream>

#include "cli/output.h"
#include "cli/program.h"
#include "fovea/base/error.h"
#include "fovea/tasks/pipeline.h"

namespace fovea::cli {

namespace {

struct ExportFlags {
  std::string run, onnx, hugging_face;
  bool attention = false, adapter = false;
};

void write_onnx(const ExportFlags& flags) {
  const Pipeline pipeline = Pipeline::load(flags.run);
  for (const std::string& note : pipeline.notes()) tell(note);
  for (const std::filesystem::path& file : export_onnx(pipeline, flags.onnx, {flags.attention}))
    put_line(file.string());
}

void write_folder(const ExportFlags& flags) {
  const Setup setup = setup_of(flags.run);
  for (const std::string& note :
       setup.task().write_hugging_face(flags.run, flags.hugging_face, flags.adapter))
    tell(note);
  put_line(flags.hugging_face);
}

void run_export(const ExportFlags& flags) {
  require(flags.onnx.empty() != flags.hugging_face.empty(), ErrorKind::InvalidArgument,
          "export: name what to write, either --onnx FILE.onnx or --hugging-face FOLDER");
  require(!flags.attention || !flags.onnx.empty(), ErrorKind::InvalidArgument,
          "export: --attention goes with --onnx");
  require(!flags.adapter || flags.onnx.empty(), ErrorKind::InvalidArgument,
          "export: --adapter goes with --hugging-face");
  flags.onnx.empty() ? write_folder(flags) : write_onnx(flags);
}

}  // namespace

void add_export(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "export", "writes a run as ONNX, or its network as Hugging Face's libraries read it");
  auto flags = std::make_shared<ExportFlags>();
  command->add_option("run", flags->run, "a run of any task, or a Hugging Face folder")->required();
  command
      ->add_option("--onnx", flags->onnx,
                   "the file to write; a model with encoder and decoder becomes two files, "
                   "FILE-encoder.onnx and FILE-decoder.onnx")
      ->type_name("FILE.onnx");
  command->add_flag("--attention", flags->attention, "ONNX: attention weights are outputs, too");
  command
      ->add_option("--hugging-face", flags->hugging_face,
                   "the folder to write, of runs with a BERT or a T5, or of language: config.json, "
                   "model.safetensors, tokenizer.json")
      ->type_name("FOLDER");
  command->add_flag("--adapter", flags->adapter,
                    "Hugging Face: only the low-rank adapters, as PEFT reads them; else they are "
                    "merged into the network");
  command->footer(
      "Examples:\n"
      "  fovea export runs/first --onnx first.onnx\n"
      "  fovea export runs/first --onnx seen.onnx --attention\n"
      "  fovea export runs/mine --onnx mine.onnx");
  command->callback([flags] { run_export(*flags); });
}

}  // namespace fovea::cli
