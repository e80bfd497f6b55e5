// Hugging Face folders of BERT and its kin as runs: what transformers computes with them, folders
// that differ in what folders differ in, and folders written again.
#include <gtest/gtest.h>

#include "fovea/models/bert_names.h"
#include "fovea/models/bert_pretrainer.h"
#include "fovea/tasks/hugging_face.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/tiny_networks.h"

#ifdef FOVEA_WITH_ICU
#define NEEDS_ICU() static_cast<void>(0)
#else
#define NEEDS_ICU() GTEST_SKIP() << "built without ICU"
#endif

namespace fovea::hugging_face_runs_test {
namespace {

using testing::expect_error;
using testing::largest_difference;
using testing::TinyNetwork;
using Names = std::vector<std::string>;

/// The input number `index` of the network's tokeniser.
Example parse_input(const Pipeline& pipeline, const TinyNetwork& network, size_t index,
                    const char* first, const char* second) {
  const Json input = network.texts()[index];
  if (input["pair"].is_null()) return pipeline.parse(input["text"].get<std::string>());
  return pipeline.parse(Json{{first, input["text"]}, {second, input["pair"]}}.dump());
}

void expect_tokens(const Example& example, const TinyNetwork& network, size_t index) {
  const Json input = network.texts()[index];
  const auto ids = input["ids"].get<std::vector<int64_t>>();
  EXPECT_TRUE(example.tensors.at("tokens").equal(at::tensor(ids, at::kLong))) << index;
  const int64_t begin_of_pair = int64_t(input["text"].get<std::string>().size()) + 1;  // ASCII
  const Axis& axis = example.axis("tokens");
  bool in_pair = false;
  for (size_t i = 0; i < ids.size(); ++i) {
    const int64_t begin = input["offsets"][i][0], end = input["offsets"][i][1];
    if (axis.spans[i].begin < 0) {
      in_pair = in_pair || i > 0;
      EXPECT_EQ(begin, 0);
      continue;
    }
    const int64_t shift = in_pair ? begin_of_pair : 0;
    EXPECT_EQ(axis.spans[i].begin, begin + shift) << i;
    EXPECT_EQ(axis.spans[i].end, end + shift) << i;
  }
}

void expect_attention(const Pipeline& pipeline, const Example& example,
                      const Prediction& prediction, const TinyNetwork& network, size_t index) {
  Tap tap;
  pipeline.replay_batch({&example, 1}, {&prediction, 1}, tap);
  ASSERT_EQ(tap.maps().size(), 2u);
  for (size_t layer = 0; layer < 2; ++layer)
    EXPECT_LT(largest_difference(tap.maps()[layer].weights[0],
                                 network.expected.at(concat(index, ".attention.", layer))),
              1e-4);
}

class TinyClassifier : public ::testing::TestWithParam<std::string> {};

TEST_P(TinyClassifier, AnswersAsTransformersDoes) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  const TinyNetwork network(GetParam());
  network.write(folder / "net");
  const Pipeline pipeline = Pipeline::load(folder / "net");
  EXPECT_EQ(pipeline.task_name(), "documents");
  EXPECT_TRUE(pipeline.notes().empty());
  EXPECT_EQ(pipeline.task().class_names(), (Names{"negative", "positive", "neutral"}));
  for (const size_t index : {0, 6}) {
    const Example example = parse_input(pipeline, network, index, "text", "second");
    expect_tokens(example, network, index);
    const Prediction prediction = pipeline.predict({&example, 1}).front();
    const at::Tensor right = network.expected.at(concat(index, ".logits")).flatten().softmax(0);
    EXPECT_LT(largest_difference(prediction.scores, right), 1e-4);
    const Json answer = pipeline.task().answer(example, prediction);
    EXPECT_EQ(answer["class"],
              pipeline.task().class_names()[size_t(right.argmax().item<int64_t>())]);
    expect_attention(pipeline, example, prediction, network, index);
  }
}

TEST_P(TinyClassifier, ComesBackAsItWasRead) {
  const testing::TemporaryFolder folder;
  const TinyNetwork network(GetParam());
  network.write(folder / "net");
  write_hugging_face(folder / "copy", read_pretrained(folder / "net"));
  const auto written = read_safetensors(folder / "copy" / "model.safetensors").tensors;
  EXPECT_EQ(written.size(), network.weights.size());
  for (const auto& [name, tensor] : network.weights) {
    ASSERT_TRUE(written.count(name)) << name;
    EXPECT_TRUE(written.at(name).equal(tensor)) << name;
  }
  // The order of keys means nothing.
  const auto sorted = [](const Json& json) { return SortedJson::parse(json.dump()); };
  const Json config = read_json_file(folder / "copy" / "config.json");
  for (const auto& [key, value] : config.items())
    if (key != "torch_dtype" && key != "position_embedding_type") {
      EXPECT_EQ(sorted(value), sorted(network.config.value(key, Json()))) << key;
    }
  const Json tokens = read_json_file(folder / "copy" / "tokenizer.json", {.keys = 100000}),
             given = read_json_file(folder / "net" / "tokenizer.json", {.keys = 100000});
  EXPECT_EQ(sorted(tokens["model"]["vocab"]), sorted(given["model"]["vocab"]));
}

INSTANTIATE_TEST_SUITE_P(Tiny, TinyClassifier,
                         ::testing::Values("bert-classifier", "distilbert-classifier",
                                           "roberta-classifier"),
                         [](const auto& info) {
                           return info.param.substr(0, info.param.find('-'));
                         });

TEST(TinyReader, MarksTheAnswer) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  const TinyNetwork network("bert-qa");
  network.write(folder / "net");
  const Pipeline pipeline = Pipeline::load(folder / "net");
  EXPECT_EQ(pipeline.task_name(), "questions");
  for (const size_t index : {6, 7}) {
    const Example example = parse_input(pipeline, network, index, "question", "text");
    expect_tokens(example, network, index);
    const Prediction prediction = pipeline.predict({&example, 1}).front();
    const at::Tensor pieces = example.tensors.at("pieces");
    const at::Tensor other = pieces == -1;
    const auto scores = [&](const char* which) {
      return network.expected.at(concat(index, which)).masked_fill(other, -1e9).log_softmax(0);
    };
    const at::Tensor begin = scores(".start_logits"), end = scores(".end_logits");
    double best = -1e9;
    int64_t first = 0, last = 0;
    for (int64_t i = 0; i < pieces.numel(); ++i)
      for (int64_t j = i; j < pieces.numel(); ++j) {
        if (pieces[i].item<int64_t>() < 0 || pieces[j].item<int64_t>() < 0) continue;
        const double sum = begin[i].item<double>() + end[j].item<double>();
        if (sum > best) best = sum, first = i, last = j;
      }
    const Json input = network.texts()[index], answer = pipeline.task().answer(example, prediction);
    const int64_t from = input["offsets"][size_t(first)][0], to = input["offsets"][size_t(last)][1];
    EXPECT_EQ(answer["start"], from);
    EXPECT_EQ(answer["end"], to);
    EXPECT_EQ(answer["answer"],
              input["pair"].get<std::string>().substr(size_t(from), size_t(to - from)));
    EXPECT_NEAR(answer["score"].get<double>(), std::exp(best), 1e-4);
    EXPECT_FALSE(answer.contains("no_answer"));
    expect_attention(pipeline, example, prediction, network, index);
  }
}

