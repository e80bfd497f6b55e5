// The task `features`: predict one column of a table from the others, with one attention weight per
// column.
#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/erase.h"
#include "fovea/data/tables/load.h"
#include "fovea/metrics/attention_truth.h"
#include "fovea/metrics/classification.h"
#include "fovea/metrics/regression.h"
#include "fovea/models/classifier.h"
#include "fovea/models/feature_attention.h"
#include "fovea/models/table_network.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/column_importance.h"
#include "fovea/tasks/outputs/classes.h"
#include "fovea/tasks/outputs/numbers.h"
#include "fovea/tasks/rows.h"
#include "fovea/tasks/train.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using kernels::TabularLoss;

/// Those that a linear model looks at: values and categories, no pieces. [P]
std::vector<int64_t> plain_inputs(const TableLayout& layout) {
  std::vector<int64_t> inputs;
  for (size_t i = 0; i < layout.input_roles.size(); ++i)
    if (layout.input_roles[i] != InputRole::Piece) inputs.push_back(int64_t(i));
  return inputs;
}

class TableData : public CodedData<FeaturesDataOptions, TableEncoder> {
 public:
  TableData() : CodedData("columns.json") {}
  const TableLayout& layout() const { return coding_.layout(); }

  void describe(OptionList& list) override { options_.describe(list); }
  Splits load(const DataSource& source, uint64_t seed) override {
    Splits splits = load_features(source, options_, coding_, seed, &held_out_);
    train_rows_ = splits.train ? splits.train->size() : 0;
    class_counts_.assign(layout().classes.size(), 0);
    if (splits.train && layout().kind != TargetKind::Number)
      for (const auto label :
           to_vector<int64_t>(splits.train->columns().at("target").to(torch::kInt64)))
        ++class_counts_[size_t(label)];
    return splits;
  }
  int64_t train_rows() const { return train_rows_; }  // 0 before load()
  /// Whether load() cut the validation rows off the training rows.
  bool held_out() const { return held_out_; }
  /// Training rows of each class; empty before load().
  const std::vector<int64_t>& class_counts() const { return class_counts_; }
  void write(const std::filesystem::path& folder) const override {
    write_features_data(folder, options_);
  }
  std::map<std::string, int64_t> sizes() const override {
    return {{"columns", int64_t(layout().columns.size())},
            {"inputs", int64_t(layout().column_of_input.size())},
            {"classes", int64_t(layout().classes.size())}};
  }

  Example parse(const std::string& line) const override { return parse_row(coding_, line); }
  InputColumns input_columns(const Roles&) const override {
    InputColumns columns{layout().columns, coding_.file_columns(), {}};
    columns.truth = layout().target;
    return columns;
  }
  std::vector<Example> parse_table(const CsvTable& table, const InputColumns&) const override {
    return coding_.encode_inputs(table);
  }
  Json input_schema() const override {
    std::vector<SchemaColumn> columns;
    for (const TableColumn& column : coding_.columns())
      columns.push_back({column.name(), column.categories(),
                         column.kind() == ColumnKind::Date || column.kind() == ColumnKind::Text,
                         column.missing_share() > 0});
    Json schema = row_schema(columns);
    for (const TableColumn& column : coding_.columns())
      if (column.is_number() && std::isfinite(column.number().low()))  // older runs do not say
        schema["properties"][column.name()]["training"] = {{"low", column.number().low()},
                                                           {"high", column.number().high()}};
    return schema;
  }
  std::vector<std::string> input_notes(const Example& example) const override {
    std::vector<std::string> notes = coding_.check(example);
    const std::string unknown = unknown_names_note(example.given, coding_.file_columns());
    if (!unknown.empty()) notes.push_back(unknown);
    return notes;
  }
  std::vector<std::string> encoding_notes() const override {
    std::vector<std::string> notes;
    for (const TableColumn& column : coding_.columns())
      if (column.kind() == ColumnKind::Date && !column.is_constant())
        notes.push_back(
            concat("'", column.name(), "' is seen as its ", join(column.calendar().part_names())));
    return notes;
  }
  std::vector<std::string> table_notes(const CsvTable& table) const override {
    return coding_.check(table);
  }
  Json input(const Dataset& rows, int64_t row) const override {
    return row_object(layout().columns, coding_.decode_row(rows.example(row).tensors.at("inputs")));
  }
  Batch collate(std::span<const Example> examples) const override { return stack(examples); }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "columns") return DataKind::erase(example, axis, units);
    return erase_inputs(example, "inputs", units, layout().column_of_input, layout().input_means);
  }

  LinearInputs linear_inputs(const Dataset& rows) const override {
    const auto& all = rows.columns().at("inputs");  // [N, I]
    LinearInputs inputs;
    inputs.dense =
        all.index_select(1, torch::tensor(plain_inputs(layout()), torch::kInt64).to(all.device()))
            .to(torch::kCPU, torch::kFloat)
            .nan_to_num();  // [N, P]
    return inputs;
  }

  /// The next load() fits these columns alone.
  void keep_columns(const std::vector<std::string>& names) {
    options_.table.features = names;
    coding_ = {};
  }

 private:
  std::vector<int64_t> class_counts_;
  int64_t train_rows_ = 0;
  bool held_out_ = false;
};

