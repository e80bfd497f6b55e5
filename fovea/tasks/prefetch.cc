// The task `prefetch`: which line of memory is accessed next, from the accesses before. Voyager,
// and prefetchers without a network beside it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/data/traces/load.h"
#include "fovea/data/traces/prefetchers.h"
#include "fovea/metrics/prefetching.h"
#include "fovea/models/prefetch_baseline.h"
#include "fovea/models/voyager.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr const char* kTraceAsset = "trace.json";
constexpr const char* kPrefetcherAsset = "prefetcher.safetensors";
constexpr const char *kLinesBefore = "lines_before", *kLinesAfter = "lines_after";
constexpr int64_t kRowsInMemory = 1 << 15;  // what was named after them waits to be counted
constexpr int64_t kBlocksResampled = 200;
constexpr int64_t kAccessesTogether = 2048;             // that are answered at once
constexpr int64_t kRowsOnCpu = 256, kRowsOnGpu = 8192;  // of a batch

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

class TraceData : public DataKind {
 public:
  /// `use`: what the model needs of the data.
  explicit TraceData(std::function<TraceUse()> use) : use_(std::move(use)) {}
  const TracesDataOptions& options() const { return options_; }
  const TraceCoding& coding() const { return *known_.coding; }
  TraceUse use() const { return use_(); }
  TraceEncoder encoder() const { return {known_.coding, {options_.window, use().experts}}; }
  /// With what it learned in training; null where the model is a network.
  std::unique_ptr<Prefetcher> prefetcher() const {
    const std::string name = use().prefetcher;
    return name.empty() ? nullptr : make_prefetcher(name, known_.learned, "the run");
  }

  void describe(OptionList& list) override { options_.describe(list); }
  bool has_folds() const override { return false; }  // a trace is cut in time
  Splits load(const DataSource& source, uint64_t) override {
    return load_traces(source, options_, use(), known_);
  }
  void write(const std::filesystem::path& folder) const override {
    write_traces_data(folder, options_);
  }
  void save(const RunFolder& folder) const override {
    folder.write_asset(kTraceAsset, known_.coding->to_json());
    if (!known_.learned.empty())
      write_safetensors(folder.new_asset(kPrefetcherAsset), known_.learned);
  }
  void restore(const RunFolder& folder) override {
    known_.coding =
        std::make_shared<const TraceCoding>(read_asset_as<TraceCoding>(folder, kTraceAsset));
    known_.learned.clear();
    const std::filesystem::path learned = folder.asset(kPrefetcherAsset);
    if (std::filesystem::exists(learned)) known_.learned = read_safetensors(learned).tensors;
  }
  std::map<std::string, int64_t> sizes() const override {
    return {{"pages", coding().page_numbers()}, {"pcs", coding().pc_numbers()}};
  }

  /// {"accesses": ["L 04acfa68 8 00109200", …]}, or the accesses with semicolons between them, the
  /// oldest first.
  Example parse(const std::string& line) const override {
    TraceFilter filter(options_.filter);
    std::vector<StoredAccess> seen;
    for (const std::string& text : accesses_in(line)) {
      if (trim(text).empty()) continue;
      TraceAccess access;
      try {
        access = parse_access(trim(text));
      } catch (const Error& error) {
        fail(error.kind(), "input: ", error.what());
      }
      if (filter.sees(access)) seen.push_back({to_line(access.address), access.pc});
    }
    require(!seen.empty(), ErrorKind::BadData,
            "input: there is no access that a prefetcher sees; expected accesses such as "
            "L 04acfa68 8 00109200 with semicolons between them, the oldest first");
    Example example = encoder().example(seen);
    if (const auto known = prefetcher()) {
      for (const StoredAccess& access : seen) known->see(access, /*learns=*/false);
      const at::Tensor named = torch::empty({use().degree}, torch::kLong);
      known->name({named.data_ptr<int64_t>(), size_t(named.numel())});
      example.tensors["candidates"] = named;
    }
    return example;
  }
  Json input_schema() const override {
    return {{"type", "object"},
            {"properties",
             {{"accesses", {{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 1}}}}},
            {"required", Json::array({"accesses"})}};
  }
  Batch collate(std::span<const Example> examples) const override {
    return encoder().collate(examples);
  }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    return encoder().erase(example, axis, units);
  }

 private:
  std::function<TraceUse()> use_;
  TracesDataOptions options_;
  KnownTrace known_;
};

