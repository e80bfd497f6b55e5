#include "fovea/export/export.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/module.h"
#include "fovea/export/onnx_module.h"
#include "fovea/tasks/hugging_face.h"
#include "fovea/tasks/version.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

// Where the shared library of onnx_module.cc may lie, separated by colons.
#ifdef FOVEA_WITH_ONNX
constexpr const char* kModulePlaces = FOVEA_ONNX_PLACES;
#else
constexpr const char* kModulePlaces = "";
#endif

const OnnxModule& require_module() {
  static const Module<OnnxModule> opened(
      kModulePlaces, kOnnxDoor,
      "this build cannot write ONNX files; install ONNX (libonnx-dev) and build with "
      "FOVEA_WITH_ONNX=ON");
  return opened.get();
}

/// runs/a.onnx -> runs/a-encoder.onnx; a model of one graph keeps its name.
std::filesystem::path path_of(const std::filesystem::path& file, const ExportedGraphs& graphs,
                              const std::string& name) {
  if (graphs.size() == 1) return file;
  return file.parent_path() / concat(file.stem().string(), "-", name, ".onnx");
}

/// The files that turn a user's text or row into the graph's inputs. Examples stay behind: they are
/// somebody's data. Of a Hugging Face folder those of its tokeniser.
std::vector<std::filesystem::path> assets_of(const RunFolder& folder) {
  std::vector<std::filesystem::path> files;
  if (is_hugging_face(folder.path())) {
    for (const char* name : {"tokenizer.json", "tokenizer_config.json", "vocab.txt"})
      files.push_back(folder.path() / name);
  } else if (std::filesystem::is_directory(folder.asset(""))) {
    for (const auto& entry : std::filesystem::directory_iterator(folder.asset("")))
      if (entry.path().filename() != "examples.json" &&
          entry.path().filename() != "baselines.safetensors")
        files.push_back(entry.path());
  }
  std::erase_if(files, [](const auto& file) { return !std::filesystem::is_regular_file(file); });
  std::sort(files.begin(), files.end());
  return files;
}

/// Their names, and the short ones themselves.
void note_assets(const RunFolder& folder, onnx::Graph& graph) {
  constexpr uintmax_t kShort = 64 << 10;  // bytes; a file of 8,000 symbols is longer
  std::vector<std::string> names;
  for (const std::filesystem::path& file : assets_of(folder)) {
    names.push_back(file.filename().string());
    if (file.extension() == ".json" && std::filesystem::file_size(file) <= kShort)
      graph.note("fovea.asset." + names.back(), read_file(file));
  }
  if (!names.empty()) graph.note("fovea.assets", join(names));
}

void note_origin(const Pipeline& run, const std::string& name, onnx::Graph& graph) {
  graph.description().producer = "fovea";
  graph.description().producer_version = version();
  graph.note("fovea.task", run.task_name());
  graph.note("fovea.part", name);
  graph.note("fovea.model", run.setup().to_config().at("model").dump());
  if (const Json answers = run.task().fitted_answers(); answers.is_object())
    graph.note("fovea.answers", answers.dump());
  note_assets(run.folder(), graph);
}

void check_path(const std::filesystem::path& file) {
  require(file.extension() == ".onnx" && !file.stem().empty(), ErrorKind::InvalidArgument,
          "export: '", file.string(), "' must be the name of a file that ends in .onnx");
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  require(std::filesystem::is_directory(folder), ErrorKind::NotFound, "export: the folder ",
          folder.string(), " does not exist; make it first");
  require(!std::filesystem::is_directory(file), ErrorKind::InvalidArgument,
          "export: ", file.string(), " is a folder; name a file");
  check_output_file(file);
}

}  // namespace

std::string onnx_bytes(const onnx::Graph& graph) {
  std::string error;
  std::string bytes = require_module().write(graph.description(), error);
  require(error.empty(), ErrorKind::Internal, "export: ONNX refuses the graph '",
          graph.description().name, "': ", error);
  return bytes;
}

std::vector<std::filesystem::path> export_onnx(const Pipeline& run,
                                               const std::filesystem::path& file,
                                               const ExportOptions& options) {
  check_path(file);
  ExportOptions calibrated = options;
  if (const Json answers = run.task().fitted_answers(); answers.is_object()) {
    calibrated.temperature = answers.value("temperature", 1.0);
    if (answers.contains("number")) {
      calibrated.mean = answers["number"].at("mean").get<double>();
      calibrated.deviation = answers["number"].at("deviation").get<double>();
    }
  }
  const ExportedGraphs graphs = export_model(run.model(), calibrated);
  std::vector<std::string> contents;
  ContentHash hash;
  for (const ExportedGraph& one : graphs) {
    note_origin(run, one.name, *one.graph);
    contents.push_back(onnx_bytes(*one.graph));
    hash.add(contents.back());
  }
  std::vector<std::filesystem::path> written;
  std::vector<std::pair<std::filesystem::path, std::string_view>> files;
  for (size_t i = 0; i < graphs.size(); ++i) {
    if (graphs.size() > 1) {  // by which a reader can tell whether two files belong together
      graphs[i].graph->note("fovea.export", hash.text());
      contents[i] = onnx_bytes(*graphs[i].graph);
    }
    written.push_back(path_of(file, graphs, graphs[i].name));
    files.emplace_back(written.back(), contents[i]);
  }
  for (const std::filesystem::path& path : written) check_output_file(path);
  write_together(files);
  return written;
}

}  // namespace fovea
