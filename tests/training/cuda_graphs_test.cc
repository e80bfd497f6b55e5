// Steps that are recorded on a GPU: what they need of models holds everywhere; recording itself is
// tested where there is a GPU (./dev gpu).
#include "fovea/training/cuda_graphs.h"
#include "fovea/base/text.h"

#include <gtest/gtest.h>
#include <torch/cuda.h>

#include "fovea/models/seq2seq.h"
#include "fovea/models/transformer.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/trainer.h"
#include "tests/support/golden.h"

namespace fovea::cuda_graphs_test {
namespace {

using at::Tensor;
using testing::largest_difference;

constexpr int64_t kSymbols = 30, kLongest = 13;

/// Pairs of random symbols, up to kLongest on each side.
class Pairs : public Dataset {
 public:
  explicit Pairs(int64_t count) : count_(count) {}
  int64_t size() const override { return count_; }
  Example example(int64_t) const override { return {}; }
  int64_t length(int64_t row) const override { return std::max(side(row, 0), side(row, 1)); }
  Batch batch(std::span<const int64_t> rows) const override {
    Batch batch;
    batch.size = int64_t(rows.size());
    for (const int which : {0, 1}) {
      int64_t longest = 0;
      for (const int64_t row : rows) longest = std::max(longest, side(row, which));
      Tensor ids = at::zeros({batch.size, longest}, at::kLong);
      for (int64_t i = 0; i < batch.size; ++i)
        for (int64_t t = 0; t < side(rows[size_t(i)], which); ++t)
          ids[i][t] =
              4 + int64_t(Random(uint64_t(which))
                              .below(uint64_t(rows[size_t(i)] * kLongest + t), kSymbols - 4));
      const std::string name = which == 0 ? "source" : "target";
      batch.tensors[name] = ids;
      batch.tensors[name + ".keep"] = ids.ne(0);
    }
    return batch;
  }

 private:
  static int64_t side(int64_t row, int which) {
    return 2 + int64_t(Random(uint64_t(9 + which)).below(uint64_t(row), kLongest - 2));
  }
  int64_t count_;
};

struct Network {
  std::string name;
  std::function<std::unique_ptr<Model>()> make;
};

std::vector<Network> networks(double dropout = 0) {
  SequenceShape shape;
  shape.source_symbols = shape.target_symbols = kSymbols;
  const auto recurrent = [=](const std::string& cell, const std::string& decoder,
                             const std::string& score, const std::string& readout) -> Network {
    return {concat(cell, ", ", decoder, ", ", score), [=] {
              Seq2SeqOptions options;
              options.cell = cell, options.decoder = decoder, options.score.name = score;
              options.readout = readout, options.dropout = dropout;
              options.hidden = 16, options.embedding = 12, options.score.hidden_size = 8;
              return std::make_unique<Seq2Seq>(options, SearchOptions(), shape);
            }};
  };
  Network transformer{"transformer", [=] {
                        TransformerOptions options;
                        options.hidden = 16, options.layers = 2, options.heads = 2;
                        options.feed_forward = 24;
                        options.dropout = options.attention_dropout = dropout;
                        return std::make_unique<Transformer>(options, SearchOptions(), shape);
                      }};
  return {recurrent("gru", "bahdanau", "additive", "maxout"),
          recurrent("lstm", "luong", "general", "tanh"), recurrent("rnn", "luong", "dot", "tanh"),
          transformer};
}

TEST(PadToMultiple, FillsOpenSizesWithZeros) {
  const Pairs pairs(5);
  const std::vector<int64_t> rows{0, 1, 2, 3, 4};
  const Batch batch = pairs.batch(rows);
  const Batch padded = pad_to_multiple(batch, networks()[0].make()->schema());
  for (const auto& [name, tensor] : batch.tensors) {
    const Tensor& own = padded.at(name);
    EXPECT_EQ(own.size(0), 5);
    EXPECT_EQ(own.size(1) % 8, 0);
    EXPECT_LT(own.size(1) - tensor.size(1), 8);
    EXPECT_TRUE(own.narrow(1, 0, tensor.size(1)).equal(tensor)) << name;
    EXPECT_EQ(own.narrow(1, tensor.size(1), own.size(1) - tensor.size(1)).sum().item<double>(), 0);
  }
}

TEST(PadToMultiple, ChangesNoLossOfANetworkThatCanBeRecorded) {
  const Pairs pairs(6);
  const std::vector<int64_t> rows{0, 1, 2, 3, 4, 5};
  const Batch batch = pairs.batch(rows);
  for (const Network& network : networks()) {
    const auto model = network.make();
    model->initialise(Random(1));
    ASSERT_TRUE(model->supports_cuda_graph()) << network.name;
    const auto gradients = [&](const Batch& own) {
      for (Tensor& parameter : model->parameters()) parameter.mutable_grad() = Tensor();
      const Loss loss = model->loss(own, {Random(2), 0});
      loss.objective.backward();
      std::vector<Tensor> flat{loss.objective.detach().view({1}),
                               loss.units.view({1}).to(at::kFloat)};
      for (const Tensor& parameter : model->parameters())
        flat.push_back(parameter.grad().flatten());
      return at::cat(flat);
    };
    EXPECT_LT(
        largest_difference(gradients(batch), gradients(pad_to_multiple(batch, model->schema()))),
        1e-5)
        << network.name;
  }
}

TrainingOptions short_training(const std::string& path) {
  TrainingOptions options;
  options.epochs = 6, options.batch_size = 16, options.pool_batches = 2, options.path = path;
  options.clip_norm = 1;
  return options;
}

/// The loss of each epoch, and the weights after the last.
struct Trained {
  std::vector<double> losses;
  Tensor weights;

