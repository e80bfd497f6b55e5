// One thread loads runs, which sets the number of threads, while another one predicts.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fovea/tensor/torch.h"
#include "tests/support/task_run.h"

namespace fovea::pipeline_threads_test {
namespace {

TEST(PipelineThreads, LoadingDisturbsNoPrediction) {
  const testing::TemporaryFolder folder;
  testing::train_run(
      testing::setup_of("features", {"model.name=attention", "data.rows=400", "training.epochs=1"}),
      folder / "run");
  Pipeline pipeline = Pipeline::load(folder / "run", "cpu", {"threads=4"});
  std::vector<Example> examples;
  const Splits splits = pipeline.load_data("");
  for (int i = 0; i < 40; ++i)  // several batches, so that the threads have something to share
    for (int64_t row = 0; row < splits.validation->size(); ++row)
      examples.push_back(splits.validation->example(row));
  const auto scores = [&] {
    std::vector<at::Tensor> rows;
    for (const Prediction& prediction : pipeline.predict(examples))
      rows.push_back(prediction.scores);
    return torch::stack(rows);  // [N, 2]
  };
  const at::Tensor expected = scores();

  std::atomic<bool> is_done = false;
  std::atomic<int> loaded = 0;
  std::thread loading([&] {
    while (!is_done) {
      Pipeline::load(folder / "run", "cpu", {loaded % 2 ? "threads=4" : "threads=2"});
      ++loaded;
    }
  });
  int rounds = 0;
  for (; rounds < 20 || loaded < 20; ++rounds) EXPECT_TRUE(scores().equal(expected)) << rounds;
  is_done = true;
  loading.join();
  EXPECT_GE(loaded, 20);
}

}  // namespace
}  // namespace fovea::pipeline_threads_test
