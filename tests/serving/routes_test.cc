#include "fovea/serving/routes.h"

#include <gtest/gtest.h>

#include "fovea/base/text.h"

namespace fovea::serving::routes_test {
namespace {

TEST(Routes, FindsWholePathsAndFolders) {
  EXPECT_EQ(find_route("/")->action, Action::Page);
  EXPECT_EQ(find_route("/v1/predict")->action, Action::Predict);
  EXPECT_EQ(find_route("/v1/names")->action, Action::Names);
  EXPECT_EQ(find_route("/web/views/matrix.js")->action, Action::WebFile);
  for (const char* path :
       {"", "//", "/v1", "/v1/predict/", "/webb", "/healthy", "health", "/V1/predict"})
    EXPECT_EQ(find_route(path), nullptr) << path;
}

TEST(Routes, OpenApiNamesEveryRoute) {
  const Json document = openapi(false);
  EXPECT_EQ(document["openapi"], "3.1.0");
  EXPECT_EQ(document["paths"].size(), routes().size());
  for (const Route& route : routes()) {
    std::string path = route.path;
    if (path == "/web/") path += "{file}";
    if (path == "/v1/runs/") path += "{run}";
    ASSERT_TRUE(document["paths"].contains(path)) << path;
    const std::string method = std::string(route.method) == "POST" ? "post" : "get";
    ASSERT_TRUE(document["paths"][path].contains(method)) << path;
    EXPECT_EQ(document["paths"][path][method]["summary"], route.summary);
    EXPECT_TRUE(document["paths"][path][method]["responses"].contains("200"));
  }
}

/// Every {"$ref": "#/a/b"} below `value` leads somewhere.
void check_references(const Json& value, const Json& document) {
  if (value.is_object() && value.contains("$ref")) {
    const std::string target = value["$ref"].get<std::string>().substr(1);
    EXPECT_TRUE(document.contains(Json::json_pointer(target))) << target;
  }
  if (value.is_structured())
    for (const Json& item : value) check_references(item, document);
}

TEST(Routes, ReferencesOfOpenApiLeadSomewhere) {
  const Json document = openapi(true);
  check_references(document, document);
}

TEST(Routes, TheKeyIsDescribedWhereThereIsOne) {
  const Json with = openapi(true), without = openapi(false);
  EXPECT_TRUE(with["components"].contains("securitySchemes"));
  EXPECT_TRUE(with["paths"]["/v1/predict"]["post"].contains("security"));
  EXPECT_TRUE(with["paths"]["/v1/predict"]["post"]["responses"].contains("401"));
  EXPECT_FALSE(with["paths"]["/health"]["get"].contains("security"));
  EXPECT_FALSE(without["components"].contains("securitySchemes"));
  EXPECT_FALSE(without["paths"]["/v1/predict"]["post"].contains("security"));
}

}  // namespace
}  // namespace fovea::serving::routes_test
