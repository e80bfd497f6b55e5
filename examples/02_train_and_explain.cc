// Trains feature attention on built-in data, saves nothing, and draws where the model looks.
#include <cstdio>

#include "fovea/explain/draw/terminal.h"
#include "fovea/tasks/train.h"

int main() {
  using namespace fovea;
  Setup setup("features");
  setup.set("model.name", "tutorial");  // small and fast; without this line the data decide
  setup.options().set("data.rows", "20000");
  setup.options().set("training.learning_rate", "0.005");

  TrainRequest request;
  request.hooks.epoch_ended = [](const EpochReport& report) {
    if (report.epoch % 4 == 0)
      std::printf("epoch %d  loss %.3f\n", static_cast<int>(report.epoch), report.loss);
  };
  const Training training = train(setup, request);
  for (const Metric& metric : training.validation)
    std::printf("%s %.3f\n", metric.name.c_str(), metric.value);

  const Explanation explanation =
      setup.task().overview(*training.model, *training.splits.validation);
  TerminalOptions terminal;
  terminal.colour = false;
  std::fputs(render_terminal(explanation, terminal).c_str(), stdout);
}
