// Graphs as ONNX's own checker sees them. tests/onnx runs them and compares the numbers.
#include "fovea/export/export.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <cstdlib>
#include <set>

#include "fovea/base/file.h"
#include "fovea/export/multi_head.h"
#include "fovea/tensor/torch.h"
#include "tests/export/cases.h"
#include "tests/support/expect_error.h"
#include "tests/support/idle_model.h"
#include "tests/support/task_run.h"

namespace fovea::export_test {
namespace {

using onnx::ElementType;
using onnx::Graph;
using onnx::Port;
using onnx::Value;
using namespace testing;

std::vector<std::string> names_of(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back(port.name);
  return names;
}

const ExportCase& find_case(const std::vector<ExportCase>& cases, const std::string& name) {
  for (const ExportCase& one : cases)
    if (one.name == name) return one;
  throw std::runtime_error("no case " + name);
}

TEST(Graph, HoldsWhatWasBuilt) {
  Graph graph("double", "Twice its input");
  const Value x = graph.input({"x", ElementType::Float, {"batch"}, "any number"});
  graph.output({"y", ElementType::Float, {"batch"}, "twice that number"}, x + x);
  const onnx::Description& made = graph.description();
  ASSERT_EQ(made.nodes.size(), 2u);
  EXPECT_EQ(made.nodes[0].operation, "Add");
  EXPECT_EQ(made.nodes[0].inputs, (std::vector<std::string>{"x", "x"}));
  EXPECT_EQ(made.nodes[1].inputs, made.nodes[0].outputs);
  EXPECT_EQ(made.nodes[1].outputs, (std::vector<std::string>{"y"}));
}

TEST(Graph, StoresAParameterOnce) {
  Graph graph("g", "");
  const at::Tensor weight = at::arange(6, at::kFloat).view({3, 2}).t();  // not contiguous
  const Value first = graph.parameter("w", weight), second = graph.parameter("w", weight);
  EXPECT_EQ(first.name(), second.name());
  ASSERT_EQ(graph.description().tensors.size(), 1u);
  const onnx::StoredTensor& stored = graph.description().tensors[0];
  EXPECT_EQ(stored.shape, (std::vector<int64_t>{2, 3}));
  const float expected[] = {0, 2, 4, 1, 3, 5};
  EXPECT_EQ(stored.bytes,
            std::string_view(reinterpret_cast<const char*>(expected), sizeof expected));
}

TEST(Graph, RefusesTwoParametersOfOneName) {
  Graph graph("g", "");
  graph.parameter("w", at::zeros({2}));
  expect_error(ErrorKind::Internal, "'w'", [&] { graph.parameter("w", at::ones({2})); });
}

TEST(Graph, RefusesWhatOnnxFilesOfOursDoNotHold) {
  Graph graph("g", "");
  expect_error(ErrorKind::Unsupported, {"'w'", "Double"},
               [&] { graph.parameter("w", at::zeros({2}, at::kDouble)); });
}

TEST(Weights, NameWhatIsMissing) {
  const torch::nn::Linear layer(2, 3);
  const onnx::Weights weights(*layer);
  EXPECT_TRUE(weights.has("weight"));
  expect_error(ErrorKind::Internal, "'inner.weight'",
               [&] { weights.under("inner").tensor("weight"); });
  expect_error(ErrorKind::Internal, "'inner'",
               [&] { weights.module<MultiHeadAttention>("inner"); });
}

TEST(Export, EveryCaseHasPortsThatExplainThemselves) {
  for (const ExportCase& one : all_cases())
    for (const ExportedGraph& exported : one.graphs({true}))
      for (const auto* ports :
           {&exported.graph->description().inputs, &exported.graph->description().outputs})
        for (const Port& port : *ports) {
          EXPECT_FALSE(port.help.empty()) << one.name << " " << port.name;
          const std::set<std::string> one_for_all{"steps", "previous_steps", "begin", "transition"};
          if (one_for_all.contains(port.name)) continue;
          if (port.name.starts_with("masked_")) continue;  // those of all rows in one list
          const auto batch = std::find(port.shape.begin(), port.shape.end(),
                                       onnx::Dimension(std::string("batch")));
          EXPECT_NE(batch, port.shape.end()) << one.name << " " << port.name;
        }
}

// Whoever writes the loop around a decoder needs no more than this rule.
TEST(Export, ADecoderReadsOnlyWhatEncoderOrDecoderGive) {
  size_t pairs = 0;
  for (const ExportCase& one : all_cases()) {
    const ExportedGraphs graphs = one.graphs({});
    if (graphs.size() == 1) continue;
    ++pairs;
    const auto encoded = names_of(graphs[0].graph->description().outputs);
    const auto stepped = names_of(graphs[1].graph->description().outputs);
    const auto in = [](const std::vector<std::string>& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const std::string& input : names_of(graphs[1].graph->description().inputs)) {
      const bool state = input.rfind("previous_", 0) == 0;
      const std::string name = state ? input.substr(9) : input;
      EXPECT_TRUE(in(encoded, name)) << one.name << ": the encoder does not give " << name;
      if (!state || name == "token") continue;  // the caller chooses the token
      EXPECT_TRUE(in(stepped, name)) << one.name << ": a step does not give " << name;
    }
  }
  EXPECT_EQ(pairs, testing::seq2seq_cases().size() + testing::transformer_cases().size() +
                       testing::caption_cases().size());
}

// The encoder's file need not carry the decoder, nor the decoder's the encoder.
TEST(Export, APartHoldsOnlyTheParametersThatItReads) {
  for (const ExportCase& one : all_cases())
    for (const ExportedGraph& exported : one.graphs({})) {
      std::set<std::string> read;
      for (const onnx::Node& node : exported.graph->description().nodes)
        read.insert(node.inputs.begin(), node.inputs.end());
      for (const onnx::StoredTensor& tensor : exported.graph->description().tensors)
        EXPECT_TRUE(read.count(tensor.name))
            << one.name << " " << exported.name << ": " << tensor.name;
    }
}

TEST(Export, AttentionIsAnOutputWhenItIsAskedFor) {
  const auto cases = all_cases();
  const auto outputs = [&](const std::string& name, bool attention) {
    return names_of(find_case(cases, name).graphs({attention}).back().graph->description().outputs);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(outputs("features-softmax", false), (Names{"probabilities"}));
  EXPECT_EQ(outputs("features-softmax", true), (Names{"probabilities", "attention"}));
  EXPECT_EQ(outputs("features-tutorial-plain", true), (Names{"probabilities"}));
  EXPECT_EQ(outputs("context-free", true), (Names{"value", "attention", "effective"}));
  EXPECT_EQ(outputs("context-softmax", true), (Names{"value", "attention"}));
  EXPECT_EQ(outputs("seq2seq-score-dot", false), (Names{"log_probabilities", "hidden"}));
  EXPECT_EQ(outputs("seq2seq-score-dot", true),
            (Names{"log_probabilities", "hidden", "attention"}));
  // A step of it needs the weights of the one before, so they are there in any case.
  EXPECT_EQ(outputs("seq2seq-alignment-median", false),
            (Names{"log_probabilities", "hidden", "attention"}));
  // One for each layer; a layer that lost all its heads has none.
  const auto has = [](const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  EXPECT_EQ(outputs("bert-classifier-cls", false), (Names{"probabilities"}));
  EXPECT_EQ(outputs("bert-classifier-cls", true),
            (Names{"probabilities", "attention_1", "attention_2"}));
  EXPECT_TRUE(has(outputs("bert-pruned", true), "attention_1"));
  EXPECT_FALSE(has(outputs("bert-pruned", true), "attention_2"));
  EXPECT_FALSE(has(outputs("transformer-pre-rotary", false), "attention_1"));
  for (const char* name : {"decoder_attention_2", "attention_2"})
    EXPECT_TRUE(has(outputs("transformer-pre-rotary", true), name)) << name;
}

TEST(Export, RefusesAScoreThatNeedsTheWeightsOfTheStepBefore) {
  MultiHeadOptions options;
  options.width = 8, options.heads = 2, options.score.name = "location-aware";
  struct Owner : torch::nn::Module {
    explicit Owner(const MultiHeadOptions& chosen) {
      register_module("attention", std::make_shared<MultiHeadAttention>(chosen));
    }
  };
  const Owner owner(options);
  expect_error(ErrorKind::Unsupported, {"multi-head", "location-aware"},
               [&] { onnx::MultiHead(onnx::Weights(owner), "attention"); });
}

struct Unknown : IdleModel {};

TEST(Export, RefusesAModelWithoutExporter) {
  expect_error(ErrorKind::Unsupported, {"Unknown", "onnx.md"}, [] { export_model(Unknown(), {}); });
}

#ifdef FOVEA_WITH_ONNX

TEST(Onnx, CheckerAcceptsEveryCase) {
  for (const ExportCase& one : all_cases())
    for (const bool attention : {false, true})
      for (const ExportedGraph& exported : one.graphs({attention}))
        EXPECT_NO_THROW(EXPECT_GT(onnx_bytes(*exported.graph).size(), 100u))
            << one.name << " " << exported.name;
}

TEST(Onnx, CheckerRefusesWhatDoesNotFit) {
  const auto bytes = [](const std::function<Value(Graph&, const Value&)>& make) {
    Graph graph("g", "");
    const Value x = graph.input({"x", ElementType::Float, {"batch", 3}, "numbers"});
    const Value made = make(graph, x);
    graph.output({"y", ElementType::Float, {"batch", 3}, "numbers"}, made);
    return onnx_bytes(graph);
  };
  EXPECT_FALSE(bytes([](Graph&, const Value& x) { return relu(x); }).empty());
  expect_error(ErrorKind::Internal, "Nonsense", [&] {
    bytes([](Graph& graph, const Value& x) { return graph.node("Nonsense", {x}); });
  });
  expect_error(ErrorKind::Internal, "MatMul", [&] {  // 3 numbers times 4 rows
    bytes([](Graph& graph, const Value& x) {
      return matmul(x, graph.constant(at::zeros({4, 3})));
    });
  });
  expect_error(ErrorKind::Internal, "Add", [&] {  // numbers and whole numbers
    bytes([](Graph& graph, const Value& x) { return x + graph.integer(1); });
  });
}

TEST(Onnx, ARunBecomesAFileThatSaysWhereItComesFrom) {
  TemporaryFolder folder;
  const Pipeline pipeline = testing::trained_pipeline(
      testing::setup_of("features", {"model.name=tutorial", "data.rows=200", "training.epochs=1"}),
      folder);
  const auto target = [&](const std::string& name) {
    return [&, name] { export_onnx(pipeline, folder / name, {}); };
  };
  expect_error(ErrorKind::InvalidArgument, "ends in .onnx", target("model.pb"));
  expect_error(ErrorKind::InvalidArgument, "ends in .onnx", target(".onnx"));
  expect_error(ErrorKind::NotFound, "does not exist", target("missing/model.onnx"));
  std::filesystem::create_directory(folder / "taken.onnx");
  expect_error(ErrorKind::InvalidArgument, "is a folder", target("taken.onnx"));

  const auto written = export_onnx(pipeline, folder / "model.onnx", {});
  ASSERT_EQ(written.size(), 1u);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"model.onnx", "run", "taken.onnx"}));
  const std::string bytes = read_file(written[0]);
  for (const char* words : {"fovea.task", "features", "fovea.assets", "columns.json",
                            "attention.weight", "inputs", "probabilities"})
    EXPECT_NE(bytes.find(words), std::string::npos) << words;
}

// tests/onnx/run.sh names the folder and goes on with the files.
TEST(Onnx, WritesTheCasesForOnnxRuntime) {
  const TemporaryFolder own;
  const char* named = std::getenv("FOVEA_ONNX_CASES");
  const std::filesystem::path path = named == nullptr ? own.path() : named;
  for (const ExportCase& one : all_cases()) {
    Json batches = Json::array(), files = Json::array();
    for (const auto& [rows, length] : {std::pair{1, 1}, {1, 7}, {4, 5}, {7, 11}})
      batches.push_back(one.answers(rows, length));
    for (const ExportedGraph& exported : one.graphs({true})) {
      files.push_back(concat(one.name, "-", exported.name, ".onnx"));
      write_file(path / files.back().get<std::string>(), onnx_bytes(*exported.graph));
    }
    write_file(path / (one.name + ".json"), Json{{"files", files}, {"batches", batches}}.dump());
    EXPECT_EQ(files.size(), one.graphs({}).size()) << one.name;
  }
}

#else

TEST(Onnx, ABuildWithoutItSaysSo) {
  expect_error(ErrorKind::Unsupported, "libonnx-dev", [] { onnx_bytes(Graph("g", "")); });
}

#endif

}  // namespace
}  // namespace fovea::export_test
