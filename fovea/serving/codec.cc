#include "fovea/serving/codec.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/serving/http_message.h"
#include "fovea/tasks/generate.h"

namespace fovea::serving {

namespace {

void check_known(const Json& object, const std::vector<std::string>& known,
                 const std::string& within) {
  for (const auto& [name, value] : object.items())
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string shown = shorten_bytes(name, 64);
      refuse_field(within + shown, "there is no such field", suggestion(shown, known),
                   "; known are ", join(known));
    }
}

Json parse_object(const std::string& body, const std::vector<std::string>& known) {
  Json object = parse_body(body);
  if (!object.is_object())
    refuse_field("", "the body must be a JSON object, this is ", object.type_name());
  check_known(object, known, "");
  return object;
}

[[noreturn]] void wrong_type(const std::string& field, const char* expected, const Json& found) {
  refuse_field(field, "expected ", expected, ", found ", found.type_name());
}

/// Null when it is not there.
const Json* find(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string text_field(const Json& object, const char* name) {
  const Json* value = find(object, name);
  if (!value) return "";
  if (!value->is_string()) wrong_type(name, "a text", *value);
  return value->get<std::string>();
}

bool flag_field(const Json& object, const char* name) {
  const Json* value = find(object, name);
  if (!value) return false;
  if (!value->is_boolean()) wrong_type(name, "true or false", *value);
  return value->get<bool>();
}

/// A whole number from `lowest` on; 3.0 is one too.
int64_t number_of(const Json& value, const std::string& field, int64_t lowest) {
  constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();
  if (!value.is_number()) wrong_type(field, "a whole number", value);
  const double number = value.get<double>();
  if (number < static_cast<double>(lowest) || number > static_cast<double>(kHighest))
    refuse_field(field, text_of(value), " is not between ", lowest, " and ", kHighest);
  if (number != std::floor(number)) refuse_field(field, text_of(value), " is not a whole number");
  return static_cast<int64_t>(number);
}

/// A number of `lowest` at least, or of more than that where `is_open`.
double real_field(const Json& object, const char* name, double otherwise, double lowest,
                  bool is_open) {
  const Json* value = find(object, name);
  if (!value) return otherwise;
  if (!value->is_number()) wrong_type(name, "a number", *value);
  const double number = value->get<double>();
  if (!std::isfinite(number) || number < lowest || (is_open && number == lowest))
    refuse_field(name, text_of(*value), " is not ", is_open ? "above " : "at least ", lowest);
  return number;
}

std::vector<int64_t> number_list(const Json& value, const std::string& field, int64_t lowest) {
  if (!value.is_array()) wrong_type(field, "a list of whole numbers", value);
  if (value.empty()) refuse_field(field, "the list is empty; leave it out for all of them");
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < value.size(); ++i)
    numbers.push_back(number_of(value[i], concat(field, "[", i, "]"), lowest));
  std::vector<int64_t> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) refuse_field(field, *twice, " stands there twice");
  return numbers;
}

std::vector<std::string> text_list(const Json& value, const std::string& field) {
  if (!value.is_array()) wrong_type(field, "a list of texts", value);
  if (value.empty()) refuse_field(field, "the list is empty; leave it out for all of them");
  std::vector<std::string> texts;
  for (size_t i = 0; i < value.size(); ++i) {
    if (!value[i].is_string()) wrong_type(concat(field, "[", i, "]"), "a text", value[i]);
    texts.push_back(value[i].get<std::string>());
  }
  return texts;
}

GivenInput input_of(const Json& value, std::string field) {
  if (value.is_string()) return {value.get<std::string>(), std::move(field)};
  if (!value.is_object()) wrong_type(field, "a text or an object", value);
  return {text_of(value), std::move(field)};
}

Selection selection_of(const Json& object) {
  Selection selection;
  if (const Json* maps = find(object, "maps")) selection.maps = text_list(*maps, "maps");
  if (const Json* layers = find(object, "layers"))
    selection.layers = number_list(*layers, "layers", 1);
  if (const Json* heads = find(object, "heads")) {
    selection.mean_of_heads = *heads == "mean";
    if (!selection.mean_of_heads) {
      if (!heads->is_array()) wrong_type("heads", "\"mean\" or a list of whole numbers", *heads);
      selection.heads = number_list(*heads, "heads", 1);
    }
  }
  if (const Json* rows = find(object, "rows")) selection.rows = number_list(*rows, "rows", 0);
  if (const Json* top = find(object, "top_k")) selection.top_k = number_of(*top, "top_k", 1);
  return selection;
}

std::vector<AxisUnits> away_of(const Json& list) {
  if (!list.is_array()) wrong_type("without", "a list of objects", list);
  if (list.empty()) refuse_field("without", "the list is empty; leave it out for the whole input");
  std::vector<AxisUnits> away;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string field = concat("without[", i, "]");
    if (!list[i].is_object()) wrong_type(field, "an object", list[i]);
    check_known(list[i], {"axis", "units"}, field + ".");
    const Json* units = find(list[i], "units");
    if (!find(list[i], "axis") || !units)
      refuse_field(field, "needs both axis and units, as {\"axis\": \"tokens\", \"units\": [3]}");
    if (units->is_array() && units->empty())
      refuse_field(field + ".units", "the list is empty; name units by their places, from 0");
    if (!list[i]["axis"].is_string()) wrong_type(field + ".axis", "a text", list[i]["axis"]);
    away.push_back({list[i]["axis"], number_list(*units, field + ".units", 0)});
  }
  return away;
}

}  // namespace

Json parse_body(std::string_view body) {
  JsonLimits limits;
  limits.depth = 32;
  limits.comments = false;
  try {
    return parse_json(body, "the body", limits);
  } catch (const Error& error) {
    refuse_field("", error.what());
  }
}

