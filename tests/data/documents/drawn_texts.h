// What all synthetic texts of praise and blame are held to.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "fovea/data/documents/synthetic.h"

namespace fovea {

inline bool is_praise(const LabelledText& row) {
  return row.label == "praise";
}

inline std::vector<std::string> decisive_words(const LabelledText& row) {
  std::vector<std::string> words;
  for (const Span& span : row.decisive)
    words.push_back(row.text.substr(size_t(span.begin), size_t(span.end - span.begin)));
  return words;
}

/// No text stands twice; the seed alone decides what is drawn, whatever the number of rows.
template <class Options>
void expect_different_texts(const Options& options,
                            SplitRows<LabelledText> (*draw)(const Options&)) {
  const SplitRows<LabelledText> drawn = draw(options), again = draw(options);
  std::set<std::string> texts;
  for (const auto* split : {&drawn.train, &drawn.validation, &drawn.test})
    for (const LabelledText& row : *split) EXPECT_TRUE(texts.insert(row.text).second);
  EXPECT_EQ(int64_t(texts.size()), options.rows + options.validation_rows + options.test_rows);
  EXPECT_EQ(drawn.train[7].text, again.train[7].text);
  Options more = options;
  more.rows += 100;
  EXPECT_EQ(draw(more).test[3].text, drawn.test[3].text);
  more.seed = 2;
  EXPECT_NE(draw(more).test[3].text, drawn.test[3].text);
}

}  // namespace fovea