/// run(begin, end) for all of 0 … count-1, without gradients; side by side on a CPU.
template <class Run>
void in_batches(const Model& model, int64_t count, const Run& run) {
  const bool cpu = model.device().is_cpu();
  const int64_t size = cpu ? kRowsOnCpu : kRowsOnGpu;
  const int64_t batches = (count + size - 1) / size;
  const auto job = [&](int64_t index) {
    torch::NoGradGuard no_gradients;
    run(index * size, std::min(count, (index + 1) * size));
  };
  if (cpu) return run_parallel(batches, job);
  for (int64_t index = 0; index < batches; ++index) job(index);
}

/// The last access of a window.
int64_t line_now(const Example& example) {
  const at::Tensor& lines = example.tensors.at("lines");
  return lines.data_ptr<int64_t>()[lines.numel() - 1];
}

/// Accesses that wait for an answer, and as many before them as a window needs.
class WaitingAccesses {
 public:
  explicit WaitingAccesses(int64_t before) : before_(size_t(before)) {}
  void add(const StoredAccess& access) { accesses_.push_back(access), ++waiting_; }
  int64_t size() const { return waiting_; }
  /// Up to the index-th of those that wait, with it.
  std::span<const StoredAccess> window(int64_t index) const {
    const size_t end = accesses_.size() - size_t(waiting_) + size_t(index) + 1;
    const size_t begin = end > before_ + 1 ? end - before_ - 1 : 0;
    return std::span<const StoredAccess>(accesses_).subspan(begin, end - begin);
  }
  void clear() {
    waiting_ = 0;
    if (accesses_.size() > before_)
      accesses_.erase(accesses_.begin(), accesses_.end() - ptrdiff_t(before_));
  }

 private:
  size_t before_;
  int64_t waiting_ = 0;
  std::vector<StoredAccess> accesses_;
};

/// {"lines": [{"address": "4acfa40", "probability": 0.93}, …]}, the likeliest first.
class LinesOutput : public OutputKind {
 public:
  explicit LinesOutput(std::shared_ptr<const TraceData> data) : data_(std::move(data)) {}

  /// accuracy and coverage at degree 1 and, of rows that are one access after the other, at
  /// model.degree (metrics/prefetching.h).
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override {
    return measure_lines(model, rows, progress, nullptr);
  }
  /// With the interval of the accuracy. An access depends on those before it: blocks of accesses
  /// in a row are resampled.
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override {
    SummedMetric accuracy;
    Evaluation evaluation;
    evaluation.metrics = measure_lines(model, rows, progress, &accuracy);
    evaluation.main = "accuracy";
    evaluation.interval = bootstrap_interval(
        accuracy.in_blocks((rows.size() + kBlocksResampled - 1) / kBlocksResampled));
    return evaluation;
  }

