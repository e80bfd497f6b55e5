#include "fovea/serving/routes.h"

namespace fovea::serving {

namespace {

constexpr Route kRoutes[] = {
    {"GET", "/", Action::Page, false, "The page"},
    {"GET", "/web/", Action::WebFile, false, "A file of the page"},
    {"GET", "/health", Action::Health, false, "Whether the server is ready, and each model"},
    {"GET", "/metrics", Action::Metrics, true, "Counters for Prometheus"},
    {"GET", "/v1/models", Action::Models, true, "The models and what they take"},
    {"GET", "/v1/runs", Action::Runs, true, "The trainings that fovea board shows"},
    {"GET", "/v1/runs/", Action::Runs, true, "A training: its options, its curves, its attention"},
    {"GET", "/openapi.json", Action::OpenApi, false, "This description"},
    {"POST", "/v1/names", Action::Names, true, "Names that a model knows"},
    {"POST", "/v1/predict", Action::Predict, true, "Answers for one or several inputs"},
    {"POST", "/v1/explain", Action::Explain, true, "Where the model looked for one input"},
    {"POST", "/v1/flip", Action::Flip, true, "The smallest change found that changes the answer"},
    {"POST", "/v1/query-key", Action::QueryKey, true, "What a weight is made of: query and key"},
    {"POST", "/v1/embeddings", Action::Embeddings, true, "Embeddings of a network as points"},
    {"POST", "/v1/generate", Action::Generate, true, "Continues a text, told token by token"},
};

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

const Route* find_route(std::string_view path) {
  for (const Route& route : kRoutes) {
    const std::string_view known = route.path;
    if (path == known || (known.size() > 1 && known.back() == '/' && path.starts_with(known)))
      return &route;
  }
  return nullptr;
}

}  // namespace fovea::serving
