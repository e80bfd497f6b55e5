// A text that is continued token by token and told while it is written, by a run of the task
// `language`. What a Pipeline predicts stays within the network's positions, so that it can be
// replayed; this goes on beyond them, and then sees only the last tokens.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/data/tokenisers/hugging_face/tokeniser.h"
#include "fovea/decoding/search.h"
#include "fovea/tasks/pipeline.h"

namespace fovea {

inline constexpr int64_t kWidestBeam = 64;  // each of them keeps what the network remembers

struct GenerateOptions {
  SearchOptions search;           // maximum_length: tokens; 0: 100
  std::vector<std::string> stop;  // texts that end it, and are no part of it
  bool attention = false;         // wanted with each token
};

/// A token as it is written.
struct GeneratedToken {
  int64_t token = 0;
  std::string text;  // what it adds; empty while a character is not whole, or may be a stop word
  double log_probability = 0;
  /// Of each layer [H, K]: how much the place before it looked at the last K tokens.
  std::vector<at::Tensor> attention;
};

class TextGenerator {
 public:
  /// Unsupported for a run that writes no text. `pipeline` must outlive it.
  explicit TextGenerator(const Pipeline& pipeline);

  /// Tells each token as it is chosen, those of a beam at the end; `written` may be empty. The
  /// whole text comes back.
  Decoded generate(const Example& prompt, const GenerateOptions& options,
                   const std::function<void(const GeneratedToken&)>& written) const;

  const HuggingFaceTokeniser& tokeniser() const { return *tokeniser_; }
  /// What the run's group decoding says.
  GenerateOptions usual_options() const;

 private:
  const Pipeline& pipeline_;
  std::shared_ptr<const HuggingFaceTokeniser> tokeniser_;
};

/// Whether the run writes texts.
bool generates(const Pipeline& pipeline);

/// `length` different random tokens, and the same ones once more: heads that copy show themselves
/// there (explain/heads/statistics.h). Nothing where the run writes no text, or has no room.
std::optional<Example> repeated_example(const Pipeline& pipeline, int64_t length, uint64_t seed);

}  // namespace fovea