  /// What came after each line the last time.
  NamedTensors fit_baselines(const Dataset& train, const LinearInputs&) const override {
    std::map<int64_t, int64_t> after;
    for (int64_t first = 0; first < train.size(); first += kRowsOnCpu) {
      const Batch batch = train.batch(rows_from(train, first, kRowsOnCpu));
      const std::vector<int64_t> lines = to_vector<int64_t>(batch.at("lines")),  // [B, S]
          next = to_vector<int64_t>(batch.at("next"));
      const size_t window = lines.size() / next.size();
      for (size_t i = 0; i < lines.size(); ++i)
        if (lines[i] >= 0)
          after[lines[i]] = (i + 1) % window == 0 ? next[i / window] : lines[i + 1];
    }
    std::vector<int64_t> from, to;
    for (const auto& [line, next] : after) from.push_back(line), to.push_back(next);
    return {{kLinesBefore, torch::tensor(from)}, {kLinesAfter, torch::tensor(to)}};
  }
  /// The line behind it, and what came after it the last time, learned further on the way.
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs&) const override {
    const std::vector<int64_t> from = to_vector<int64_t>(fitted.at(kLinesBefore)),
                               to = to_vector<int64_t>(fitted.at(kLinesAfter));
    std::unordered_map<int64_t, int64_t> after;
    for (size_t i = 0; i < from.size(); ++i) after[from[i]] = to.at(i);
    PrefetchScore next_line(1), last_successor(1);
    for (int64_t first = 0; first < rows.size(); first += kRowsOnCpu) {
      const Batch batch = rows.batch(rows_from(rows, first, kRowsOnCpu));
      const std::vector<int64_t> lines = to_vector<int64_t>(batch.at("lines").select(1, -1)),
                                 next = to_vector<int64_t>(batch.at("next"));
      for (size_t i = 0; i < lines.size(); ++i) {
        const auto known = after.find(lines[i]);
        const int64_t behind = lines[i] + 1, last = known == after.end() ? kNoLine : known->second;
        next_line.add({&behind, 1}, next[i]);
        last_successor.add({&last, 1}, next[i]);
        after[lines[i]] = next[i];
      }
    }
    const auto metrics = [](const PrefetchScore& score) -> Metrics {
      return {{"accuracy", score.accuracy(), true}, {"coverage", score.coverage(), true}};
    };
    return {{"next line", metrics(next_line)}, {"last successor", metrics(last_successor)}};
  }

  std::vector<std::string> metric_notes(const Dataset&) const override {
    const int64_t degree = data_->use().degree;
    return {
        concat("accuracy: lines named that were accessed next / lines named; coverage: "
               "accesses named before / accesses. ..._",
               degree, ": up to ", degree, " lines are named after each access, and have ", degree,
               " accesses to come true")};
  }

  /// Names the lines: their addresses in hexadecimal digits, "" for one that has none.
  void finish(const Model&, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override {
    for (size_t i = 0; i < predictions.size(); ++i) {
      std::vector<Decoded>& outputs = predictions[i].outputs;
      const auto lines = lines_named(outputs, line_now(examples[i]));
      for (size_t k = 0; k < outputs.size(); ++k)
        outputs[k].text = lines[k] == kNoLine ? "" : hexadecimal(to_address(lines[k]));
    }
  }
  Json answer(const Example&, const Prediction& prediction) const override {
    Json lines = Json::array();
    for (const Decoded& output : prediction.outputs)
      if (!output.text.empty())
        lines.push_back(
            {{"address", output.text}, {"probability", std::exp(output.log_probability)}});
    return {{"lines", lines}};
  }
  std::string answer_line(const Example&, const Prediction& prediction) const override {
    std::vector<std::string> lines;
    for (const Decoded& output : prediction.outputs)
      if (!output.text.empty())
        lines.push_back(
            concat(output.text, " ", format_number(std::exp(output.log_probability), 3)));
    return lines.empty() ? "nothing" : join(lines, "\t");
  }
  std::string headline(const Example& example, const Prediction& prediction) const override {
    const Json lines = answer(example, prediction)["lines"];
    if (lines.empty()) return "nothing is named";
    return concat("line ", lines[0]["address"].get<std::string>(), " (",
                  format_number(lines[0]["probability"], 3), ")");
  }
  /// A network puts out a page and an offset.
  Example describe_output(const Example& example, const Prediction& prediction) const override {
    Example described = example;
    if (prediction.outputs.empty() || prediction.outputs[0].tokens.size() < 2) return described;
    const std::vector<int64_t>& tokens = prediction.outputs[0].tokens;
    const auto page = data_->coding().page_of(tokens[0], to_page(line_now(example)));
    Axis axis{"outputs", "slot", {}};
    axis.labels = {page ? concat("page ", hexadecimal(uint64_t(*page))) : "an unknown page",
                   concat("offset ", tokens[1])};
    axis.output = true;
    described.axes.push_back(std::move(axis));
    return described;
  }

  /// Of every access that a prefetcher sees: its line, a tab, what answer_line() says.
  bool streams() const override { return true; }
  StreamReport stream(const Model& model, const std::filesystem::path& path, bool json,
                      const std::function<void(const std::string& line)>& answer) const override {
    const auto start = std::chrono::steady_clock::now();
    TraceReader reader(path, data_->options().cut_trace());
    TraceFilter filter(data_->options().filter);
    WaitingAccesses waiting(data_->encoder().shape().accesses);
    const TraceUse use = data_->use();
    const auto known = data_->prefetcher();
    std::vector<int64_t> named(known ? size_t(use.degree) : 0), all_named;
    StreamReport report;
    TraceAccess access;
    while (reader.next(access)) {
      ++report.events;
      if (!filter.sees(access)) continue;
      const StoredAccess stored{to_line(access.address), access.pc};
      if (known) {
        known->see(stored, /*learns=*/!use.frozen);
        known->name(named);
      }
      waiting.add(stored);
      all_named.insert(all_named.end(), named.begin(), named.end());
      ++report.predictions;
      if (waiting.size() == kAccessesTogether)
        answer_waiting(model, waiting, all_named, json, answer);
    }
    answer_waiting(model, waiting, all_named, json, answer);
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.notes = reader.notes();
    return report;
  }

 private:
  /// measure(), with what each access adds to the accuracy where that is asked for.
  Metrics measure_lines(const Model& model, const Dataset& rows, const RowProgress& progress,
                        SummedMetric* accuracy) const {
    const int64_t degree = data_->use().degree;
    PrefetchScore one(1), many(degree);
    bool consecutive = true;
    int64_t before = kNoLine;  // what came after the row before
    for (int64_t first = 0; first < rows.size(); first += kRowsInMemory) {
      const int64_t count = std::min(kRowsInMemory, rows.size() - first);
      std::vector<std::vector<int64_t>> named(static_cast<size_t>(count));
      std::vector<int64_t> now(named.size()), next(named.size());
      in_batches(model, count, [&](int64_t begin, int64_t end) {
        const Batch batch = rows.batch(rows_from(rows, first + begin, end - begin));
        const Predictions predictions = model.predict(batch.to(model.device()));
        const at::Tensor of_now = batch.at("lines").select(1, -1).contiguous();  // [B]
        const at::Tensor of_next = batch.at("next").contiguous();                // [B]
        for (int64_t row = 0; row < batch.size; ++row) {
          const auto at = static_cast<size_t>(begin + row);
          now[at] = of_now.data_ptr<int64_t>()[row];
          next[at] = of_next.data_ptr<int64_t>()[row];
          named[at] = lines_named(predictions.outputs[size_t(row)], now[at]);
        }
      });
      for (size_t row = 0; row < named.size(); ++row) {
        one.add(named[row], next[row]);
        many.add(named[row], next[row]);
        if (accuracy) {
          const int64_t first_named = named[row].empty() ? kNoLine : named[row][0];
          accuracy->rows.push_back(
              {double(first_named == next[row]), double(first_named != kNoLine)});
        }
        consecutive = consecutive && (first + int64_t(row) == 0 || now[row] == before);
        before = next[row];
      }
      if (progress) progress(first + count);
    }
    Metrics metrics{{"accuracy", one.accuracy(), true}, {"coverage", one.coverage(), true}};
    if (consecutive && degree > 1) {
      metrics.push_back({concat("accuracy_", degree), many.accuracy(), true});
      metrics.push_back({concat("coverage_", degree), many.coverage(), true});
    }
    if (rows.has_truth())
      if (const auto share = planted_truth(model, rows, "history"))
        metrics.push_back({"attention_truth", *share, true});
    return metrics;
  }

  /// The line that an output means after an access to line `now`, or kNoLine.
  int64_t line_named(const Decoded& output, int64_t now) const {
    if (output.tokens.size() == 1) return output.tokens[0];
    const auto page = data_->coding().page_of(output.tokens.at(0), to_page(now));
    return page ? *page * kPageLines + output.tokens.at(1) : kNoLine;
  }
  /// In their order; kNoLine for one that has no line, or was named before.
  std::vector<int64_t> lines_named(const std::vector<Decoded>& outputs, int64_t now) const {
    std::vector<int64_t> lines;
    for (const Decoded& output : outputs) {
      const int64_t line = line_named(output, now);
      const bool is_new = std::find(lines.begin(), lines.end(), line) == lines.end();
      lines.push_back(is_new ? line : kNoLine);
    }
    return lines;
  }

  /// Answers what waits. `named`: by a prefetcher after each access; empty where there is none.
  void answer_waiting(const Model& model, WaitingAccesses& waiting, std::vector<int64_t>& named,
                      bool json, const std::function<void(const std::string& line)>& tell) const {
    const TraceEncoder encoder = data_->encoder();
    const int64_t degree = named.empty() ? 0 : int64_t(named.size()) / waiting.size();
    std::vector<std::string> lines(static_cast<size_t>(waiting.size()));
    in_batches(model, waiting.size(), [&](int64_t begin, int64_t end) {
      std::vector<Example> examples;
      for (int64_t i = begin; i < end; ++i) {
        examples.emplace_back().tensors = encoder.numbers(waiting.window(i));
        if (degree > 0)
          examples.back().tensors["candidates"] =
              at::from_blob(named.data() + i * degree, {degree}, at::kLong);
      }
      const Predictions predictions = model.predict(encoder.collate(examples).to(model.device()));
      std::vector<Prediction> finished;
      for (int64_t i = 0; i < end - begin; ++i) finished.push_back(predictions.at(i));
      finish(model, examples, finished);
      for (size_t i = 0; i < examples.size(); ++i)
        lines[size_t(begin) + i] = format_answer(examples[i], finished[i], json);
    });
    for (const std::string& line : lines) tell(line);
    waiting.clear();
    named.clear();
  }
  std::string format_answer(const Example& example, const Prediction& prediction, bool json) const {
    const std::string now = hexadecimal(to_address(line_now(example)));
    if (!json) return concat(now, "\t", answer_line(example, prediction));
    Json object{{"access", now}};
    object.update(answer(example, prediction));
    return object.dump();
  }

  std::shared_ptr<const TraceData> data_;
};