PredictBody parse_predict(const std::string& body) {
  const Json object = parse_object(body, {"model", "input", "inputs"});
  PredictBody request;
  request.model = text_field(object, "model");
  const Json* one = find(object, "input");
  const Json* several = find(object, "inputs");
  if (!one == !several)
    refuse_field(one ? "inputs" : "input",
                 one ? "give either input or inputs, not both" : "is missing");
  if (one) request.inputs.push_back(input_of(*one, "input"));
  if (several && (!several->is_array() || several->empty()))
    refuse_field("inputs", "expected a list with at least one input");
  if (several && several->size() > kMostInputs)
    throw HttpError(413, "too_large",
                    concat("inputs: ", several->size(), " inputs, at most ", kMostInputs,
                           " fit into one request; send several"),
                    "inputs");
  for (size_t i = 0; several && i < several->size(); ++i)
    request.inputs.push_back(input_of((*several)[i], concat("inputs[", i, "]")));
  return request;
}

ExplainBody parse_explain(const std::string& body) {
  const Json object = parse_object(body, {"model", "input", "maps", "layers", "heads", "rows",
                                          "top_k", "faithfulness", "truth", "without", "format"});
  ExplainBody request;
  request.model = text_field(object, "model");
  const Json* input = find(object, "input");
  if (!input) refuse_field("input", "is missing");
  request.input = input_of(*input, "input");
  request.selection = selection_of(object);
  request.faithfulness = flag_field(object, "faithfulness");
  request.truth = text_field(object, "truth");
  if (const Json* without = find(object, "without")) request.without = away_of(*without);
  const std::string format = text_field(object, "format");
  if (!format.empty() && format != "json" && format != "html")
    refuse_field("format", "'", shorten_bytes(format, 64), "' is unknown; expected json or html");
  request.html = format == "html";
  return request;
}

QueryKeyBody parse_query_key(const std::string& body) {
  const Json object =
      parse_object(body, {"model", "input", "map", "layer", "head", "query", "key", "without"});
  QueryKeyBody request;
  request.model = text_field(object, "model");
  const Json* input = find(object, "input");
  if (!input) refuse_field("input", "is missing");
  request.input = input_of(*input, "input");
  request.place.map = text_field(object, "map");
  const auto whole = [&](const char* name, int64_t lowest) {
    const Json* value = find(object, name);
    if (!value && lowest == 0) refuse_field(name, "is missing");
    return value ? number_of(*value, name, lowest) : 0;
  };
  request.place.layer = whole("layer", 1);
  request.place.head = whole("head", 1);
  request.place.query = whole("query", 0);
  request.place.key = whole("key", 0);
  if (const Json* without = find(object, "without")) request.without = away_of(*without);
  return request;
}

EmbeddingsBody parse_embeddings(const std::string& body) {
  const Json object = parse_object(body, {"model", "of"});
  return {text_field(object, "model"), text_field(object, "of")};
}

NamesBody parse_names(const std::string& body) {
  const Json object = parse_object(body, {"model", "property", "text"});
  if (!find(object, "property")) refuse_field("property", "is missing");
  return {text_field(object, "model"), text_field(object, "property"), text_field(object, "text")};
}

FlipBody parse_flip(const std::string& body) {
  const Json object = parse_object(body, {"model", "input", "axis", "most", "stream"});
  FlipBody parsed;
  parsed.model = text_field(object, "model");
  const Json* input = find(object, "input");
  if (!input) refuse_field("input", "is missing");
  parsed.input = input_of(*input, "input");
  parsed.axis = text_field(object, "axis");
  if (const Json* most = find(object, "most")) parsed.most = number_of(*most, "most", 1);
  if (parsed.most > kMostUnitsOfFlip)
    refuse_field("most", parsed.most, " is not between 1 and ", kMostUnitsOfFlip);
  if (find(object, "stream")) parsed.stream = flag_field(object, "stream");
  return parsed;
}

GenerateBody parse_generate(const std::string& body) {
  const Json object =
      parse_object(body, {"model", "input", "tokens", "temperature", "top_k", "top_p",
                          "repetition_penalty", "beam", "seed", "stop", "attention", "stream"});
  GenerateBody parsed;
  parsed.model = text_field(object, "model");
  const Json* input = find(object, "input");
  if (!input) refuse_field("input", "is missing");
  parsed.input = input_of(*input, "input");
  GenerateRequest& request = parsed.request;
  const auto whole = [&](const char* name, int64_t otherwise, int64_t lowest) {
    const Json* value = find(object, name);
    return value ? number_of(*value, name, lowest) : otherwise;
  };
  request.tokens = whole("tokens", request.tokens, 1);
  request.top_k = whole("top_k", request.top_k, 0);
  request.beam = whole("beam", request.beam, 1);
  if (request.beam > kWidestBeam)
    refuse_field("beam", request.beam, " is not between 1 and ", kWidestBeam);
  request.seed = whole("seed", request.seed, 0);
  request.temperature = real_field(object, "temperature", request.temperature, 0, false);
  request.top_p = real_field(object, "top_p", request.top_p, 0, true);
  if (request.top_p > 1) refuse_field("top_p", "is above 1");
  request.repetition_penalty =
      real_field(object, "repetition_penalty", request.repetition_penalty, 0, true);
  if (const Json* stop = find(object, "stop")) request.stop = text_list(*stop, "stop");
  request.attention = flag_field(object, "attention");
  if (request.attention && request.beam > 0)
    refuse_field("attention", "is not told of a beam; leave one of the two out");
  if (find(object, "stream")) parsed.stream = flag_field(object, "stream");
  return parsed;
}

}  // namespace fovea::serving
