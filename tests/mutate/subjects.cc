#include "tests/mutate/subjects.h"

#include <cstring>
#include <fstream>
#include <memory>
#include <set>

#include "cli/flags.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/formats/npz.h"
#include "fovea/explain/draw/report.h"
#include "fovea/explain/draw/terminal.h"
#include "fovea/explain/import/import.h"
#include "fovea/explain/record/json.h"
#include "fovea/serving/codec.h"
#include "fovea/tasks/doctor.h"
#include "fovea/tasks/hugging_face.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "tests/support/small_trainings.h"

namespace fovea::testing {

namespace {

namespace fs = std::filesystem;

/// Not synced, as files of the program are: thousands are written.
void put(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

std::string line_of(const Json& input) {
  return input.is_string() ? input.get<std::string>() : input.dump();
}

/// Loads the run and answers an input, as `fovea predict` does.
void answer(const fs::path& run, const std::string& input) {
  const Pipeline pipeline = Pipeline::load(run);
  pipeline.task().input_schema();
  if (input.empty()) return;
  const Example example = pipeline.parse(input);
  const Prediction prediction = pipeline.predict({&example, 1}).front();
  pipeline.task().answer(example, prediction);
  pipeline.task().answer_line(example, prediction);
  pipeline.task().describe_output(example, prediction);
}

/// A changed file may be refused for its hash alone; then what reads it would see no mutant.
void update_manifest(const fs::path& run, const std::string& file, const std::string& manifest) {
  Json json = parse_json(manifest, "manifest");
  if (json.contains("files") && json["files"].contains(file))
    json["files"][file] = hash_of_file(run / file);
  put(run / "manifest.json", json.dump());
}

class Collection {
 public:
  Collection(const fs::path& folder, const std::string& only) : folder_(folder), only_(only) {}
  std::vector<Subject> take() { return std::move(subjects_); }

  void add_all() {
    std::set<std::string> tasks;
    for (const SmallTraining& training : kSmallTrainings) {
      if (!training.can_run()) continue;
      add_run(training);
      if (!tasks.insert(training.task).second) continue;
      add_data(training);
      add_prepared(training);
    }
    add_hugging_face();
    add_weights();
    add_labels();
    add_rows();
    add_requests();
  }

 private:
  bool wanted(const std::string& name) const { return name.find(only_) != std::string::npos; }
  void add(Subject subject) {
    if (wanted(subject.name)) subjects_.push_back(std::move(subject));
  }
  /// A file that is there already.
  void add_file(const std::string& name, const fs::path& path, const std::function<void()>& read) {
    add({name, read_file(path), [=](const std::string& text) {
           put(path, text);
           read();
         }});
  }
  const SmallTraining& training_of(const std::string& name) const {
    for (const SmallTraining& training : kSmallTrainings)
      if (training.name() == name) return training;
    fail(ErrorKind::Internal, "there is no small training ", name);
  }

  void add_run(const SmallTraining& training) {
    const std::string what = training.name() + " run";
    if (!wanted(what) && only_.find(what) == std::string::npos && !only_.empty()) return;
    const fs::path run = folder_ / training.name();
    train_small(training, run);
    const Json examples = RunFolder(run).read_asset("examples.json");
    const std::string input = examples.empty() ? "" : line_of(examples[0]);
    const std::string manifest = read_file(run / "manifest.json");
    add_file(what + ": manifest.json", run / "manifest.json", [=] {
      if (training.task != "features") return answer(run, input);
      const Json problems = problems_of(run);  // takes longer
      require(problems.empty(), ErrorKind::BadData, problems.dump());
    });
    // Options decide how long a prediction takes, so that only the reading is timed.
    add_file(what + ": config.json", run / "config.json", [=] {
      const Pipeline pipeline = Pipeline::load(run);
      if (!input.empty()) pipeline.parse(input);
    });
    for (const auto& entry : fs::directory_iterator(run / "assets")) {
      if (entry.path().extension() != ".json") continue;
      const std::string file = "assets/" + entry.path().filename().string();
      add_file(concat(what, ": ", file), run / file, [=] {
        update_manifest(run, file, manifest);
        answer(run, input);
        if (file == "assets/examples.json") RunFolder(run).read_asset("examples.json");
      });
    }
    add_header(what, run);
    add_inputs(training, run, examples);
    add_explanation(training, run, input);
    Setup setup = setup_of_small(training);
    const fs::path config = folder_ / (training.name() + ".config.json");
    put(config, setup.to_config().dump(2));
    add_file(training.name() + " --config", config, [=] {
      cli::TrainFlags flags;
      flags.task = training.task;
      flags.config = config.string();
      cli::make_setup(flags).to_config();
    });
  }

  /// What doctor says of the manifest, which it alone reads as a whole.
  static Json problems_of(const fs::path& run) {
    Json problems = Json::array();
    for (const Check& check : examine(run))
      if (check.name == "manifest" && !check.problem.empty()) problems.push_back(check.problem);
    return problems;
  }

  /// The JSON at the beginning of a safetensors file.
  void add_header(const std::string& what, const fs::path& run) {
    const fs::path path = run / "model.safetensors";
    const std::string bytes = read_file(path);
    uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    const std::string data = bytes.substr(8 + size);
    add({what + ": header of model.safetensors", bytes.substr(8, size),
         [=](const std::string& text) {
           const uint64_t length = text.size();
           std::string changed(sizeof length, '\0');
           std::memcpy(changed.data(), &length, sizeof length);
           put(path, changed + text + data);
           Pipeline::load(run);
         }});
  }

  void add_inputs(const SmallTraining& training, const fs::path& run, const Json& examples) {
    auto pipeline = std::make_shared<Pipeline>(Pipeline::load(run));
    int number = 0;
    for (const Json& input : object_inputs(training, examples))
      add({concat(training.name(), " input ", ++number), input.dump(),
           [=](const std::string& text) { pipeline->parse(text); }});
  }

  void add_explanation(const SmallTraining& training, const fs::path& run,
                       const std::string& input) {
    const std::string name = training.name() + " explanation";
    if (input.empty() || !wanted(name)) return;
    const Pipeline pipeline = Pipeline::load(run);
    const fs::path path = folder_ / (training.name() + ".explanation.json");
    write_explanation(path, pipeline.explain(pipeline.parse(input), Heads::All));
    add_file(name, path, [=] { draw(path); });
  }

  static void draw(const fs::path& path) {
    const Explanation explanation =
        import_file(path, "", {}, [](const fs::path& file) { return read_npz(file); });
    render_terminal(explanation);
    report_html({&explanation, 1});
  }

  static Splits load(const SmallTraining& training, const fs::path& data) {
    Setup setup = setup_of_small(training);
    setup.set_source(data.string(), {}, "");
    return setup.task().load(setup.source(), 0);
  }

  void add_data(const SmallTraining& training) {
    const std::string name = training.task + " data: dataset.json";
    if (!wanted(name)) return;
    const fs::path data = folder_ / (training.task + "-data");
    fs::create_directories(data);
    setup_of_small(training).task().write_data(data);
    if (fs::exists(data / "dataset.json"))
      add_file(name, data / "dataset.json", [=] { load(training, data); });
  }

  /// JSON inside a prepared file: in its metadata, and rows that are JSON themselves.
  void add_prepared(const SmallTraining& training) {
    if (!wanted(training.task + " prepared: ")) return;
    const fs::path path = folder_ / (training.task + ".prepared");
    try {
      Setup setup = setup_of_small(training);
      setup.task().prepare(setup.source(), 0, path);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Unsupported) throw;
      return;
    }
    const auto file = std::make_shared<SafetensorsFile>(read_safetensors(path));
    const fs::path changed = folder_ / (training.task + ".changed.prepared");
    for (const auto& [key, text] : file->metadata) {
      if (!text.starts_with('{') && !text.starts_with('[')) continue;
      add({concat(training.task, " prepared: ", key), text,
           [=, key = key](const std::string& mutant) {
             auto metadata = file->metadata;
             metadata[key] = mutant.substr(0, valid_utf8_prefix(mutant));  // as the format has it
             write_safetensors(changed, file->tensors, metadata);
             load(training, changed);
           }});
    }
    for (const auto& [name, tensor] : file->tensors) {
      if (!name.ends_with(".rows")) continue;
      add({concat(training.task, " prepared: ", name), bytes_in(tensor),
           [=, name = name](const std::string& mutant) {
             auto tensors = file->tensors;
             tensors[name] = tensor_of(mutant);
             write_safetensors(changed, tensors, file->metadata);
             load(training, changed);
           }});
    }
  }
  static std::string bytes_in(const at::Tensor& tensor) {
    return {static_cast<const char*>(tensor.data_ptr()), size_t(tensor.numel())};
  }
  static at::Tensor tensor_of(const std::string& bytes) {
    const at::Tensor tensor = torch::empty({int64_t(bytes.size())}, torch::kByte);
    if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
    return tensor;
  }

  void add_hugging_face() {
    const SmallTraining& training = training_of("pretrain");
    if (!training.can_run() || !wanted("Hugging Face: ")) return;
    const fs::path run = folder_ / "hugging-face-run";
    train_small(training, run);
    for (const bool whole : {true, false}) {  // with tokenizer.json, and with vocab.txt instead
      const fs::path folder = folder_ / (whole ? "hugging-face" : "hugging-face-old");
      write_hugging_face(folder, read_pretrained(run));
      if (!whole) fs::remove(folder / "tokenizer.json");
      for (const char* file : {"config.json", "tokenizer.json", "tokenizer_config.json"})
        if (fs::exists(folder / file) && (whole || file != std::string("config.json")))
          add_file(concat("Hugging Face: ", file, whole ? "" : " beside vocab.txt"), folder / file,
                   [=] { Pipeline::load(folder); });
    }
  }

  void add_weights() {
    const char* const texts[] = {
        R"({"attention": [[0.5, 0.5], [0.25, 0.75]], "tokens": ["a", "b"]})",
        R"([[[[0.5, 0.5], [1, 0]], [[0, 1], [null, 1]]]])",
        R"({"layer_1": [[[[1, 0], [0, 1]]]], "layer_2": [[[[1, 0], [0, 1]]]],
            "tokens": ["a", "b"], "text": "a b", "offsets": [[0, 1], [2, 3]]})",
        R"({"attention": [{"name": "one", "attn": [[[[1, 0], [0, 1]]]],
            "left_text": ["a", "b"], "right_text": ["c", "d"]}], "default_filter": "0"})"};
    int number = 0;
    for (const char* text : texts) {
      const fs::path path = folder_ / concat("weights", ++number, ".json");
      put(path, text);
      add_file(concat("weights ", number), path, [=] { draw(path); });
    }
  }

  void add_labels() {
    const fs::path path = folder_ / "labels.json";
    put(path, R"({"tokens": ["a", "b"], "text": "a b", "offset_mapping": [[0, 1], [2, 3]],
                  "tensors": {"x": {"queries": ["p"], "keys": {"tokens": ["q", "r"]}}}})");
    add_file("labels", path, [=] { read_labels(path.string()); });
    add({"labels of the command line", R"(["one", "two, three"])",
         [](const std::string& text) { read_labels(text); }});
  }

  /// Files with an object a line.
  void add_rows() {
    const auto add_lines = [&](const char* task, const std::function<Json(int)>& row) {
      const std::string name = concat(task, " rows");
      if (!wanted(name)) return;
      const fs::path path = folder_ / concat(task, ".jsonl");
      std::string lines;
      for (int i = 0; i < 40; ++i) lines += row(i).dump() + "\n";
      put(path, lines);
      const SmallTraining& training = training_of(task);
      if (training.can_run()) add_file(name, path, [=] { load(training, path); });
    };
    add_lines("documents", [](int i) {
      return Json{{"text", concat("text ", i, i % 2 == 0 ? " is good" : " is bad")},
                  {"label", i % 2 == 0 ? "yes" : "no"}};
    });
    add_lines("visits", [](int i) {
      return Json{{"patient", concat("p", i / 2)},
                  {"time", 10 + i % 2},
                  {"codes", {concat("A", i % 5), concat("B", i % 3)}},
                  {"label", i / 2 % 2}};
    });
    add_lines("ratings", [](int i) {
      return Json{{"user", concat("u", i % 8)},
                  {"item", concat("i", i % 5)},
                  {"rating", 1 + i % 5},
                  {"text", concat("a review of ", i, " words or so")}};
    });
  }

  void add_requests() {
    add({"predict request", R"({"model": "visits", "inputs": ["one", {"visits": [["A", "B"]]}]})",
         [](const std::string& text) { serving::parse_predict(text); }});
    add({"explain request",
         R"({"model": "m", "input": {"a": [1, 2.5, null]}, "maps": ["x"], "layers": [1, 2],
             "heads": [1], "rows": [0, 3], "top_k": 5, "faithfulness": false, "format": "json"})",
         [](const std::string& text) { serving::parse_explain(text); }});
  }

  fs::path folder_;
  std::string only_;
  std::vector<Subject> subjects_;
};

}  // namespace

std::vector<Subject> make_subjects(const fs::path& folder, const std::string& only) {
  Collection collection(folder, only);
  collection.add_all();
  return collection.take();
}

}  // namespace fovea::testing