TEST(TinyReader, LongTextsAreReadInWindows) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  const TinyNetwork network("bert-qa");
  network.write(folder / "net");
  const Pipeline pipeline = Pipeline::load(folder / "net");
  std::string text;
  for (int i = 0; i < 30; ++i) text += "A man eats an apple. ";
  const Example example = pipeline.parse(Json{{"question", "Who eats?"}, {"text", text}}.dump());
  EXPECT_GT(example.tensors.at("starts").numel(), 4);
  const Json answer = pipeline.task().answer(example, pipeline.predict({&example, 1}).front());
  const auto start = answer["start"].get<size_t>(), end = answer["end"].get<size_t>();
  EXPECT_EQ(answer["answer"], text.substr(start, end - start));
  EXPECT_LT(start, end);
}

TEST(TinyReader, MayRefuse) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  TinyNetwork network("bert-qa");
  network.write(folder / "net");
  const std::string input = Json{{"question", "Who eats?"}, {"text", "A man."}}.dump();
  const auto answer_with = [&](const std::string& threshold) {
    const Pipeline pipeline = Pipeline::load(
        folder / "net", "cpu", {"output.no_answer=yes", "output.threshold=" + threshold});
    const Example example = pipeline.parse(input);
    const Prediction prediction = pipeline.predict({&example, 1}).front();
    const Json answer = pipeline.task().answer(example, prediction);
    EXPECT_TRUE(answer.contains("no_answer"));
    const std::string line = pipeline.task().answer_line(example, prediction);
    EXPECT_EQ(line.starts_with("no answer\t"), answer["answer"].is_null());
    return answer["answer"];
  };
  EXPECT_TRUE(answer_with("-1000").is_null());
  EXPECT_TRUE(answer_with("1000").is_string());
}

