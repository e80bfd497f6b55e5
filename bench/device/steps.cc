// Steps of a training on a GPU, for bench/device/run.py: a network of the zoo on pairs of random symbols, all of
// one length, so that nothing but the network is timed.
//   bench_device make NETWORK FOLDER              writes weights and pairs for both sides
//   bench_device train NETWORK FOLDER [key=value …]  prints {"losses": per epoch, "seconds": a step, by epoch}
// Options: steps, epochs, dropout, and training.* without its prefix (precision, gear, …).
#include <cstdlib>
#include <iostream>

#include "fovea/core/error.h"
#include "fovea/core/json.h"
#include "fovea/core/safetensors.h"
#include "fovea/core/torch.h"
#include "fovea/models/seq2seq.h"
#include "fovea/models/transformer.h"
#include "fovea/training/trainer.h"

namespace fovea {
namespace {

using at::Tensor;

struct Network {
  int64_t rows, words, symbols;
  std::function<std::unique_ptr<Model>(double dropout)> make;
  double rate;  // of learning
};

SequenceShape shape_of(int64_t symbols) {
  SequenceShape shape;
  shape.source_symbols = shape.target_symbols = symbols;
  return shape;
}

Network rnnsearch() {
  constexpr int64_t kSymbols = 30000;
  return {80, 30, kSymbols, [](double dropout) {
            Seq2SeqOptions o;
            o.cell = "gru", o.hidden = o.encoder_hidden = 1000, o.embedding = 620;
            o.decoder = "bahdanau", o.score.name = "additive", o.score.hidden_size = 1000;
            o.bridge = "backward", o.readout = "maxout", o.readout_size = 500;
            o.readout_from = "previous", o.dropout = dropout;
            return std::make_unique<Seq2Seq>(o, SearchOptions(), shape_of(kSymbols));
          },
          2e-4};
}

Network transformer() {
  constexpr int64_t kSymbols = 32000;
  return {128, 64, kSymbols, [](double dropout) {
            TransformerOptions o;
            o.hidden = 512, o.layers = o.decoder_layers = 6, o.heads = 8, o.feed_forward = 2048;
            o.norm = "pre", o.positions = "sinusoidal", o.label_smoothing = 0.1;
            o.dropout = dropout, o.attention_dropout = dropout;
            SequenceShape shape = shape_of(kSymbols);
            shape.shared_vocabulary = true;
            return std::make_unique<Transformer>(o, SearchOptions(), shape);
          },
          1e-4};
}

Network network_named(const std::string& name) {
  require(name == "rnnsearch" || name == "transformer", ErrorKind::InvalidArgument, "no network '",
          name, "'; known: rnnsearch, transformer");
  return name == "rnnsearch" ? rnnsearch() : transformer();
}

/// Rows of one length; the last target is the end symbol.
class Pairs : public Dataset {
 public:
  explicit Pairs(NamedTensors columns) : columns_(std::move(columns)) {}
  int64_t size() const override { return columns_.at("source").size(0); }
  Example example(int64_t) const override { return {}; }
  Batch batch(std::span<const int64_t> rows) const override {
    Batch batch;
    batch.size = int64_t(rows.size());
    const Tensor picked = torch::tensor(std::vector<int64_t>(rows.begin(), rows.end()));
    for (const auto& [name, column] : columns_) {
      batch.tensors[name] = column.index_select(0, picked);
      batch.tensors[name + ".keep"] = batch.tensors[name].ne(0);
    }
    return batch;
  }

 private:
  NamedTensors columns_;
};

void make(const Network& network, const std::filesystem::path& folder, int64_t steps) {
  const auto model = network.make(0);
  model->initialise(Random(1));
  NamedTensors weights, columns;
  for (const auto& item : model->named_parameters()) weights[item.key()] = item.value().detach();
  write_safetensors(folder / "model.safetensors", weights, {});
  for (const char* side : {"source", "target"}) {
    const Tensor drawn = Random(2).split(side).uniform_tensor(
        {steps * network.rows, network.words}, 4, double(network.symbols), at::kDouble);
    columns[side] = drawn.to(at::kLong);
  }
  columns["target"].select(1, network.words - 1).fill_(3);
  write_safetensors(folder / "pairs.safetensors", columns, {});
}

void train(const Network& network, const std::filesystem::path& folder,
           const std::map<std::string, std::string>& given) {
  TrainingOptions options;
  options.batch_size = network.rows, options.shuffle = false, options.clip_norm = 1;
  options.learning_rate = network.rate, options.epochs = 3;
  double dropout = 0;
  std::string device = "cuda";
  OptionList list;
  options.describe(list);
  list.add("dropout", dropout, "of the network");
  list.add("device", device, "cpu or cuda");
  for (const auto& [key, value] : given) list.set(key, value);
  const auto model = network.make(dropout);
  load_state(*model, read_safetensors(folder / "model.safetensors").tensors, "the weights");
  model->to(at::Device(device));
  Trainer trainer(*model, options, 1);
  const Pairs pairs(read_safetensors(folder / "pairs.safetensors").tensors);
  Json losses = Json::array(), seconds = Json::array();
  for (const EpochReport& epoch : trainer.train(pairs, {}).epochs) {
    losses.push_back(epoch.loss);
    seconds.push_back(epoch.seconds / double(pairs.size() / network.rows));
  }
  std::cout << Json{{"losses", losses}, {"seconds", seconds}}.dump() << "\n";
}

}  // namespace
}  // namespace fovea

int main(int count, char** arguments) try {
  using namespace fovea;
  const std::vector<std::string> given(arguments + 1, arguments + count);
  require(given.size() >= 3, ErrorKind::InvalidArgument,
          "usage: bench_device make|train rnnsearch|transformer FOLDER [key=value …]");
  std::map<std::string, std::string> options;
  for (size_t i = 3; i < given.size(); ++i) {
    const size_t equals = given[i].find('=');
    require(equals != std::string::npos, ErrorKind::InvalidArgument, given[i], ": no key=value");
    options[given[i].substr(0, equals)] = given[i].substr(equals + 1);
  }
  const Network network = network_named(given[1]);
  if (given[0] == "make")
    make(network, given[2], options.contains("steps") ? std::stoll(options["steps"]) : 48);
  else
    train(network, given[2], options);
} catch (const std::exception& problem) {
  std::cerr << "bench_device: " << problem.what() << "\n";
  return EXIT_FAILURE;
}
