// The addresses of the server, once: requests are sent by this table, metrics are labelled by it,
// the OpenAPI document lists it.
#pragma once

#include <span>
#include <string_view>

#include "fovea/base/json.h"

namespace fovea::serving {

enum class Action {
  Page,
  WebFile,
  Health,
  Metrics,
  Models,
  Runs,
  OpenApi,
  Names,
  Predict,
  Explain,
  Flip,
  QueryKey,
  Embeddings,
  Generate
};

struct Route {
  const char* method;
  const char* path;  // what ends in / stands for everything below
  Action action;
  bool needs_key;  // where the server has one
  const char* summary;
};

std::span<const Route> routes();

/// The route of that path, whatever the method; null when there is none.
const Route* find_route(std::string_view path);

/// The server's interface, as OpenAPI 3.1.
Json openapi(bool has_key);

}  // namespace fovea::serving