TEST(TinyMasked, GuessesAsTransformersDoes) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  const TinyNetwork network("bert-masked");
  network.write(folder / "net");
  const Pipeline pipeline = Pipeline::load(folder / "net");
  EXPECT_EQ(pipeline.task_name(), "pretrain");
  const Example example = parse_input(pipeline, network, 0, "text", "second");
  expect_tokens(example, network, 0);
  const auto& model = dynamic_cast<const BertPretrainer&>(pipeline.model());
  // The same network, for which "man" is the mask: what it says of that token.
  BertPretrainerShape shape = model.shape();
  shape.mask = 110;
  BertPretrainerOptions options;
  options.encoder = model.encoder().options();
  BertPretrainer other(options, shape);
  torch::NoGradGuard no_gradients;
  for (auto& item : other.named_parameters())
    item.value().copy_(model.named_parameters()[item.key()]);
  const MaskGuesses guesses = other.guess_masks(pipeline.task().collate({&example, 1}));
  ASSERT_EQ(guesses.places.numel(), 1);
  EXPECT_EQ(guesses.places.item<int64_t>(), 2);
  EXPECT_LT(largest_difference(guesses.log_probabilities[0],
                               network.expected.at("0.logits")[2].log_softmax(0)),
            1e-4);
  const Example masked = pipeline.parse("A [MASK] eats an apple.");
  const Json answer = pipeline.task().answer(masked, pipeline.predict({&masked, 1}).front());
  EXPECT_EQ(answer["masks"].size(), 1u);
}

/// Random weights for the names of a family, with its head.
std::map<std::string, at::Tensor> drawn_weights(const BertOptions& options,
                                                const std::string& family, EncoderHead head,
                                                int64_t labels, const std::string& prefix) {
  std::map<std::string, at::Tensor> weights;
  const auto draw = [&](const std::vector<WeightNames>& names, const std::string& before) {
    for (const auto& [name, shape] : shapes_of(names))
      weights[before + name] = Random(3).split(name).normal_tensor(shape, 0, 0.3, at::kFloat);
  };
  draw(encoder_names(options.whole(), 1200, family), prefix);
  const std::string pooler = encoder_family(family).pooler;
  for (const char* part : {".weight", ".bias"}) {  // the head's, or not there
    auto node = weights.extract(prefix + pooler + part);
    node.key() = pooler + part;
    if (head == EncoderHead::Class) weights.insert(std::move(node));
  }
  if (head == EncoderHead::MaskedWords)
    draw(masked_head_names(options.whole(), 1200, family), "");
  else
    draw(output_head_names(head, options.whole().hidden, labels, family), "");
  return weights;
}

/// An ELECTRA with tables of 16 numbers.
TinyNetwork small_electra(EncoderHead head, const std::string& end, int64_t labels) {
  TinyNetwork network("bert-classifier");
  BertOptions o;
  o.layers = 2, o.hidden = 32, o.heads = 4, o.feed_forward = 64, o.maximum_length = 64;
  o.embedding = 16, o.pooler_activation = "gelu";
  network.weights = drawn_weights(o, "electra", head, labels, "electra.");
  network.config["model_type"] = "electra";
  network.config["architectures"] = {"Electra" + end};
  network.config["embedding_size"] = 16;
  network.config.erase("id2label");
  network.config.erase("label2id");
  network.config["num_labels"] = labels;
  return network;
}

Json answer_of(const std::filesystem::path& folder, const std::string& input) {
  const Pipeline pipeline = Pipeline::load(folder);
  const Example example = pipeline.parse(input);
  return pipeline.task().answer(example, pipeline.predict({&example, 1}).front());
}

TEST(OtherFolders, ElectraWithNarrowTablesAndFiveLabels) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  const TinyNetwork network = small_electra(EncoderHead::Class, "ForSequenceClassification", 5);
  network.write(folder / "net");
  const Json answer = answer_of(folder / "net", "A man eats an apple.");
  EXPECT_EQ(answer["scores"].size(), 5u);
  EXPECT_TRUE(answer["scores"].contains("LABEL_4"));
  // Its classifier is gelu(W h + b) of the first token, then the output.
  const Pipeline pipeline = Pipeline::load(folder / "net");
  EXPECT_EQ(pipeline.setup().to_config()["model"]["pooler_activation"], "gelu");
  write_hugging_face(folder / "copy", read_pretrained(folder / "net"));
  EXPECT_EQ(answer_of(folder / "copy", "A man eats an apple."), answer);
  const auto written = read_safetensors(folder / "copy" / "model.safetensors").tensors;
  for (const auto& [name, tensor] : network.weights)
    EXPECT_TRUE(written.count(name) && written.at(name).equal(tensor)) << name;
}

