#include "fovea/tasks/setup.h"

#include <torch/cuda.h>

#include "fovea/base/error.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

void CommonOptions::describe(OptionList& list) {
  list.add("seed", seed, "decides the first weights, the order of rows and which rows are held out")
      .at_least(0);
  list.add("threads", threads, "CPU threads; 0: one per processor. They change no result")
      .within(0, 1024);
  list.add("device", device, "where to compute").choices({"cpu", "cuda"});
  list.add("source.path", data_path, "file or folder of the data; empty: the built-in data");
  list.add("source.target_path", target_path,
           "the second of two parallel text files, line by line the target of the first");
  list.add("source.columns", data_columns, "columns by role, role=name");
  list.add("source.folds", folds,
           "of a run that was made with --folds: how many; its model saw all training rows")
      .within(0, 1000);
  list.add("from", from,
           "run or Hugging Face folder whose encoder and tokeniser training begins with");
}

Setup::Setup(const std::string& task)
    : name_(task), task_(make_task(task)), state_(std::make_unique<State>()) {
  describe();
}

void Setup::describe() {
  state_->options = OptionList();
  described_from_ = state_->common.from;
  state_->training =
      described_from_.empty() ? task_->training_defaults() : task_->fine_tuning_defaults();
  state_->common.describe(state_->options);
  task_->describe(state_->options);
  state_->options.group("training", state_->training);
}

void Setup::describe_again() {
  describe();
  for (const auto& given : given_) given(state_->options);
}

void Setup::choose_model(const std::string& name) {
  model_is_given_ = true;
  if (task_->choose_model(name)) describe_again();
}

void Setup::look_at_start() {
  if (common().from.empty() == described_from_.empty()) return;
  if (!model_is_given_) task_->choose_model(task_->fine_tuned_model());
  describe_again();
}

void Setup::use_config(const std::string& name) {
  const Task* task = task_.get();
  const State* state = state_.get();
  const auto apply = [=](OptionList& list) {
    Json options = task->config(name, !state->common.from.empty());
    list.merge(options, "--config " + name);
  };
  const Json options = task_->config(name, false);
  const Json::json_pointer model("/model/name");
  if (options.contains(model)) choose_model(options[model].get<std::string>());
  apply(this->options());
  given_.push_back(apply);
}

void Setup::set(const std::string& key, const std::string& value) {
  if (key == "config") return use_config(value);
  if (key == "model.name") {
    choose_model(value);
    options().set(key, value);  // not one of what was given: the choice is made
    return;
  }
  options().set(key, value);
  given_.push_back([=](OptionList& list) { list.set(key, value); });
  look_at_start();
}

void Setup::set(const std::string& assignment) {
  const auto [key, value] = split_assignment(assignment);
  set(key, value);
}

void Setup::merge(const Json& all, const std::string& where) {
  Json given = all;
  if (given.is_object() && given.contains("config")) {  // what the file builds on
    require(given["config"].is_string(), ErrorKind::BadData, where,
            ": config: expected a name of settings, such as \"tutorial\"");
    use_config(given["config"].get<std::string>());
    given.erase("config");
  }
  const Json::json_pointer name("/model/name");
  if (given.is_object() && given.contains(name) && given[name].is_string())
    choose_model(given[name].get<std::string>());
  options().merge(given, where);
  Json rest = given;
  if (rest.contains("model") && rest["model"].is_object()) rest["model"].erase("name");
  given_.push_back([=](OptionList& list) { list.merge(rest, where); });
  look_at_start();
}

Setup Setup::from_config(const Json& config, const std::string& where) {
  require(config.is_object() && config.contains("task") && config["task"].is_string(),
          ErrorKind::BadData, where, ": the key 'task' is missing");
  Setup setup(config["task"].get<std::string>());
  Json options = config;
  options.erase("task");
  setup.merge(options, where);
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
  source.folds = common().folds;
  source.fold = fold_ < 0 ? source.folds : fold_;
  return source;
}

namespace {

std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

void Setup::set_from(const std::string& run_or_folder) {
  require(std::filesystem::is_directory(run_or_folder), ErrorKind::NotFound, "--from ",
          run_or_folder, ": no such folder");
  common().from = absolute(run_or_folder);
  look_at_start();
}

void Setup::set_source(const std::string& path, const std::vector<std::string>& columns,
                       const std::string& target_path) {
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