/// The spec of a model that uses the data in this way.
template <class Options, class Make>
ModelSpec prefetch_spec(std::shared_ptr<Options> options, std::function<TraceUse()> use,
                        TrainingOptions training, Make make) {
  const auto data = std::make_shared<TraceData>(std::move(use));
  training.monitor = {"coverage"};
  ModelSpec spec = model_spec(
      {options->name}, options, std::move(training),
      [data, make](const Options& own) { return make(own, *data); },
      [] {
        return ExplainTitles{
            "Which accesses the next one follows from",
            {{"experts", "Which experts speak for an access's offset, as its page says"},
             {"history", "Accesses that page and offset rest on"}}};
      });
  spec.training.monitor = {"coverage"};  // there is no loss in its metrics
  spec.data = data;
  spec.output = std::make_shared<LinesOutput>(data);
  return spec;
}

ModelSpec voyager_spec() {
  const auto options = std::make_shared<VoyagerOptions>();
  TrainingOptions training = sequence_training();
  training.epochs = 30;
  training.batch_size = 64;
  training.usual_steps = 4500;
  training.clip_norm = 5;
  const auto use = [options] {
    return TraceUse{.experts = options->experts, .degree = options->degree};
  };
  return prefetch_spec(
      options, use, training, [](const VoyagerOptions& own, const TraceData& data) {
        return std::make_unique<Voyager>(
            own, VoyagerShape{data.coding().page_numbers(), data.coding().pc_numbers()});
      });
}

