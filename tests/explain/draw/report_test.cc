#include "fovea/explain/draw/report.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/explain/draw/web_files.h"
#include "tests/explain/samples.h"

namespace fovea::report_test {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Report, HoldsEverythingAndNamesNothingElse) {
  const Explanation sample = sample_features();
  const std::string html = report_html({&sample, 1});
  EXPECT_EQ(count(html, "id=\"explanation\""), 1u);
  EXPECT_NE(html.find("fovea/views/matrix.js"), std::string::npos);
  for (const char* mark :
       {"<!--title-->", "<!--style-->", "<!--importmap-->", "<!--explanation-->"})
    EXPECT_EQ(count(html, mark), 0u) << mark;
  for (const char* address : {"src=\"http", "href=\"http", "url(http"})
    EXPECT_EQ(count(html, address), 0u) << address;
}

TEST(Report, LabelsCannotLeaveTheirScript) {
  Explanation hostile = sample_features();
  hostile.title = "</title><script>alert(1)</script>";
  hostile.maps[0].key_labels[0] = "</script><script>alert(2)</script><!--";
  const std::string html = report_html({&hostile, 1});
  EXPECT_EQ(count(html, "<script>alert"), 0u);
  EXPECT_EQ(count(html, "</script><script"), 0u);
}

TEST(Report, SeveralExplanationsShareOneListOfChunks) {
  Explanation large;
  MapView map;
  map.name = "m";
  map.query_axis = "q";
  map.key_axis = "k";
  map.query_labels.assign(300, "q");
  map.key_labels.assign(300, "k");
  map.weights.assign(90000, 0.5);
  large.maps = {map};
  const Explanation both[] = {large, large};
  const std::string html = report_html(both);
  EXPECT_NE(html.find("id=\"explanation\">[{"), std::string::npos);
  const size_t chunks = count(html, "id=\"chunk-");
  EXPECT_EQ(chunks % 2, 0u);
  EXPECT_EQ(count(html, "id=\"chunk-0\""), 1u);
  EXPECT_EQ(count(html, "id=\"chunk-" + std::to_string(chunks - 1) + "\""), 1u);
  EXPECT_THROW(report_html({}), Error);
}

TEST(WebFiles, AreFoundByPath) {
  EXPECT_GT(web_files().size(), 10u);
  ASSERT_NE(find_web_file("shell.js"), nullptr);
  EXPECT_EQ(find_web_file("shell.js")->type, "text/javascript; charset=utf-8");
  EXPECT_EQ(find_web_file("../CMakeLists.txt"), nullptr);
}

}  // namespace
}  // namespace fovea::report_test