TEST(OtherFolders, ElectraFillsInMasks) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  small_electra(EncoderHead::MaskedWords, "ForMaskedLM", 2).write(folder / "net");
  const Json answer = answer_of(folder / "net", "A [MASK] eats an apple.");
  ASSERT_EQ(answer["masks"].size(), 1u);
  EXPECT_EQ(answer["masks"][0]["words"].size(), 5u);
}

TEST(OtherFolders, DistilBertTagsWords) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  TinyNetwork network("distilbert-classifier");
  BertOptions o;
  o.layers = 2, o.hidden = 32, o.heads = 4, o.feed_forward = 64, o.maximum_length = 64;
  o.segments = 0, o.pooler_activation = "relu";
  network.config["architectures"] = {"DistilBertForTokenClassification"};
  network.config["id2label"] = {{"0", "O"}, {"1", "B-FOOD"}, {"2", "I-FOOD"}};
  network.config["label2id"] = {{"O", 0}, {"B-FOOD", 1}, {"I-FOOD", 2}};
  network.weights = drawn_weights(o, "distilbert", EncoderHead::Tags, 3, "distilbert.");
  network.write(folder / "net");
  const Pipeline pipeline = Pipeline::load(folder / "net");
  EXPECT_EQ(pipeline.task_name(), "tag");
  const Example example = pipeline.parse("A man eats an apple.");
  expect_tokens(example, network, 0);
  const Json answer = pipeline.task().answer(example, pipeline.predict({&example, 1}).front());
  EXPECT_EQ(answer["words"], (Json{"A", "man", "eats", "an", "apple", "."}));
  ASSERT_EQ(answer["tags"].size(), 6u);
  EXPECT_TRUE(answer.contains("entities"));
  for (const Json& tag : answer["tags"])
    EXPECT_TRUE(network.config["label2id"].contains(tag.get<std::string>()));
  // Labels that spell no entities are tags as they are.
  network.config["id2label"] = {{"0", "NOUN"}, {"1", "VERB"}, {"2", "X"}};
  network.write(folder / "plain");
  EXPECT_FALSE(answer_of(folder / "plain", "A man eats.").contains("entities"));
}

TEST(OtherFolders, RobertaTagsTheTextAsItStands) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  TinyNetwork network("roberta-classifier");
  BertOptions o;
  o.layers = 2, o.hidden = 32, o.heads = 4, o.feed_forward = 64, o.maximum_length = 64;
  o.segments = 1, o.first_position = 2;
  network.config["architectures"] = {"RobertaForTokenClassification"};
  network.weights = drawn_weights(o, "roberta", EncoderHead::Tags, 3, "roberta.");
  network.write(folder / "net");
  const Pipeline pipeline = Pipeline::load(folder / "net");
  const Example example = pipeline.parse("A man eats an apple.");
  expect_tokens(example, network, 0);
  const at::Tensor words = example.tensors.at("words");  // where each of the six begins
  ASSERT_EQ(words.numel(), 6);
  const Axis &tokens = example.axis("tokens"), &named = example.axis("words");
  for (int64_t w = 0; w < 6; ++w) {
    const Span& first = tokens.spans[size_t(words[w].item<int64_t>())];
    EXPECT_EQ(first.begin, named.spans[size_t(w)].begin) << w;
  }
}

TEST(OtherFolders, XlmRobertasNamesAreRobertas) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  TinyNetwork network("roberta-classifier");
  network.write(folder / "net");
  const Json answer = answer_of(folder / "net", "A man eats an apple.");
  network.config["model_type"] = "xlm-roberta";
  network.config["architectures"] = {"XLMRobertaForSequenceClassification"};
  network.write(folder / "xlm");
  EXPECT_EQ(answer_of(folder / "xlm", "A man eats an apple."), answer);
}

