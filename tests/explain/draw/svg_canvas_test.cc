#include "fovea/explain/draw/svg_canvas.h"

#include <gtest/gtest.h>

#include "tests/explain/xml.h"

namespace fovea::svg_canvas_test {
namespace {

TEST(SvgCanvas, WritesPlainElements) {
  SvgCanvas canvas(100, 50);
  canvas.fill({1, 2, 3.14159, 4}, {255, 0, 16});
  canvas.line({0, 0}, {10, 10.5}, palette::kInk, 1);
  canvas.polygon({{0, 0}, {4, 0.25}, {2, 3}}, palette::kInk);
  canvas.text({5, 6}, "a<b", {10, palette::kInk, Anchor::End, true, -45});
  EXPECT_EQ(
      canvas.document(),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50\" viewBox=\"0 0 100 "
      "50\" "
      "font-family=\"&quot;DejaVu Sans&quot;, sans-serif\">\n"
      "<rect x=\"1\" y=\"2\" width=\"3.14\" height=\"4\" fill=\"#ff0010\"/>\n"
      "<line x1=\"0\" y1=\"0\" x2=\"10\" y2=\"10.5\" stroke=\"#222222\" stroke-width=\"1\"/>\n"
      "<polygon points=\"0,0 4,0.25 2,3\" fill=\"#222222\"/>\n"
      "<text x=\"5\" y=\"6\" font-size=\"10\" fill=\"#222222\" text-anchor=\"end\" "
      "font-weight=\"bold\" "
      "transform=\"rotate(-45 5 6)\">a&lt;b</text>\n"
      "</svg>\n");
}

TEST(SvgCanvas, AnyTextIsSafe) {
  SvgCanvas canvas(10, 10);
  canvas.text({0, 0}, std::string("\0\x01</text>\"'&\n\xFF\xEF\xBF\xBF", 17), {});
  EXPECT_EQ(xml_problem(canvas.document()), "");
  EXPECT_NE(canvas.document().find("\\x00\\x01&lt;/text&gt;&quot;&#39;&amp;\\n"),
            std::string::npos);
}

TEST(SvgCanvas, TheXmlCheckCanFail) {
  EXPECT_NE(xml_problem("<svg><rect></svg>"), "");
  EXPECT_NE(xml_problem("<svg>a & b</svg>"), "");
  EXPECT_NE(xml_problem("<svg>a > b</svg>"), "");
  EXPECT_NE(xml_problem("<svg>"), "");
  EXPECT_NE(xml_problem("<svg>\x01</svg>"), "");
  EXPECT_EQ(xml_problem("<svg><rect x=\"1\"/>a &amp; b</svg>"), "");
}

}  // namespace
}  // namespace fovea::svg_canvas_test
