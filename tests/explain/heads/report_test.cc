#include "fovea/explain/heads/report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/explain/draw/terminal.h"

namespace fovea::report_test {
namespace {

/// Layer 1 has two heads, layer 2 has lost one; the source map has no layers and no distance.
HeadReport report() {
  HeadReport made;
  made.rows = 7;
  for (const auto& [map, layer, head] :
       {std::tuple{"encoder", 1, 1}, {"encoder", 1, 2}, {"encoder", 2, 1}, {"attention", 0, 1}}) {
    HeadStatistics statistics;
    statistics.name = {map, layer, head};
    statistics.queries = 10;
    statistics.entropy = layer + 0.25 * head;
    if (layer > 0) statistics.distance = 1.5;
    made.statistics.push_back(statistics);
    made.importance.push_back({statistics.name, 0.5, 0.125 * head, {}});
  }
  return made;
}

TEST(HeadReport, TheTableHasARowPerHeadAndOnlyWhatWasMeasured) {
  const std::string text = head_table(report()).plain();
  EXPECT_NE(text.find("importance"), std::string::npos);
  EXPECT_NE(text.find("distance"), std::string::npos);
  EXPECT_EQ(text.find("drop"), std::string::npos);
  EXPECT_EQ(text.find("special"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 4 + (text.find("--") < text.size()));
}

TEST(HeadReport, JsonLeavesOutWhatIsNotKnown) {
  const Json json = heads_to_json(report());
  EXPECT_EQ(json["rows"], 7);
  ASSERT_EQ(json["heads"].size(), 4u);
  EXPECT_EQ(json["heads"][1]["importance"], 0.25);
  EXPECT_EQ(json["heads"][2]["distance"], 1.5);
  EXPECT_FALSE(json["heads"][3].contains("distance"));
  EXPECT_EQ(json["heads"][3]["layer"], 1);
}

TEST(HeadReport, PicturesAreLayersByHeadsWithGaps) {
  const Explanation all = explain_heads(report(), "Heads", /*everything=*/true);
  ASSERT_EQ(all.maps.size(), 7u) << "importance, entropy, largest of both, distance of one";
  const MapView& view = all.maps[0];
  EXPECT_EQ(view.name, "encoder importance");
  EXPECT_EQ(view.query_labels, (std::vector<std::string>{"layer 1", "layer 2"}));
  EXPECT_EQ(view.key_labels, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(view.weights[1], 0.25);
  EXPECT_TRUE(std::isnan(view.weights[3]));
  for (const MapView& map : all.maps) check_sizes(map);
  const Explanation brief = explain_heads(report(), "Heads", /*everything=*/false);
  EXPECT_EQ(brief.maps.size(), 2u);
  EXPECT_NE(render_terminal(brief).find("layer 2"), std::string::npos);
}

}  // namespace
}  // namespace fovea::report_test