/// A class, or {"value": number} where the target is one.
class TargetOutput : public ClassesOutput {
 public:
  explicit TargetOutput(std::shared_ptr<const TableData> data)
      : ClassesOutput([data]() -> const auto& { return data->layout().classes; }),
        number_([data] {
          const TableLayout& layout = data->layout();
          return NumberOutput::Target{layout.target, layout.target_mean, layout.target_deviation,
                                      layout.target_transform};
        }),
        data_(data) {}

  Metrics measure(const Model& model, const Dataset& rows, const RowProgress&) const override {
    return measure(model, rows, model.predict(whole(rows).to(model.device())));
  }
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override {
    if (!is_number()) return ClassesOutput::evaluate(model, rows, progress);
    const Predictions answers = model.predict(whole(rows).to(model.device()));
    return number_.evaluate(measure(model, rows, answers), answers.values.squeeze(1).cpu(),
                            rows.columns().at("target"));
  }
  NamedTensors fit_baselines(const Dataset& train, const LinearInputs& inputs) const override {
    return is_number() ? number_.fit_baselines(train, inputs)
                       : ClassesOutput::fit_baselines(train, inputs);
  }
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs& inputs) const override {
    return is_number() ? number_.measure_baselines(fitted, rows, inputs)
                       : ClassesOutput::measure_baselines(fitted, rows, inputs);
  }
  bool fit_answers(Model& model, const Dataset& validation) override {
    check_options(validation.size() > 0);
    return !is_number() && ClassesOutput::fit_answers(model, validation);
  }

  Json answer_row(const Example& example, const Prediction& prediction) const override {
    return is_number() ? number_.answer_row(example, prediction)
                       : ClassesOutput::answer_row(example, prediction);
  }
  Json answer(const Example& example, const Prediction& prediction) const override {
    return is_number() ? number_.answer(example, prediction)
                       : ClassesOutput::answer(example, prediction);
  }
  std::string answer_line(const Example& example, const Prediction& prediction) const override {
    return is_number() ? number_.answer_line(example, prediction)
                       : ClassesOutput::answer_line(example, prediction);
  }
  std::string headline(const Example& example, const Prediction& prediction) const override {
    return concat(data_->layout().target, " = ",
                  is_number() ? format_number(answer(example, prediction)["value"], 5)
                              : ClassesOutput::headline(example, prediction));
  }
  RowsKind rows_kind() const override {
    return is_number() ? number_.rows_kind() : ClassesOutput::rows_kind();
  }
  std::vector<RowAnswer> judge_rows(const PredictedRows& rows) const override {
    return is_number() ? number_.judge_rows(rows) : ClassesOutput::judge_rows(rows);
  }

 protected:
  Measured measure_scores(const Model& model, const Dataset& rows,
                          const RowProgress&) const override {
    const Predictions answers = model.predict(whole(rows).to(model.device()));
    return {measure(model, rows, answers),
            {answers.scores.cpu(), rows.columns().at("target").to(torch::kLong)}};
  }

 private:
  bool is_number() const { return data_->layout().kind == TargetKind::Number; }

  Metrics measure(const Model& model, const Dataset& rows, const Predictions& answers) const {
    const at::Tensor& target = rows.columns().at("target");
    Metrics metrics = is_number() ? measure_numbers(answers.values.squeeze(1).cpu(), target)
                                  : class_metrics(answers.scores.cpu(), target);
    if (rows.size() == 0) return metrics;
    const NamedTensors truth = rows.example(0).truth;  // the same columns matter in every row
    if (truth.count("attention") == 0) return metrics;
    const at::Tensor attention = attention_of_rows(model, rows).rows;
    if (!attention.defined()) return metrics;
    if (const auto share = attention_truth(attention, truth.at("attention").flatten()))
      metrics.push_back({"attention_truth", *share, true});
    return metrics;
  }

  Metrics measure_numbers(const at::Tensor& values, const at::Tensor& target) const {
    const double deviation = data_->layout().target_deviation;
    const TargetTransform& transform = data_->layout().target_transform;
    if (!transform.is_none()) {  // the loss is of what is learned, all else in the target's unit
      const at::Tensor numbers = transform.decode_prediction(values),
                       wanted = transform.decode(target);
      Metrics metrics = number_metrics(numbers, wanted);
      metrics[0].value = mean_squared_error(values, target);
      metrics.insert(metrics.begin() + 1, {"rmse", root_mean_squared_error(numbers, wanted)});
      return metrics;
    }
    Metrics metrics = number_metrics(values, target, deviation);
    metrics.insert(metrics.begin() + 1,
                   {"rmse", root_mean_squared_error(values, target) * deviation});
    return metrics;
  }

  Metrics class_metrics(const at::Tensor& all, const at::Tensor& target) const {
    const bool two = data_->layout().kind == TargetKind::TwoClasses;
    const at::Tensor scores = two ? all.select(1, 1) : all;
    Metrics metrics{{"loss", log_loss(scores, target)},
                    {"accuracy", accuracy(scores, target), true}};
    if (!two)
      metrics.push_back({"macro_f1",
                         macro_f1(predicted_classes(scores), target, int64_t(classes().size())),
                         true});
    else if (const auto area = auc(scores, target))
      metrics.push_back({"auc", *area, true});
    return metrics;
  }

  NumberOutput number_;
  std::shared_ptr<const TableData> data_;
};

