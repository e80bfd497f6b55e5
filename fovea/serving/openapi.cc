#include "fovea/base/text.h"
#include "fovea/serving/codec.h"
#include "fovea/serving/routes.h"

namespace fovea::serving {

namespace {

Json text(const char* about) {
  return {{"type", "string"}, {"description", about}};
}

Json list_of(Json items, const char* about) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", 1}, {"description", about}};
}

Json whole_number(int64_t lowest) {
  return {{"type", "integer"}, {"minimum", lowest}};
}

Json object(Json properties, Json required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

Json reference(const std::string& name) {
  return {{"$ref", "#/components/schemas/" + name}};
}

Json predict_schema() {
  Json schema = object({{"model", text("name of a model; may be left out when there is one")},
                        {"input", reference("Input")},
                        {"inputs", list_of(reference("Input"), "several inputs")}},
                       Json::array());
  schema["properties"]["inputs"]["maxItems"] = kMostInputs;
  schema["oneOf"] = {{{"required", {"input"}}}, {{"required", {"inputs"}}}};
  return schema;
}

Json without_schema() {
  const Json units = list_of(whole_number(0), "places on that axis, from 0");
  return list_of(
      object({{"axis", text("name of an axis of the input")}, {"units", units}}, {"axis", "units"}),
      "units to take away from the input first");
}

Json explain_schema() {
  const Json mean{{"const", "mean"}};
  const Json numbers = list_of(whole_number(1), "from 1; all by default");
  return object({{"model", text("name of a model; may be left out when there is one")},
                 {"input", reference("Input")},
                 {"maps", list_of({{"type", "string"}}, "names of maps; all by default")},
                 {"layers", numbers},
                 {"heads", {{"oneOf", {mean, numbers}}}},
                 {"rows", list_of(whole_number(0), "query indices from 0; all by default")},
                 {"top_k", whole_number(1)},
                 {"faithfulness", {{"type", "boolean"}, {"default", false}}},
                 {"truth", {{"type", "string"}}},
                 {"without", without_schema()},
                 {"format", {{"enum", {"json", "html"}}, {"default", "json"}}}},
                {"input"});
}

Json query_key_schema() {
  return object(
      {{"model", text("name of a model; may be left out when there is one")},
       {"input", reference("Input")},
       {"map", text("name of a map; may be left out when one alone has queries and keys")},
       {"layer", whole_number(1)},
       {"head", whole_number(1)},
       {"query", whole_number(0)},
       {"key", whole_number(0)},
       {"without", without_schema()}},
      {"input", "query", "key"});
}

Json embeddings_schema() {
  return object({{"model", text("name of a model; may be left out when there is one")},
                 {"of", text("which of the model's `embeddings`; by default the first")}},
                Json::array());
}

Json names_schema() {
  return object({{"model", text("name of a model; may be left out when there is one")},
                 {"property", text("a property of its inputs that has `known` names")},
                 {"text", text("what the names hold, whatever its case; all by default")}},
                {"property"});
}

Json flip_schema() {
  Json most = whole_number(1);
  most["maximum"] = kMostUnitsOfFlip;
  return object({{"model", text("name of a model; may be left out when there is one")},
                 {"input", reference("Input")},
                 {"axis", text("whose units are taken away; the first that can lose some")},
                 {"most", most},
                 {"stream", {{"type", "boolean"}, {"default", true}}}},
                {"input"});
}

Json generate_schema() {
  const auto number = [](double lowest, double otherwise) {
    return Json{{"type", "number"}, {"minimum", lowest}, {"default", otherwise}};
  };
  return object({{"model", text("name of a model; may be left out when there is one")},
                 {"input", reference("Input")},
                 {"tokens", whole_number(1)},
                 {"temperature", number(0, 0.8)},
                 {"top_k", whole_number(0)},
                 {"top_p", number(0, 1)},
                 {"repetition_penalty", number(0, 1)},
                 {"beam", whole_number(1)},
                 {"seed", whole_number(0)},
                 {"stop", list_of({{"type", "string"}}, "texts that end it")},
                 {"attention", {{"type", "boolean"}, {"default", false}}},
                 {"stream", {{"type", "boolean"}, {"default", true}}}},
                {"input"});
}

Json model_schema() {
  return {{"type", "object"},
          {"properties",
           {{"name", {{"type", "string"}}},
            {"task", {{"type", "string"}}},
            {"title", {{"type", "string"}}},
            {"status", {{"enum", {"loading", "ready", "failed"}}}},
            {"error", text("why it failed")},
            {"input_schema", {{"type", "object"}, {"description", "JSON schema of one input"}}},
            {"examples", {{"type", "array"}, {"items", reference("Input")}}},
            {"maps", {{"type", "array"}, {"items", {{"type", "object"}}}}},
            {"metric",
             {{"type", "object"},
              {"properties",
               {{"name", {{"type", "string"}}},
                {"value", {{"type", "number"}}},
                {"rows", {{"const", "validation"}}}}}}},
            {"embeddings", {{"type", "array"}, {"items", {{"type", "string"}}}}},
            {"parameters", whole_number(0)}}}};
}

Json error_schema() {
  return object({{"error", object({{"kind", {{"type", "string"}}},
                                   {"message", {{"type", "string"}}},
                                   {"field", {{"type", "string"}}}},
                                  {"kind", "message"})}},
                {"error"});
}

Json schemas() {
  return {{"Input",
           {{"type", {"string", "object"}},
            {"description", "what `fovea predict` takes; input_schema of the model says it"}}},
          {"Predict", predict_schema()},
          {"Predictions",
           {{"type", "object"},
            {"properties",
             {{"model", {{"type", "string"}}},
              {"predictions", {{"type", "array"}, {"items", {{"type", "object"}}}}}}}}},
          {"Explain", explain_schema()},
          {"Flip", flip_schema()},
          {"Generate", generate_schema()},
          {"QueryKey", query_key_schema()},
          {"Embeddings", embeddings_schema()},
          {"Names", names_schema()},
          {"FoundNames",
           {{"type", "object"},
            {"properties", {{"names", {{"type", "array"}, {"items", {{"type", "string"}}}}}}}}},
          {"Explanation", {{"type", "object"}, {"description", "fovea-explanation"}}},
          {"Model", model_schema()},
          {"Models",
           {{"type", "object"},
            {"properties", {{"models", {{"type", "array"}, {"items", reference("Model")}}}}}}},
          {"Error", error_schema()}};
}

Json content(const char* type, Json schema) {
  return {{"content", {{type, {{"schema", std::move(schema)}}}}}};
}

Json answer(const char* about, const char* type, Json schema) {
  Json described{{"description", about}};
  described.update(content(type, std::move(schema)));
  return described;
}

Json success(Action action) {
  switch (action) {
    case Action::Models:
      return answer("The models", "application/json", reference("Models"));
    case Action::Names:
      return answer("The names", "application/json", reference("FoundNames"));
    case Action::Predict:
      return answer("The answers", "application/json", reference("Predictions"));
    case Action::Explain: {
      Json both = answer("The explanation", "application/json", reference("Explanation"));
      both["content"]["text/html"] = {{"schema", {{"type", "string"}}}};
      return both;
    }
    case Action::Flip:
    case Action::Generate: {
      Json both = answer(action == Action::Flip ? "How far the search is, last what was found"
                                                : "The text, an event for each token",
                         "text/event-stream", {{"type", "string"}});
      both["content"]["application/json"] = {{"schema", {{"type", "object"}}}};
      return both;
    }
    case Action::QueryKey:
      return answer("The weight by dimension", "application/json", {{"type", "object"}});
    case Action::Embeddings:
      return answer("The points", "application/json", {{"type", "object"}});
    case Action::Health:
    case Action::Runs:
    case Action::OpenApi:
      return answer("JSON", "application/json", {{"type", "object"}});
    case Action::Metrics:
      return answer("Prometheus text", "text/plain", {{"type", "string"}});
    case Action::Page:
    case Action::WebFile:
      break;
  }
  return answer("A file", "*/*", {{"type", "string"}});
}

Json refusals(const Route& route, bool has_key) {
  Json list = Json::object();
  const auto add = [&](const char* status, const char* about) {
    list[status] = answer(about, "application/json", reference("Error"));
  };
  add("421", "The Host header names another server");
  if (route.action == Action::Health) add("503", "A model loads or failed, or the server drains");
  if (route.needs_key && has_key) add("401", "The API key is missing or wrong");
  if (route.action == Action::Runs) add("404", "No such training, or no board");
  if (std::string_view(route.method) != "POST") return list;
  add("400", "The body is not what is expected");
  add("404", "No such model");
  add("408", "The request did not arrive in time");
  add("411", "The request has no length");
  add("413", "The body is too large");
  add("415", "The body is not application/json");
  add("422", "The input does not fit the model, or costs more than the server allows");
  add("429", "The queue is full; Retry-After says when to try again");
  add("500", "A mistake of the server");
  add("503", "The model is not loaded, or there are too many connections");
  add("504", "The answer took too long");
  return list;
}

/// What stands for everything below the route; null where there is nothing.
const char* name_below(const Route& route) {
  if (route.action == Action::Page || !std::string_view(route.path).ends_with('/')) return nullptr;
  return route.action == Action::WebFile ? "file" : "run";
}

Json operation(const Route& route, bool has_key) {
  Json described{{"summary", route.summary}};
  const char* body = route.action == Action::Predict      ? "Predict"
                     : route.action == Action::Explain    ? "Explain"
                     : route.action == Action::Flip       ? "Flip"
                     : route.action == Action::Generate   ? "Generate"
                     : route.action == Action::QueryKey   ? "QueryKey"
                     : route.action == Action::Embeddings ? "Embeddings"
                     : route.action == Action::Names      ? "Names"
                                                          : nullptr;
  if (body) {
    described["requestBody"] = content("application/json", reference(body));
    described["requestBody"]["required"] = true;
  }
  if (const char* below = name_below(route))
    described["parameters"] = {
        {{"name", below}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}}};
  described["responses"] = {{"200", success(route.action)}};
  described["responses"].update(refusals(route, has_key));
  if (route.needs_key && has_key)
    described["security"] = {{{"bearer", Json::array()}}, {{"key", Json::array()}}};
  return described;
}

}  // namespace

Json openapi(bool has_key) {
  Json paths = Json::object();
  for (const Route& route : routes()) {
    const char* below = name_below(route);
    const std::string path = below ? concat(route.path, "{", below, "}") : route.path;
    const std::string method = std::string(route.method) == "POST" ? "post" : "get";
    paths[path][method] = operation(route, has_key);
  }
  Json components{{"schemas", schemas()}};
  if (has_key)
    components["securitySchemes"] = {
        {"bearer", {{"type", "http"}, {"scheme", "bearer"}}},
        {"key", {{"type", "apiKey"}, {"in", "header"}, {"name", "X-API-Key"}}}};
  return {{"openapi", "3.1.0"},
          {"info", {{"title", "Fovea"}, {"version", "1"}}},
          {"paths", std::move(paths)},
          {"components", std::move(components)}};
}

}  // namespace fovea::serving