  Trained(const Network& network, const at::Device& device, const TrainingOptions& options) {
    const auto model = network.make();
    model->initialise(Random(1));
    model->to(device);
    for (const EpochReport& epoch : Trainer(*model, options, 3).train(Pairs(160), {}).epochs)
      losses.push_back(epoch.loss);
    model->to(at::kCPU);
    std::vector<Tensor> flat;
    for (const Tensor& parameter : model->parameters())
      flat.push_back(parameter.detach().flatten());
    weights = at::cat(flat).cpu();
  }
};

TEST(CudaGraphs, AreTheOrdinaryOnes) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
  for (const Network& network : networks()) {
    const Trained cpu(network, at::kCPU, short_training("autograd")),
        ordinary(network, at::kCUDA, short_training("autograd")),
        recorded(network, at::kCUDA, short_training("fused"));
    for (size_t epoch = 0; epoch < cpu.losses.size(); ++epoch) {
      EXPECT_NEAR(ordinary.losses[epoch], cpu.losses[epoch], 2e-4) << network.name;
      EXPECT_NEAR(recorded.losses[epoch], cpu.losses[epoch], 2e-4) << network.name;
    }
    EXPECT_LT(largest_difference(recorded.weights, cpu.weights), 5e-3) << network.name;
    EXPECT_LT(recorded.losses.back(), recorded.losses.front() - 0.05) << "it learned nothing";
  }
}

TEST(CudaGraphs, DrawAnewAtEveryStepAndTheSameForTheSameSeed) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
  for (const Network& network : networks(/*dropout=*/0.3)) {
    const Trained one(network, at::kCUDA, short_training("fused")),
        again(network, at::kCUDA, short_training("fused"));
    EXPECT_LT(largest_difference(one.weights, again.weights), 1e-3) << network.name;
    TrainingOptions still = short_training("fused");
    still.learning_rate = 0;  // the same weights and rows: only what is dropped differs
    const Trained losses(network, at::kCUDA, still);
    EXPECT_NE(losses.losses[3], losses.losses[4]) << network.name << ": the masks are frozen";
  }
}

TEST(CudaGraphs, RoundedProductsLearnTheSame) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
  for (const Network& network : networks()) {
    TrainingOptions options = short_training("fused");
    const Trained exact(network, at::kCUDA, options);
    options.precision = "bf16";
    const Trained rounded(network, at::kCUDA, options);
    EXPECT_NEAR(rounded.losses.back(), exact.losses.back(), 0.05) << network.name;
  }
}

}  // namespace
}  // namespace fovea::cuda_graphs_test
