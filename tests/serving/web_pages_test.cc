#include "fovea/serving/web_pages.h"

#include <gtest/gtest.h>

#include "fovea/explain/draw/web_files.h"
#include "tests/serving/expect_refusal.h"

namespace fovea::serving::web_pages_test {
namespace {

using fovea::testing::expect_refusal;

std::string header_of(const HttpResponse& response, const std::string& name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return "";
}

TEST(WebPages, EveryFileIsThere) {
  ASSERT_FALSE(web_files().empty());
  for (const WebFile& file : web_files()) {
    const HttpResponse response = web_file(file.path, {});
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, file.content);
    EXPECT_EQ(response.type, file.type);
  }
  expect_refusal(404, "there is no file", [] { web_file("nothing.js", {}); });
  expect_refusal(404, "there is no file", [] { web_file("../server.h", {}); });
  expect_refusal(404, "there is no file", [] { web_file("", {}); });
}

TEST(WebPages, WhatTheClientHasIsNotSentAgain) {
  const HttpResponse first = web_file("page.html", {});
  const std::string tag = header_of(first, "ETag");
  ASSERT_FALSE(tag.empty());
  HttpRequest request;
  request.headers = {{"if-none-match", tag}};
  const HttpResponse second = web_file("page.html", request);
  EXPECT_EQ(second.status, 304);
  EXPECT_TRUE(second.body.empty());
  request.headers = {{"if-none-match", "\"other\""}};
  EXPECT_EQ(web_file("page.html", request).status, 200);
}

TEST(WebPages, ThePolicyNamesInlineScriptsByTheirHash) {
  // printf '{"imports":{}}' | openssl dgst -sha256 -binary | base64
  const std::string policy = page_policy(
      "<script type=\"importmap\">{\"imports\":{}}</script><script src=\"a.js\">x</script>");
  EXPECT_NE(policy.find("script-src 'self' 'sha256-URrTy+Il/Nz0lHojVUx275hWqAWhkSF0VsHbUM4/6Hw=';"),
            std::string::npos)
      << policy;
  EXPECT_EQ(page_policy("<p>").find("sha256"), std::string::npos);
  EXPECT_EQ(page_policy("<script>never ends").find("sha256"), std::string::npos);
}

TEST(WebPages, ThePageHasItsPolicy) {
  const std::string other = header_of(web_file("report.html", {}), "Content-Security-Policy");
  const std::string policy = header_of(web_file("page.html", {}), "Content-Security-Policy");
  EXPECT_EQ(policy, page_policy(find_web_file("page.html")->content));
  EXPECT_EQ(other, page_policy(find_web_file("report.html")->content));
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(policy.find("'sha256-"), std::string::npos) << "the page's import map is inline";
  EXPECT_EQ(policy.find("http:"), std::string::npos);
  EXPECT_EQ(header_of(web_file("page.js", {}), "Content-Security-Policy"), "");
}

}  // namespace
}  // namespace fovea::serving::web_pages_test
