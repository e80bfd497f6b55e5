// The task `__name__`: which letter is most frequent?
#include "fovea/data/__name__/load.h"
#include "fovea/data/erase.h"
#include "fovea/models/__name___pooling.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/classes.h"

namespace fovea {

namespace {

class __Name__Data : public CodedData<__Name__DataOptions, __Name__Coding> {
 public:
  __Name__Data() : CodedData("__name__.json") {}  // the asset of a run that holds the coding

  void describe(OptionList& list) override { options_.describe(list); }
  Splits load(const DataSource& source, uint64_t seed) override {
    return load___name__(source, options_, coding_, seed);
  }
  void write(const std::filesystem::path& folder) const override {
    write___name___data(folder, options_);
  }

  /// An input is a line of a file; an answer that stands behind it is not looked at.
  Example parse(const std::string& line) const override {
    return __name___example(std::string(trim(line.substr(0, line.find('\t')))));
  }
  Json input_schema() const override { return {{"type", "string"}}; }
  bool takes_plain_text() const override { return true; }
  Batch collate(std::span<const Example> examples) const override {
    return collate___name__(examples);
  }
  /// What faithfulness measures take out: units of an axis of the example. data/erase.h has more.
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "letters") return DataKind::erase(example, axis, units);
    return erase_symbols(example, "letters", units, 0);
  }
};

std::unique_ptr<Task> make___name__() {
  const auto data = std::make_shared<__Name__Data>();
  TrainingOptions training;
  training.epochs = 20;
  training.learning_rate = 1e-2;
  const auto make = [data](const __Name__PoolingOptions& options) {
    return std::make_unique<__Name__Pooling>(options, int64_t(data->coding().classes.size()));
  };
  const auto titles = [] {
    return ExplainTitles{"Which letters were looked at", {{"attention", "answer -> letters"}}};
  };
  const auto classes = [data]() -> const std::vector<std::string>& {
    return data->coding().classes;
  };
  return std::make_unique<Task>(
      "__name__", data, std::make_shared<ClassesOutput>(classes),
      std::vector{model_spec({"pooling"}, std::make_shared<__Name__PoolingOptions>(), training,
                             make, titles)});
}

}  // namespace

TaskRow __name___task() {
  return {"__name__", "which letter is most frequent", "answer -> letters",
          "TSV: letters, most frequent letter", make___name__};
}

}  // namespace fovea
