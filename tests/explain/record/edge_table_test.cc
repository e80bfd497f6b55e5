#include "fovea/explain/record/edge_table.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace fovea::edge_table_test {
namespace {

TEST(EdgeTable, OneLinePerEdge) {
  MapView edges;
  edges.name = "attention";
  edges.layout = MapLayout::Edges;
  edges.query_axis = edges.key_axis = "nodes";
  edges.query_labels = edges.key_labels = {"a", "b, the \"second\""};
  edges.edge_queries = {0, 0, 1};
  edges.edge_keys = {0, 1, 1};
  edges.weights = {0.25, 0.75, 1};
  edges.layer = 2, edges.head = 3;
  MapView dense;
  dense.weights = {1};
  Explanation explanation;
  explanation.maps = {dense, edges};
  EXPECT_EQ(edge_table(explanation),
            "source,target,weight,self_loop,layer,head\n"
            "a,a,0.25,yes,2,3\n"
            "\"b, the \"\"second\"\"\",a,0.75,no,2,3\n"
            "\"b, the \"\"second\"\"\",\"b, the \"\"second\"\"\",1,yes,2,3\n");
  explanation.maps = {dense};
  testing::expect_error(ErrorKind::InvalidArgument, "no attention over edges",
                        [&] { edge_table(explanation); });
}

}  // namespace
}  // namespace fovea::edge_table_test
