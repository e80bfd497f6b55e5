#include "fovea/models/show_attend_tell.h"
#include "fovea/tensor/torch.h"
#include "tests/export/sequence_answers.h"

namespace fovea::testing {

namespace {

constexpr int64_t kSide = 16, kSymbols = 9, kCaptionSteps = 5;

Json caption_answers(const ShowAttendTell& model, int64_t rows) {
  torch::NoGradGuard no_gradients;
  const at::Tensor images =
      Random(31).uniform_tensor({rows, 3, kSide, kSide}, 0, 256, at::kFloat).to(at::kByte);
  const Predictions chosen = chosen_tokens(rows, kCaptionSteps, kSymbols, 32);
  Tap tap;
  const at::Tensor logs = model.replay({{{"image", images}}, rows}, chosen, &tap);  // [B, T]
  Json answer{{"inputs", {{"image", tensor_json(images.to(at::kFloat))}}},
              {"tokens", token_json(chosen)},
              {"outputs", {{"log_probabilities", tensor_json(logs)}}}};
  if (!tap.maps().empty())
    answer["outputs"]["attention"] =
        tensor_json(tap.map("attention").weights.squeeze(1).contiguous());  // [B, T, cells]
  return answer;
}

ExportCase caption_case(const std::string& name, const ShowAttendTellOptions& options) {
  CaptionShape shape;
  shape.symbols = kSymbols;
  shape.image_size = kSide;
  const auto model = std::make_shared<ShowAttendTell>(options, SearchOptions{}, shape);
  randomise(*model, 12);
  return {"caption-" + name,
          [model](const ExportOptions& chosen) { return export_model(*model, chosen); },
          [model](int64_t rows, int64_t) { return caption_answers(*model, rows); }};
}

ShowAttendTellOptions small_caption(const std::string& attention, const std::string& score) {
  ShowAttendTellOptions options;
  options.encoder.channels = {5, 6};
  options.embedding = 7;
  options.hidden = score == "additive" || score == "general" ? 8 : 6;
  options.attention = attention;
  options.score.name = score;
  options.score.hidden_size = 4;
  return options;
}

}  // namespace

std::vector<ExportCase> caption_cases() {
  std::vector<ExportCase> cases;
  cases.push_back(caption_case("soft", small_caption("soft", "additive")));
  cases.push_back(caption_case("none", small_caption("none", "additive")));
  cases.push_back(caption_case("hard", small_caption("hard", "additive")));
  for (const std::string score : {"dot", "scaled-dot", "general", "content"})
    cases.push_back(caption_case(score, small_caption("soft", score)));
  ShowAttendTellOptions plain = small_caption("soft", "additive");
  plain.gate = plain.positions = false;
  plain.output = "linear";
  cases.push_back(caption_case("plain", plain));
  ShowAttendTellOptions expected = small_caption("hard", "additive");
  expected.answers_softly = true;
  cases.push_back(caption_case("expectation", expected));
  ShowAttendTellOptions residual = small_caption("soft", "additive");
  residual.encoder.name = "resnet18";
  residual.encoder.encoder_layers = 2;
  cases.push_back(caption_case("resnet18", residual));
  residual.encoder.name = "resnet50";
  cases.push_back(caption_case("resnet50", residual));
  residual.encoder.name = "vgg16";
  cases.push_back(caption_case("vgg16", residual));
  return cases;
}

}  // namespace fovea::testing
