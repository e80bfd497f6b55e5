#include "fovea/tasks/setup.h"

#include <torch/torch.h>

#include "fovea/core/error.h"
#include "fovea/core/parallel.h"

namespace fovea {

void CommonOptions::describe(OptionList& list) {
  list.add("seed", seed, "decides the first weights, the order of rows and which rows are held out")
      .at_least(0);
  list.add("threads", threads, "CPU threads; 0: one per processor. They change no result")
      .at_least(0)
      .at_most(1024);
  list.add("device", device, "where to compute").choices({"cpu", "cuda"});
  list.add("source.path", data_path, "file or folder of the data; empty: the built-in data");
  list.add("source.target_path", target_path,
           "the second of two parallel text files, line by line the target of the first");
  list.add("source.columns", data_columns, "columns by role, role=name");
}

Setup::Setup(const std::string& task)
    : name_(task), task_(find_task(task).make()), state_(std::make_unique<State>()) {
  state_->training = task_->training_defaults();
  state_->common.describe(state_->options);
  task_->describe(state_->options);
  state_->options.group("training", state_->training);
}

Setup Setup::from_config(const Json& config, const std::string& where) {
  require(config.is_object() && config.contains("task") && config["task"].is_string(),
          ErrorKind::BadData, where, ": the key 'task' is missing");
  Setup setup(config["task"].get<std::string>());
  Json options = config;
  options.erase("task");
  setup.options().merge(options, where);
  return setup;
}

Json Setup::to_config() const {
  Json config{{"task", name_}};
  config.update(state_->options.to_json());
  return config;
}

Roles parse_roles(const std::vector<std::string>& columns) {
  Roles roles;
  for (const std::string& column : columns) {
    const size_t equals = column.find('=');
    require(equals != std::string::npos && equals > 0 && equals + 1 < column.size(),
            ErrorKind::InvalidArgument, "--columns ", column,
            ": expected role=name, for example target=income");
    roles[std::string(trim(column.substr(0, equals)))].push_back(column.substr(equals + 1));
  }
  return roles;
}

DataSource Setup::source() const {
  DataSource source;
  source.path = common().data_path;
  source.target_path = common().target_path;
  source.roles = parse_roles(common().data_columns);
  return source;
}

void Setup::set_source(const std::string& path, const std::vector<std::string>& columns,
                       const std::string& target_path) {
  const auto absolute = [](const std::string& given) {
    return std::filesystem::absolute(given).lexically_normal().string();
  };
  if (!path.empty()) common().data_path = absolute(path), common().target_path.clear();
  if (!target_path.empty()) common().target_path = absolute(target_path);
  if (!columns.empty()) common().data_columns = columns;
}

at::Device Setup::prepare_device() const {
  set_threads(common().threads);
  if (common().device == "cpu") return at::kCPU;
  require(torch::cuda::is_available(), ErrorKind::Unsupported,
          "--device cuda: this LibTorch finds no CUDA GPU; use --device cpu");
  return at::kCUDA;
}

}  // namespace fovea