FeatureShape shape_for(const TableData& data) {
  const TableLayout& layout = data.layout();
  FeatureShape shape{layout.columns, layout.column_of_input, 1, TabularLoss::BinaryCrossEntropy};
  if (layout.kind == TargetKind::Number) shape.loss = TabularLoss::SquaredError;
  if (layout.kind == TargetKind::Classes)
    shape.loss = TabularLoss::CrossEntropy,
    shape.outputs = static_cast<int64_t>(layout.classes.size());
  shape.plain_inputs = plain_inputs(layout);
  shape.class_counts = data.class_counts();
  shape.rows = data.train_rows();
  shape.input_means = layout.input_means;
  return shape;
}

template <class Network, class Options>
ModelSpec table_model(std::vector<std::string> names, Options options,
                      const std::shared_ptr<TableData>& data, const TrainingOptions& training) {
  const auto own = std::make_shared<Options>(std::move(options));
  ColumnContributions contributions;
  if constexpr (requires(const Network& network, const Predictions& answers) {
                  network.contributions(at::Tensor(), answers);
                })
    contributions = of_network<Network>([](const Network& network, const Batch& batch) {
      return network.contributions(batch.at("inputs"), network.predict(batch));
    });
  const auto titles = [data, own] {
    ExplainTitles titles{"Where the model looks to predict " + data->layout().target,
                         {{"attention", "attention over columns"}}};
    if constexpr (requires { own->members_attend(); }) {
      if (!own->attends() && !own->is_transformer())
        titles = {"What decides " + data->layout().target,
                  {{TableNetwork::kContributions, "what each column adds to the answer"}}};
      if (own->members_attend()) titles.ensembles = {"attention"};
      if (own->is_transformer()) titles.maps["columns"] = "attention of columns to columns";
    }
    return titles;
  };
  ModelSpec spec = model_spec(
      std::move(names), own, training,
      [data](const Options& chosen) { return std::make_unique<Network>(chosen, shape_for(*data)); },
      titles);
  spec.overview = [data, titles, contributions](const Task&, const Model& model,
                                                const Dataset& rows) {
    return importance_of_columns(data->layout(), titles(), {model, rows}, contributions);
  };
  spec.keep_most_attended = [data, contributions](const Model& model, const Dataset& rows,
                                                  int64_t count) {
    const auto kept = most_important(data->layout(), {model, rows}, contributions, count);
    data->keep_columns(kept);
    return kept;
  };
  return spec;
}

