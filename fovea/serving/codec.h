// Bodies of requests, checked: text in, plain values out. Every refusal is a 400 that names the
// field (413 for too many inputs), an unknown field with the nearest known one. Knows no model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/serving/selection.h"
#include "fovea/serving/served_model.h"

namespace fovea::serving {

/// How many inputs one request may hold.
inline constexpr size_t kMostInputs = 1024;

/// JSON of a request: no comments, at most 32 levels deep. HttpError 400 says what is wrong.
Json parse_body(std::string_view body);

/// One input as Pipeline::parse() takes it, and where it stood in the body.
struct GivenInput {
  std::string line;
  std::string field;  // "input" or "inputs[3]"
};

struct PredictBody {
  std::string model;  // empty: the only one
  std::vector<GivenInput> inputs;
};

struct ExplainBody {
  std::string model;
  GivenInput input;
  Selection selection;
  bool faithfulness = false;
  std::string truth;
  std::vector<AxisUnits> without;
  bool html = false;
};

struct FlipBody {
  std::string model;
  GivenInput input;
  std::string axis;
  int64_t most = FlipRequest().most;
  bool stream = true;
};

struct GenerateBody {
  std::string model;
  GivenInput input;
  GenerateRequest request;
  bool stream = true;
};

struct QueryKeyBody {
  std::string model;
  GivenInput input;
  WeightPlace place;
  std::vector<AxisUnits> without;
};

struct EmbeddingsBody {
  std::string model, of;
};

struct NamesBody {
  std::string model;
  std::string property, text;
};

PredictBody parse_predict(const std::string& body);
ExplainBody parse_explain(const std::string& body);
FlipBody parse_flip(const std::string& body);
QueryKeyBody parse_query_key(const std::string& body);
EmbeddingsBody parse_embeddings(const std::string& body);
GenerateBody parse_generate(const std::string& body);
NamesBody parse_names(const std::string& body);

}  // namespace fovea::serving
