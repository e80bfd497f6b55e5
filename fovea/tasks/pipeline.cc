#include "fovea/tasks/pipeline.h"

#include <torch/torch.h>

#include "fovea/core/error.h"
#include "fovea/core/safetensors.h"
#include "fovea/training/checkpoint.h"

namespace fovea {

namespace {

constexpr size_t kRowsAtOnce = 256;  // bounds the memory of a large file of inputs

}  // namespace

std::map<std::string, at::Tensor> read_weights(const RunFolder& folder) {
  require(std::filesystem::exists(folder.model()), ErrorKind::NotFound, folder.path().string(),
          ": the run is incomplete, model.safetensors is missing");
  return read_checked_weights(folder.model());
}

Pipeline Pipeline::load(const std::filesystem::path& run, const std::string& device,
                        const std::vector<std::string>& assignments) {
  RunFolder folder(run);
  Setup setup = Setup::from_config(folder.read_config(), folder.config().string());
  setup.common().device = device;
  for (const std::string& assignment : assignments) {
    require(assignment.rfind("decoding.", 0) == 0 || assignment.rfind("threads=", 0) == 0,
            ErrorKind::InvalidArgument, "--set ", assignment,
            ": a trained run keeps its options; only decoding.* and threads can be set");
    setup.options().set_assignment(assignment);
  }
  Pipeline pipeline(std::move(folder), std::move(setup));
  const at::Device place = pipeline.setup_.prepare_device();
  pipeline.setup_.task().restore(pipeline.folder_);
  pipeline.model_ = pipeline.setup_.task().make_model();
  load_state(*pipeline.model_, read_weights(pipeline.folder_), pipeline.folder_.model().string());
  pipeline.model_->to(place);
  pipeline.model_->eval();
  return pipeline;
}

std::vector<Prediction> Pipeline::predict(std::span<const Example> examples) const {
  if (examples.empty()) return {};
  std::vector<Prediction> predictions;
  for (size_t begin = 0; begin < examples.size(); begin += kRowsAtOnce) {
    const auto some = examples.subspan(begin, std::min(kRowsAtOnce, examples.size() - begin));
    const Predictions answers = model_->predict(setup_.task().collate(some).to(model_->device()));
    for (size_t row = 0; row < some.size(); ++row) predictions.push_back(answers.at(int64_t(row)));
  }
  setup_.task().finish(*model_, examples, predictions);
  return predictions;
}

Example Pipeline::describe_output(const Example& example, const Prediction& prediction) const {
  return setup_.task().describe_output(example, prediction);
}

at::Tensor Pipeline::replay(const Example& example, const Prediction& prediction, Tap& tap) const {
  const auto batched = [](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.unsqueeze(0) : tensor;
  };
  Predictions answers{batched(prediction.scores),
                      batched(prediction.values),
                      {prediction.outputs},
                      batched(prediction.actions)};
  const Batch batch = setup_.task().collate({&example, 1}).to(model_->device());
  return model_->replay(batch, answers, &tap)[0];  // [U]
}

Splits Pipeline::load_data(const std::string& path, const std::vector<std::string>& columns,
                           const std::string& target_path) {
  DataSource source = setup_.source();
  if (!path.empty()) source.path = path, source.target_path = target_path, source.whole = true;
  if (!columns.empty()) source.roles = parse_roles(columns);
  if (path.empty() && !source.path.empty())
    require(std::filesystem::exists(source.path), ErrorKind::NotFound, source.path.string(),
            ": the data of this run is gone; name it: fovea evaluate RUN DATA");
  return setup_.task().load(source, static_cast<uint64_t>(setup_.common().seed));
}

Explanation Pipeline::explain(const Example& example) const {
  return explain_example(*this, example, setup_.task().explain_options());
}

}  // namespace fovea