ModelSpec prefetcher_spec(const std::string& name) {
  const auto options = std::make_shared<PrefetchBaselineOptions>();
  options->name = name;
  TrainingOptions training;
  training.epochs = 1;
  training.most_epochs = 1;
  training.batch_size = 4096;
  training.learning_rate = 0.1;
  training.schedule = "constant";
  training.clip_norm = 0;
  training.micro_batches = 1;
  const auto use = [options] {
    return TraceUse{
        .prefetcher = options->name, .degree = options->degree, .frozen = options->frozen};
  };
  ModelSpec spec = prefetch_spec(options, use, training,
                                 [](const PrefetchBaselineOptions& own, const TraceData&) {
                                   return std::make_unique<PrefetchBaseline>(own);
                                 });
  spec.has_attention = [] { return false; };
  return spec;
}

}  // namespace

static std::unique_ptr<Task> make_prefetch_task() {
  std::vector<ModelSpec> specs{voyager_spec()};
  for (const char* name : {"last_successor", "stride", "next_line"})
    specs.push_back(prefetcher_spec(name));
  const auto data = specs[0].data;
  const auto output = specs[0].output;
  return std::make_unique<Task>("prefetch", data, output, std::move(specs));
}

TaskRow prefetch_task() {
  return {
      "prefetch", "which line of memory a program accesses next",
      "access -> experts, next line -> accesses",
      "a trace: KIND ADDRESS SIZE PC a line, or what valgrind's lackey writes, perhaps with .gz; a "
      "folder of such",
      make_prefetch_task};
}

}  // namespace fovea