TEST(OtherFolders, NamesWithoutPrefixShardsHalvesAndNoTokenizerConfig) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  const std::string input = "A man eats an apple.";
  for (const char* name : {"bert-classifier", "roberta-classifier", "distilbert-classifier"}) {
    TinyNetwork network(name);
    network.write(folder / name / "net");
    const Json answer = answer_of(folder / name / "net", input);

    TinyNetwork plain = network;
    plain.weights.clear();
    for (const auto& [key, tensor] : network.weights)
      plain.weights[hugging_face_name(key)] = tensor;
    plain.tokeniser_config = nullptr;
    plain.write(folder / name / "plain");
    EXPECT_EQ(answer_of(folder / name / "plain", input), answer) << name;

    network.write_rest(folder / name / "shards");
    std::map<std::string, at::Tensor> shards[2];
    Json index = Json::object();
    size_t number = 0;
    for (const auto& [key, tensor] : network.weights) {
      shards[number % 2][key] = tensor;
      index[key] = concat("model-", number++ % 2, ".safetensors");
    }
    for (size_t i = 0; i < 2; ++i)
      write_safetensors(folder / name / "shards" / concat("model-", i, ".safetensors"), shards[i]);
    write_json_file(folder / name / "shards" / "model.safetensors.index.json",
                    {{"weight_map", index}});
    EXPECT_EQ(answer_of(folder / name / "shards", input), answer) << name;

    for (const at::ScalarType type : {at::kHalf, at::kBFloat16}) {
      TinyNetwork half = network;
      for (auto& [key, tensor] : half.weights) tensor = tensor.to(type);
      half.write(folder / name / "half");
      const Json rounded = answer_of(folder / name / "half", input);
      for (const auto& [label, score] : answer["scores"].items())
        EXPECT_NEAR(rounded["scores"][label].get<double>(), score.get<double>(), 2e-2) << name;
    }
  }
}

TEST(OtherFolders, HeadsThatDoNotFitAreNamed) {
  const testing::TemporaryFolder folder;
  TinyNetwork network("roberta-classifier");
  network.weights.erase("classifier.out_proj.bias");
  network.weights.erase("classifier.dense.weight");
  network.config["id2label"]["3"] = "more";
  network.weights["roberta.encoder.layer.7.output.dense.bias"] = at::zeros({32});
  network.write(folder / "net");
  expect_error(ErrorKind::BadData,
               {"missing: ", "classifier.dense.weight", "classifier.out_proj.bias",
                "unknown: encoder.layer.7.output.dense.bias",
                "classifier.out_proj.weight [3, 32] instead of [4, 32]"},
               [&] { Pipeline::load(folder / "net"); });
}

TEST(OtherFolders, SegmentsAreToldAsTheTokeniserSays) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  TinyNetwork network("bert-classifier");
  const std::string pair = Json{{"text", "Who eats?"}, {"second", "A man."}}.dump();
  const auto segments = [&](const Json& config) {
    network.tokeniser_config = config;
    network.write(folder / "net");
    return Pipeline::load(folder / "net").parse(pair).tensors.at("segments").max().item<int64_t>();
  };
  EXPECT_EQ(segments({{"tokenizer_class", "TokenizersBackend"}}), 0);
  EXPECT_EQ(segments({{"tokenizer_class", "BertTokenizer"}}), 1);
  EXPECT_EQ(segments(nullptr), 1);
  EXPECT_EQ(segments({{"tokenizer_class", "BertTokenizer"},
                      {"model_input_names", {"input_ids", "attention_mask"}}}),
            0);
}

TEST(OtherFolders, LabelsOfDataAreTheFoldersOrAreRefused) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  TinyNetwork("bert-classifier").write(folder / "net");
  Pipeline pipeline = Pipeline::load(folder / "net");
  const auto measure = [&](const std::string& content) {
    const Splits splits = pipeline.load_data(folder.write("data.csv", content).string());
    return pipeline.measure(*splits.test);
  };
  const Metrics named = measure("text,label\nA man.,negative\nAn apple.,neutral\n");
  const Metrics numbered = measure("text,label\nA man.,0\nAn apple.,2\n");
  ASSERT_EQ(named.size(), numbered.size());
  for (size_t i = 0; i < named.size(); ++i)
    if (!std::isnan(named[i].value)) {
      EXPECT_EQ(named[i].value, numbered[i].value) << named[i].name;
    }
  expect_error(ErrorKind::BadData, {"'bad'", "negative, positive, neutral"},
               [&] { measure("text,label\nA man.,bad\nAn apple.,neutral\n"); });
  expect_error(ErrorKind::InvalidArgument, {"no data of its own", "evaluate"},
               [&] { pipeline.load_data(""); });
}

}  // namespace
}  // namespace fovea::hugging_face_runs_test
