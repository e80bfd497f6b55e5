#include "fovea/tasks/prefetch.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr const char* kTraceAsset = "trace.json";
constexpr const char* kPrefetcherAsset = "prefetcher.safetensors";

/// The accesses of an input, as texts.
std::vector<std::string> accesses_in(const std::string& line) {
  if (!is_json_object(line)) return split(line, ';');
  const Json json = parse_json(line, "input");
  require(json.contains("accesses") && json["accesses"].is_array(), ErrorKind::BadData,
          "input: expected {\"accesses\": [\"L 04acfa68 8 00109200\", …]}");
  std::vector<std::string> texts;
  for (const Json& access : json["accesses"]) {
    require(access.is_string(), ErrorKind::BadData, "input: an access is ", access.type_name(),
            "; expected a text such as \"L 04acfa68 8 00109200\"");
    texts.push_back(access.get<std::string>());
  }
  return texts;
}

/// The last access of a window.
int64_t line_now(const at::Tensor& lines) {
  return lines.data_ptr<int64_t>()[lines.numel() - 1];
}

}  // namespace

void PrefetchTask::describe(OptionList& list) {
  list.group("data", data_);
  if (is_network()) {
    list.group("model", voyager_);
  } else {
    baseline_.name = model_name();
    list.group("model", baseline_);
  }
  list.find("model.name").choices(models());
}

TrainingOptions PrefetchTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = is_network() ? 30 : 1;
  options.batch_size = is_network() ? 64 : 4096;
  options.learning_rate = is_network() ? 2e-3 : 0.1;
  options.schedule = is_network() ? "cosine" : "constant";
  options.clip_norm = is_network() ? 5 : 0;
  options.micro_batches = is_network() ? 2 : 1;
  options.monitor = {"coverage"};
  return options;
}

TraceUse PrefetchTask::use() const {
  TraceUse use;
  use.degree = degree();
  if (is_network()) {
    use.experts = voyager_.experts;
  } else {
    use.prefetcher = model_name();
    use.frozen = baseline_.frozen;
  }
  return use;
}

std::unique_ptr<Prefetcher> PrefetchTask::prefetcher() const {
  if (is_network()) return nullptr;
  return make_prefetcher(model_name(), known_.learned, "the run");
}

Splits PrefetchTask::load(const DataSource& source, uint64_t) {
  return load_traces(source, data_, use(), known_);
}

void PrefetchTask::write_data(const std::filesystem::path& folder) const {
  write_traces_data(folder, data_);
}

std::unique_ptr<Model> PrefetchTask::make_model() const {
  if (!is_network()) {
    PrefetchBaselineOptions options = baseline_;
    options.name = model_name();
    return std::make_unique<PrefetchBaseline>(options);
  }
  return std::make_unique<Voyager>(
      voyager_, VoyagerShape{known_.coding->page_numbers(), known_.coding->pc_numbers()});
}

void PrefetchTask::save(const RunFolder& folder) const {
  folder.write_asset(kTraceAsset, known_.coding->to_json());
  if (!known_.learned.empty())
    write_safetensors(folder.new_asset(kPrefetcherAsset), known_.learned);
}

void PrefetchTask::restore(const RunFolder& folder) {
  known_.coding = std::make_shared<const TraceCoding>(
      TraceCoding::from_json(folder.read_asset(kTraceAsset), folder.asset(kTraceAsset).string()));
  known_.learned.clear();
  const std::filesystem::path learned = folder.asset(kPrefetcherAsset);
  if (std::filesystem::exists(learned)) known_.learned = read_safetensors(learned).tensors;
}

std::vector<std::string> PrefetchTask::metric_notes(const Dataset&) const {
  return {
      concat("accuracy: lines named that were accessed next / lines named; coverage: accesses "
             "named before / accesses. ..._",
             degree(), ": up to ", degree(), " lines are named after each access, and have ",
             degree(), " accesses to come true")};
}

Example PrefetchTask::parse(const std::string& line) const {
  const std::vector<std::string> texts = accesses_in(line);
  TraceFilter filter(data_.filter);
  std::vector<StoredAccess> seen;
  for (const std::string& text : texts) {
    if (trim(text).empty()) continue;
    TraceAccess access;
    try {
      access = parse_access(trim(text));
    } catch (const Error& error) {
      fail(error.kind(), "input: ", error.what());
    }
    if (filter.sees(access)) seen.push_back({line_of(access.address), access.pc});
  }
  require(!seen.empty(), ErrorKind::BadData,
          "input: there is no access that a prefetcher sees; expected accesses such as "
          "L 04acfa68 8 00109200 with semicolons between them, the oldest first");
  Example example = encoder().example(seen);
  if (const auto known = prefetcher()) {
    for (const StoredAccess& access : seen) known->see(access, /*learns=*/false);
    const at::Tensor named = torch::empty({degree()}, torch::kLong);
    known->name({named.data_ptr<int64_t>(), size_t(degree())});
    example.tensors["candidates"] = named;
  }
  return example;
}

