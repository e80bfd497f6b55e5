// Networks that give a picture a class. Draws cannot be exported: of the recurrent model of
// glimpses the graph follows the means of the policy, from a first place that is an input.
#include "fovea/export/exporters.h"
#include "fovea/export/image_encoder.h"
#include "fovea/models/image_baselines.h"
#include "fovea/models/recurrent_glimpses.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using namespace onnx;

namespace {

Value mean_pool(const Value& x, int64_t size, int64_t stride) {
  return x.graph().node("AveragePool", {x},
                        {{"kernel_shape", std::vector<int64_t>(2, size)},
                         {"strides", std::vector<int64_t>(2, stride)}});
}

/// Zeros around x [B, C, H, W].
Value framed(const Value& x, int64_t before, int64_t after) {
  Graph& graph = x.graph();
  return graph.node("Pad", {x, graph.integers({0, 0, before, before, 0, 0, after, after})});
}

/// nn/vision/glimpse_sensor.h in a graph.
class Sensor {
 public:
  Sensor(const RecurrentGlimpsesOptions& options, const PictureInput& input, const Value& image)
      : input_(input), sensor_({options.patch, options.scales}) {
    const int64_t last = options.scales - 1, before = sensor_.side(last) / 2;
    const Value wide = framed(image / 255, before, sensor_.side(last) - before);
    Values layers;
    for (int64_t scale = 0; scale <= last; ++scale) {
      const int64_t zoom = int64_t{1} << scale;
      const Value means = zoom == 1 ? wide : framed(mean_pool(wide, zoom, 1), 0, zoom - 1);
      layers.push_back(reshape(means, {0, -1}));
    }
    layers_ = join(layers, 1);  // [B, k C H' W']
    const at::Tensor nothing = torch::zeros({1, input.channels, input.height, input.width});
    offsets_ = image.graph().constant(sensor_.prepare(nothing).offsets.unsqueeze(0));  // [1, P]
    row_ = input.width + sensor_.side(last);
  }

  /// place [B, 2] -> [B, P]
  Value see(const Value& place) const {
    const Value x = corner(place, 0, input_.width), y = corner(place, 1, input_.height);  // [B, 1]
    const Value index = y * place.graph().integer(row_) + x + offsets_;                   // [B, P]
    return place.graph().node("GatherElements", {layers_, index}, {{"axis", int64_t(1)}});
  }

 private:
  static Value corner(const Value& place, int64_t coordinate, int64_t pixels) {
    const Value exact = (select(place, 1, {coordinate}) + 1) * (double(pixels) / 2) + 0.5;
    return cast(place.graph().node("Floor", {exact}), ElementType::Int64);
  }

  PictureInput input_;
  GlimpseSensor sensor_;
  Value layers_, offsets_;
  int64_t row_ = 0;
};

Value cut_to_picture(const Value& place) {
  Graph& graph = place.graph();
  return minimum(maximum(place, graph.number(-1)), graph.number(1));
}

/// Means of 2 x 2 of a picture of that size, also of what is left at an odd edge.
Value halved(const Value& x, int64_t height, int64_t width) {
  if (height % 2 == 0 && width % 2 == 0) return mean_pool(x, 2, 2);
  Graph& graph = x.graph();
  const Value wide =
      graph.node("Pad", {x, graph.integers({0, 0, 0, 0, 0, 0, height % 2, width % 2})});
  at::Tensor grown = torch::ones({1, 1, (height + 1) / 2, (width + 1) / 2});
  if (height % 2 == 1) grown.select(2, -1).mul_(2);
  if (width % 2 == 1) grown.select(3, -1).mul_(2);
  return mean_pool(wide, 2, 2) * graph.constant(grown);
}

}  // namespace

static ExportedGraphs recurrent_glimpses_graphs(const RecurrentGlimpses& model,
                                                const ExportOptions& options) {
  const RecurrentGlimpsesOptions& o = model.options();
  const Weights weights(model);
  auto graph = std::make_unique<Graph>("recurrent_glimpses",
                                       "Classifies a picture by small glimpses, one after another");
  const Value image = graph->input(image_port(model.input()));
  const Shape all_places{"batch", o.glimpses, 2};
  const Value given =
      graph->input(o.chooses() ? Port{"first",
                                      ElementType::Float,
                                      {"batch", 2},
                                      "x and y of the first glimpse, -1 to 1; 0, 0 is the middle"}
                               : Port{"places", ElementType::Float, all_places,
                                      "x and y of each glimpse, -1 to 1; 0, 0 is the middle"});
  const Sensor sensor(o, model.input(), image);
  Value state;
  Values path;
  for (int64_t t = 0; t < o.glimpses; ++t) {
    Value place = o.chooses() ? given : pick(given, 1, t);  // [B, 2]
    if (o.chooses() && t > 0) {
      place = weights.linear("locate", state);
      if (o.means == "tanh") place = tanh(place);
    }
    place = cut_to_picture(place);
    path.push_back(unsqueeze(place, {1}));
    const Value what = relu(weights.linear("what", sensor.see(place)));
    const Value where = relu(weights.linear("where", place));
    const Value glimpse = relu(weights.linear("combine", join({what, where}, 1)));
    const Value input = weights.linear("core_input", glimpse);  // [B, D]
    state = relu(t == 0 ? input : input + weights.linear("core_state", state));
  }
  output_probabilities(*graph, softmax(weights.linear("classify", state)), model.input().classes,
                       options);
  if (options.attention)
    graph->output({"glimpses", ElementType::Float, all_places, "where it looked: x and y, -1 to 1"},
                  join(path, 1));
  return one_graph(std::move(graph));
}

static ExportedGraphs image_baseline_graphs(const ImageBaseline& model,
                                            const ExportOptions& options) {
  const Weights weights(model);
  const PictureInput& input = model.input();
  auto graph = std::make_unique<Graph>("image_baseline", "Classifies a picture that it sees whole");
  Value x = graph->input(image_port(input)) / 255;
  if (model.options().is_cnn()) {
    int64_t height = input.height, width = input.width;
    for (const std::string filters : {"first_filters", "second_filters"}) {
      x = relu(convolution(x, weights.value(*graph, filters + ".weight"),
                           weights.value(*graph, filters + ".bias"), 1, 1));
      x = halved(x, height, width);
      height = (height + 1) / 2, width = (width + 1) / 2;
    }
  }
  x = relu(weights.linear("first", reshape(x, {0, -1})));
  if (!model.options().is_cnn()) x = relu(weights.linear("second", x));
  output_probabilities(*graph, softmax(weights.linear("classify", x)), input.classes, options);
  return one_graph(std::move(graph));
}

std::optional<ExportedGraphs> export_recurrent_glimpses(const Model& model,
                                                        const ExportOptions& options) {
  return export_as<RecurrentGlimpses>(model, options, recurrent_glimpses_graphs);
}

std::optional<ExportedGraphs> export_image_baseline(const Model& model,
                                                    const ExportOptions& options) {
  return export_as<ImageBaseline>(model, options, image_baseline_graphs);
}

}  // namespace fovea
