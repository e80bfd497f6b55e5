#include "fovea/tasks/generate.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/language/dataset.h"
#include "fovea/data/language/load.h"
#include "fovea/data/language/text_stream.h"
#include "fovea/models/language_model.h"
#include "fovea/tasks/hugging_face_folder.h"
#include "fovea/tasks/language_adapter.h"
#include "fovea/tasks/outputs/continuation.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

/// Text that comes in pieces, up to the first stop word; what may be the beginning of one is held
/// back.
class TextUntilStop {
 public:
  explicit TextUntilStop(const std::vector<std::string>& words) : words_(words) {}
  std::string add(const std::string& piece) {
    if (is_over_) return "";
    held_ += piece;
    const std::string cut = cut_at(held_, words_);
    is_over_ = cut.size() < held_.size();
    const size_t end = is_over_ ? cut.size() : first_place();
    std::string told = held_.substr(0, end);
    held_.erase(0, end);
    return told;
  }

 private:
  bool may_begin(const std::string& text) const {
    return std::ranges::any_of(words_, [&](const auto& word) { return word.starts_with(text); });
  }
  /// Where the rest may be the beginning of a stop word.
  size_t first_place() const {
    size_t place = 0;
    while (place < held_.size() && !may_begin(held_.substr(place))) ++place;
    return place;
  }
  const std::vector<std::string>& words_;
  std::string held_;
  bool is_over_ = false;
};

/// Null where the run has none.
const LanguageModel* language_model_of(const Pipeline& pipeline) {
  return dynamic_cast<const LanguageModel*>(&pipeline.model());
}

}  // namespace

bool generates(const Pipeline& pipeline) {
  return language_model_of(pipeline) != nullptr;
}

TextGenerator::TextGenerator(const Pipeline& pipeline) : pipeline_(pipeline) {
  require(generates(pipeline), ErrorKind::Unsupported, pipeline.folder().path().string(),
          ": a run of the task ", pipeline.task_name(),
          " writes no text; take one of language. fovea predict answers with it");
  std::filesystem::path path = pipeline.folder().path();
  while (is_adapter(path) && !std::filesystem::exists(path / "tokenizer.json"))
    path = base_of(path);  // as language_adapter.h has it
  const std::filesystem::path asset = RunFolder(path).asset("tokenizer.json");
  tokeniser_ = std::make_shared<const HuggingFaceTokeniser>(
      load_whole_tokeniser(std::filesystem::exists(asset) ? asset : path));
}

GenerateOptions TextGenerator::usual_options() const {
  ContinuationOptions usual;
  OptionList list;
  list.group("decoding", usual);
  const Json config = pipeline_.setup().to_config();
  list.merge({{"decoding", config.at("decoding")}}, "decoding");
  return {usual.search, usual.stop};
}

Decoded TextGenerator::generate(const Example& prompt, const GenerateOptions& options,
                                const std::function<void(const GeneratedToken&)>& written) const {
  require(options.search.beam <= kWidestBeam || options.search.method != "beam",
          ErrorKind::InvalidArgument, "a beam of ", options.search.beam,
          " is too wide; choose a width of 1 to ", kWidestBeam);
  const LanguageModel& model = *language_model_of(pipeline_);
  const auto before = to_vector<int64_t>(prompt.tensors.at("tokens"));
  TextStream stream(*tokeniser_, before);
  TextUntilStop text(options.stop);
  const auto tell = [&](const WrittenToken& one) {
    if (written)
      written({one.token, text.add(stream.add(one.token)), one.log_probability, one.attention});
  };
  Continuation continuation;
  continuation.prompt = prompt.tensors.at("tokens").to(model.device());
  continuation.search = options.search;
  continuation.search.n_best = 1;
  continuation.slides = true;
  continuation.attention = options.attention;
  continuation.ends = ends_with_any(tokeniser_, options.stop);
  const bool is_told_at_once = options.search.method != "beam";
  if (is_told_at_once) continuation.written = tell;
  Decoded output = model.generate(continuation).at(0);
  if (!is_told_at_once)
    for (const int64_t token : output.tokens) tell({token, 0, {}});
  output.text = cut_at(continued_text(*tokeniser_, before, output.tokens), options.stop);
  return output;
}

std::optional<Example> repeated_example(const Pipeline& pipeline, int64_t length, uint64_t seed) {
  const LanguageModel* model = language_model_of(pipeline);
  if (!model || 2 * length >= model->options().maximum_length) return {};
  const TextGenerator generator(pipeline);
  const HuggingFaceTokeniser& tokeniser = generator.tokeniser();
  std::vector<int64_t> tokens = Random(seed).split("repeated").permutation(tokeniser.size());
  std::erase_if(tokens, [&](int64_t token) { return tokeniser.is_special(token); });
  if (int64_t(tokens.size()) < length) return {};
  tokens.resize(size_t(length));  // all different: which one is looked at is clear
  for (int64_t i = 0; i < length; ++i) tokens.push_back(tokens[size_t(i)]);
  return prompt_example(tokeniser, tokens);
}

}  // namespace fovea