Json PrefetchTask::input_schema() const {
  return {{"type", "object"},
          {"properties",
           {{"accesses", {{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 1}}}}},
          {"required", Json::array({"accesses"})}};
}

Batch PrefetchTask::collate(std::span<const Example> examples) const {
  return encoder().collate(examples);
}

int64_t PrefetchTask::line_named(const Decoded& output, int64_t now) const {
  if (output.tokens.size() == 1) return output.tokens[0];
  const auto page = known_.coding->page_of(output.tokens.at(0), page_of_line(now));
  return page ? *page * kPageLines + output.tokens.at(1) : kNoLine;
}

std::vector<int64_t> PrefetchTask::lines_named(const std::vector<Decoded>& outputs,
                                               int64_t now) const {
  std::vector<int64_t> lines;
  for (const Decoded& output : outputs) {
    const int64_t line = line_named(output, now);
    const bool is_new = std::find(lines.begin(), lines.end(), line) == lines.end();
    lines.push_back(is_new ? line : kNoLine);
  }
  return lines;
}

void PrefetchTask::finish(const Model&, std::span<const Example> examples,
                          std::vector<Prediction>& predictions) const {
  for (size_t i = 0; i < predictions.size(); ++i) {
    std::vector<Decoded>& outputs = predictions[i].outputs;
    const auto lines = lines_named(outputs, line_now(examples[i].tensors.at("lines")));
    for (size_t k = 0; k < outputs.size(); ++k)
      outputs[k].text = lines[k] == kNoLine ? "" : hexadecimal(address_of_line(lines[k]));
  }
}

Json PrefetchTask::answer(const Example& example, const Prediction& prediction) const {
  Json lines = Json::array();
  for (const Decoded& output : prediction.outputs)
    if (!output.text.empty())
      lines.push_back(
          {{"address", output.text}, {"probability", std::exp(output.log_probability)}});
  return {{"lines", lines}};
}

std::string PrefetchTask::answer_line(const Example& example, const Prediction& prediction) const {
  std::vector<std::string> lines;
  for (const Decoded& output : prediction.outputs)
    if (!output.text.empty())
      lines.push_back(concat(output.text, " ", format_number(std::exp(output.log_probability), 3)));
  return lines.empty() ? "nothing" : join(lines, "\t");
}

Example PrefetchTask::describe_output(const Example& example, const Prediction& prediction) const {
  Example described = example;
  if (!is_network() || prediction.outputs.empty()) return described;
  const Decoded& first = prediction.outputs[0];
  const auto page = known_.coding->page_of(first.tokens.at(0),
                                           page_of_line(line_now(example.tensors.at("lines"))));
  Axis axis{"outputs", "slot", {}};
  axis.labels = {page ? concat("page ", hexadecimal(uint64_t(*page))) : "an unknown page",
                 concat("offset ", first.tokens.at(1))};
  axis.output = true;
  described.axes.push_back(std::move(axis));
  return described;
}

Explanation PrefetchTask::overview(const Model& model, const Dataset& rows) const {
  require(is_network(), ErrorKind::Unsupported, "explain: model.name=", model_name(),
          " is a table without attention; train voyager");
  return Task::overview(model, rows);
}

ExplainOptions PrefetchTask::explain_options() const {
  ExplainOptions options;
  options.task = "prefetch";
  options.title = "Which accesses the next one follows from";
  options.map_titles = {{"experts", "Which experts speak for an access's offset, as its page says"},
                        {"history", "Accesses that page and offset rest on"}};
  options.describe = [this](const Example& example, const Prediction& prediction) {
    const Json lines = answer(example, prediction)["lines"];
    if (lines.empty()) return std::string("nothing is named");
    return concat("line ", lines[0]["address"].get<std::string>(), " (",
                  format_number(lines[0]["probability"], 3), ")");
  };
  return options;
}

Example PrefetchTask::erase(const Example& example, const std::string& axis,
                            std::span<const int64_t> units) const {
  return encoder().erase(example, axis, units);
}

std::vector<Json> PrefetchTask::example_inputs(const Dataset& rows, int64_t count) const {
  const auto& trace = dynamic_cast<const TraceDataset&>(rows);
  std::vector<Json> inputs;
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row) {
    std::vector<std::string> accesses;
    for (const StoredAccess& access : trace.accesses(row))
      accesses.push_back(concat(data_.filter.kinds == "stores" ? "S " : "L ",
                                hexadecimal(address_of_line(access.line)), " 8 ",
                                hexadecimal(access.pc)));
    inputs.push_back(join(accesses, "; "));
  }
  return inputs;
}

}  // namespace fovea
