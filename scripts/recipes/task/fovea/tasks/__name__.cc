// The task `__name__`: which letter is most frequent?
#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/__name__/load.h"
#include "fovea/models/__name___pooling.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/classes.h"

namespace fovea {

namespace {

constexpr const char* k__Name__Asset = "classes.json";

class __Name__Data : public DataKind {
 public:
  const std::vector<std::string>& classes() const { return classes_; }

  void describe(OptionList& list) override { options_.describe(list); }
  Splits load(const DataSource& source, uint64_t seed) override {
    return load___name__(source, options_, classes_, seed);
  }
  void write(const std::filesystem::path& folder) const override {
    write___name___data(folder, options_);
  }
  void save(const RunFolder& folder) const override {
    folder.write_asset(k__Name__Asset, {{"classes", classes_}});
  }
  void restore(const RunFolder& folder) override {
    const Json json = folder.read_asset(k__Name__Asset);
    classes_ = Field::root(json, folder.asset(k__Name__Asset).string()).at("classes").texts();
  }

  Example parse(const std::string& line) const override {
    return __name___example(std::string(trim(line)));
  }
  Json input_schema() const override { return {{"type", "string"}}; }
  bool takes_plain_text() const override { return true; }
  Batch collate(std::span<const Example> examples) const override {
    return collate___name__(examples);
  }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "letters") return DataKind::erase(example, axis, units);
    Example erased = example;
    at::Tensor& letters = erased.tensors["letters"];
    letters = letters.clone();
    for (const int64_t unit : units) letters[unit] = 0;
    return erased;
  }

 private:
  __Name__DataOptions options_;
  std::vector<std::string> classes_;
};

std::unique_ptr<Task> make___name__() {
  const auto data = std::make_shared<__Name__Data>();
  TrainingOptions training;
  training.epochs = 20;
  training.learning_rate = 1e-2;
  const auto make = [data](const __Name__PoolingOptions& options) {
    return std::make_unique<__Name__Pooling>(options, int64_t(data->classes().size()));
  };
  const auto titles = [] {
    return ExplainTitles{"Which letters were looked at", {{"attention", "answer -> letters"}}};
  };
  const auto classes = [data]() -> const std::vector<std::string>& { return data->classes(); };
  return std::make_unique<Task>(
      "__name__", data, std::make_shared<ClassesOutput>(classes),
      std::vector{model_spec({"pooling"}, std::make_shared<__Name__PoolingOptions>(), training, make,
                             titles)});
}

}  // namespace

TaskRow __name___task() {
  return {"__name__", "which letter is most frequent", "answer -> letters",
          "TSV: letters, most frequent letter", make___name__};
}

}  // namespace fovea
