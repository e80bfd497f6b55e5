// What the server needs of a model, and nothing of what it is: tests serve a model of four lines.
// pipeline_model.h makes one of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/explain/record/explanation.h"
#include "fovea/explain/record/query_key.h"
#include "fovea/explain/what_if/flip.h"

namespace fovea::serving {

/// What `GET /v1/models` says of a model.
struct ModelCard {
  std::string task, title;
  Json input_schema = Json::object();
  Json examples = Json::array();  // inputs to try
  Json maps = Json::array();      // {"name", "title"} of each
  int64_t parameters = 0;
  std::string note = {};                     // what a user must know of its answers; may be empty
  std::vector<std::string> embeddings = {};  // what embeddings() may be asked for
  Json metric = {};  // how good it is: {"name", "value", "rows"}; null where nobody knows
};

struct ExplainRequest {
  HeadChoice heads = Heads::All;
  bool faithfulness = false;
  std::string truth = {};               // the right answer; empty: not given
  std::vector<AxisUnits> without = {};  // to be taken away first, as check_away() allows
  /// An explanation with more of them is refused: HttpError 422.
  int64_t most_weights = std::numeric_limits<int64_t>::max();
};

/// How a text is continued.
struct GenerateRequest {
  int64_t tokens = 100;
  double temperature = 0.8;  // 0: always the likeliest token
  int64_t top_k = 0;         // 0: all
  double top_p = 1;
  double repetition_penalty = 1;
  int64_t beam = 0;  // 0: none
  int64_t seed = 0;
  std::vector<std::string> stop = {};
  bool attention = false;  // wanted with each token
};

/// Where the smallest change of the answer is looked for.
struct FlipRequest {
  std::string axis = {};  // empty: the first one that can lose units
  int64_t most = FlipOptions().most;
};
inline constexpr int64_t kMostUnitsOfFlip = 100;

/// Told of what is there so far, event by event; the last one has "done".
using Tell = std::function<void(const Json&)>;

class ServedModel {
 public:
  virtual ~ServedModel() = default;

  /// These are called from any thread, many at once.
  virtual const ModelCard& card() const = 0;
  virtual Example parse(const std::string& line) const = 0;
  virtual Json answer(const Example& example, const Prediction& prediction) const = 0;
  /// What an input costs, roughly: the units of all its axes.
  virtual int64_t units(const Example& example) const;
  /// How many weights the explanation will have, as far as the input alone tells.
  virtual int64_t weights(const Example& example, const ExplainRequest& request) const = 0;

  /// A model has two workers, one that predicts and one that explains, which work at the same time.
  /// Each calls this once, before all else.
  virtual void enter_worker() {}
  /// Long work asks stop_if_asked() (base/stop.h) now and then.
  virtual std::vector<Prediction> predict(std::span<const Example> examples) const = 0;
  virtual Explanation explain(const Example& example, const ExplainRequest& request) const = 0;

  /// What one weight of the input without those units is made of. Unsupported for a model that
  /// cannot say. By the worker that explains.
  virtual QueryKey query_key(const Example& whole, const WeightPlace& place,
                             const std::vector<AxisUnits>& without) const;

  /// Embeddings as points (docs/formats/embeddings.md); `of` empty: the first of the card's.
  /// Unsupported for a model without any. By the worker that explains.
  virtual Json embeddings(const std::string& of) const;

  /// Names that the model knows and that hold the text, for a property of its inputs. NotFound for
  /// one without names.
  virtual std::vector<std::string> names(const std::string& property,
                                         const std::string& text) const;

  /// Whether the model writes texts.
  virtual bool generates() const { return false; }
  /// Continues a text and tells each token as it is written, {"token", "text", "log_probability"}
  /// and perhaps "attention"; what is told last holds the whole: {"done": true, "text", "tokens",
  /// "log_probability"}. By the worker that explains.
  virtual void generate(const Example& example, const GenerateRequest& request,
                        const Tell& tell) const;

  /// The smallest set of units found without which the answer is another one. Tells how far the
  /// search is, {"predictions", "most_predictions"}, and last what was found: {"done": true,
  /// "axis", "units", "labels", "before", "after", "most", "predictions"}, without units where
  /// nothing was.
  virtual void find_flip(const Example& example, const FlipRequest& request,
                         const Tell& tell) const;
};

/// What a request may cost, found out before it is computed: the units of its inputs (tokens,
/// steps, cells: how long they are) and the weights of an explanation (how large the answer is, and
/// the memory that it takes). docs/serving.md has the limits. HttpError 422.
void check_units(int64_t units, int64_t most, const std::string& field);
void check_weights(int64_t weights, int64_t most);

/// Measuring faithfulness replays an input many times over, with gradients: a map may be so many
/// times smaller then.
inline constexpr int64_t kFaithfulnessShare = 16;

/// A model that is yet to be loaded.
struct ModelSource {
  std::string name;
  std::string task;
  std::function<std::unique_ptr<ServedModel>()> load;
};

}  // namespace fovea::serving