/// Of the Keras tutorial.
TrainingOptions tutorial_training() {
  TrainingOptions training;
  training.epochs = 16;
  training.batch_size = 128;
  training.epsilon = 1e-7;
  training.usual_steps = 5000;
  return training;
}

Json tutorial_settings() {
  Json settings = tutorial_config(tutorial_training());
  settings["data"]["rows"] = 100'000;
  settings["data"]["numbers"] = "standard";
  settings["output"]["calibrate"] = false;
  return settings;
}

/// Logistic or ridge regression, its penalty by cross-validation. False for other losses.
bool fit_convex(const TableData& data, TableNetwork& network, const Dataset& rows,
                const CountProgress& progress) {
  if (!network.is_convex()) return false;
  const FeatureShape& shape = network.shape();
  const at::Tensor target = targets_of(rows);  // [N]
  LinearFit fit;
  fit.loss = shape.loss == TabularLoss::SquaredError ? LinearLoss::Squared : LinearLoss::Logistic;
  fit.outputs = shape.outputs;
  const at::Tensor of_classes =
      class_weights_of(network.options().loss.class_weights, shape.class_counts);  // [C]
  if (fit.loss == LinearLoss::Logistic && of_classes.defined()) {
    const at::Tensor of_rows = of_classes.cpu().index_select(0, target.to(torch::kInt64));
    fit.row_weights = of_rows / of_rows.mean();  // [N]
  }
  const LinearInputs inputs = data.linear_inputs(rows);
  fit.penalty = choose_penalty(inputs, target, fit, progress);
  const LinearModel linear = fit_linear(inputs, target, fit);
  network.set_linear(linear.weight, linear.bias);
  return true;
}

/// A network of table_network.h with what suits it.
ModelSpec network_spec(const std::string& name, const std::shared_ptr<TableData>& data) {
  TableNetworkOptions options;
  options.name = name;
  TrainingOptions training;
  training.usual_steps = 6000;
  training.patience = 8;
  training.batch_size = 256;
  training.micro_batches = 2;
  training.optimiser = "adamw";
  training.weight_decay = 0.01;
  training.clip_norm = 1;
  training.warmup_steps = 100;
  training.ema = 0.998;
  if (name == "transformer") {
    options.hidden = {64};
    options.members = 1;
    training.learning_rate = 3e-4;
  }
  if (name == "linear") {
    training.learning_rate = 1e-2;
    training.weight_decay = 0;  // it has a penalty of its own
    training.ema = 0;
  }
  ModelSpec spec = table_model<TableNetwork>({name}, options, data, training);
  spec.refits = [data](bool fitted) {
    return data->held_out() && (fitted || data->train_rows() < kFewRows);
  };
  spec.cost = [data, name] {
    constexpr double kUsualColumns = 50, kMostCost = 5;
    const double width = std::max(1.0, double(data->sizes().at("columns")) / kUsualColumns);
    // Columns that look at columns are soon too many; the others always take part in a choice.
    return name == "transformer" ? width * width : std::min(width, kMostCost);
  };
  if (name == "linear")
    spec.fit = of_network<TableNetwork>(
        [data](TableNetwork& network, const Dataset& rows, const CountProgress& progress) {
          return fit_convex(*data, network, rows, progress);
        });
  spec.configs["tutorial"] = tutorial_settings();
  if (name == "auto") spec.configs["tutorial"]["model"]["name"] = "tutorial";
  return spec;
}

}  // namespace

static std::unique_ptr<Task> make_features_task() {
  const auto data = std::make_shared<TableData>();
  std::vector<ModelSpec> specs;
  const std::vector<std::string> networks{"attention", "transformer", "plain", "linear"};
  specs.push_back(network_spec("auto", data));
  specs[0].candidates = networks;
  for (const std::string& name : networks) specs.push_back(network_spec(name, data));
  specs.push_back(table_model<FeatureAttention, FeatureAttentionOptions>(
      {"tutorial", "tutorial-plain", "tutorial-linear"}, {}, data, tutorial_training()));
  specs.back().configs["tutorial"] = tutorial_settings();
  specs.back().training.learning_rate = 5e-3;
  // ./dev new model adds rows above
  return std::make_unique<Task>("features", data, std::make_shared<TargetOutput>(data),
                                std::move(specs));
}

TaskRow features_task() {
  return {"features", "predict a column of a table from the others", "prediction -> columns",
          "CSV or TSV with a header; the target column is named by --target", make_features_task};
}

}  // namespace fovea
