#include "fovea/data/pairs/synthetic_phrases.h"

#include <algorithm>
#include <set>

#include "tests/data/testing.h"

namespace fovea::synthetic_phrases_test {
namespace {

using Texts = std::vector<std::string>;

PhrasesOptions small(int64_t rows = 3000) {
  PhrasesOptions options;
  options.rows = rows;
  options.validation_rows = 300;
  options.test_rows = 200;
  return options;
}

/// Every pair of the three parts.
std::vector<TextPair> all_pairs(const PhrasesDraw& draw) {
  std::vector<TextPair> all = draw.train;
  all.insert(all.end(), draw.validation.begin(), draw.validation.end());
  all.insert(all.end(), draw.test.begin(), draw.test.end());
  return all;
}

/// The words between blanks, commas and the full stop removed.
Texts words_of(std::string text) {
  std::erase_if(text, [](char c) { return c == ',' || c == '.'; });
  return split(text, ' ');
}

std::string part_of_target(const TextPair& pair, const std::string& source_word) {
  std::string found;
  for (const Link& link : pair.links)
    if (pair.source.substr(size_t(link.source_begin),
                           size_t(link.source_end - link.source_begin)) == source_word)
      found += (found.empty() ? "" : " ") +
               pair.references[0].substr(size_t(link.target_begin),
                                         size_t(link.target_end - link.target_begin));
  return found;
}

const TextPair* find(const std::vector<TextPair>& pairs, const std::string& words) {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const TextPair& pair) {
    return pair.source.find(words) != std::string::npos;
  });
  return found == pairs.end() ? nullptr : &*found;
}

TEST(Phrases, SizesLengthsAndSeeds) {
  const PhrasesDraw draw = draw_phrases(small());
  EXPECT_EQ(draw.train.size(), 3000);
  EXPECT_EQ(draw.validation.size(), 300);
  EXPECT_EQ(draw.test.size(), 200);
  size_t shortest = 99, longest = 0;
  for (const TextPair& pair : all_pairs(draw))
    for (const std::string& text : {pair.source, pair.references[0]}) {
      shortest = std::min(shortest, words_of(text).size());
      longest = std::max(longest, words_of(text).size());
      EXPECT_EQ(text.back(), '.');
      EXPECT_TRUE(text[0] >= 'A' && text[0] <= 'Z') << text;
      EXPECT_EQ(text.find("  "), std::string::npos) << text;
    }
  EXPECT_EQ(shortest, 4u);
  EXPECT_EQ(longest, 25u);
  EXPECT_TRUE(has_note(draw.notes, "3,000 training"));
  EXPECT_EQ(draw_phrases(small()).train[7].source, draw.train[7].source);
  PhrasesOptions other = small();
  other.seed = 2;
  EXPECT_NE(draw_phrases(other).train[7].source, draw.train[7].source);
  // The test part does not depend on how much training data is drawn.
  EXPECT_EQ(draw_phrases(small(10)).test[199].source, draw.test[199].source);
}

TEST(Phrases, NoSentenceTwice) {
  std::set<std::string> sources, targets;
  const std::vector<TextPair> all = all_pairs(draw_phrases(small()));
  for (const TextPair& pair : all) {
    sources.insert(pair.source);
    targets.insert(pair.references.at(0));
  }
  EXPECT_EQ(sources.size(), all.size());
  EXPECT_EQ(targets.size(), all.size());
}

TEST(Phrases, LinksCoverEveryWordOfBothSides) {
  for (const TextPair& pair : all_pairs(draw_phrases(small(500)))) {
    std::string source = pair.source, target = pair.references[0];
    for (const Link& link : pair.links) {
      std::fill(source.begin() + link.source_begin, source.begin() + link.source_end, ' ');
      std::fill(target.begin() + link.target_begin, target.begin() + link.target_end, ' ');
    }
    EXPECT_EQ(source.find_first_not_of(' '), std::string::npos) << pair.source << source;
    EXPECT_EQ(target.find_first_not_of(" ,"), std::string::npos) << target;
  }
}

TEST(Phrases, AFrontedTimeIsFollowedByTheVerb) {
  int64_t seen = 0;
  for (const TextPair& pair : draw_phrases(small()).train)
    for (const auto& [english, german] :
         {std::pair<std::string, std::string>{"Tomorrow ", "Morgen "}, {"Soon ", "Bald "}}) {
      if (!pair.source.starts_with(english)) continue;
      ++seen;
      const std::string rest = pair.references[0].substr(german.size());
      EXPECT_TRUE(pair.references[0].starts_with(german)) << pair.references[0];
      EXPECT_TRUE(rest.starts_with("wird ") || rest.starts_with("werden ")) << pair.references[0];
    }
  EXPECT_GT(seen, 50);
}

TEST(Phrases, TheVerbIsLastBehindWeil) {
  const std::set<std::string> finite{
      "sieht",   "sehen",    "findet", "finden", "liebt",   "lieben",   "zeichnet", "zeichnen",
      "kauft",   "kaufen",   "trägt",  "tragen", "hört",    "hören",    "hilft",    "helfen",
      "dankt",   "danken",   "folgt",  "folgen", "schläft", "schlafen", "wartet",   "warten",
      "springt", "springen", "hat",    "haben",  "ist",     "sind",     "wird",     "werden"};
  int64_t seen = 0;
  for (const TextPair& pair : draw_phrases(small()).train) {
    const std::string& text = pair.references[0];
    const size_t weil = text.rfind(", weil ");
    if (weil == std::string::npos || text.find(" und ", weil) != std::string::npos ||
        text.find(", ", weil + 1) != std::string::npos)
      continue;
    ++seen;
    EXPECT_TRUE(finite.contains(words_of(text).back())) << text;
  }
  EXPECT_GT(seen, 100);
}

TEST(Phrases, GenderCaseAndDeclension) {
  const std::vector<TextPair> train = draw_phrases(small(20000)).train;
  const auto translated = [&](const std::string& english) {
    const TextPair* pair = find(train, english);
    return pair == nullptr ? std::string("(not drawn)") : pair->references[0];
  };
  const auto expect = [&](const std::string& english, const std::string& german) {
    const std::string text = translated(english);
    EXPECT_NE(text.find(german), std::string::npos) << english << ": " << text;
  };
  expect(" sees the dog ", "den Hund");
  expect(" helps the dog", "dem Hund");
  expect(" helps the woman", "der Frau");
  expect(" sees my old ", "mein");
  expect(" hears the boy", "den Jungen");
  expect(" thanks the children", "den Kindern");
  expect(" follows many dogs", "vielen Hunden");
  expect(" buys an apple", "einen Apfel");
  expect(" buys this book", "dieses Buch");
  expect(" finds two big ", "zwei große ");
  expect("The old man ", "er alte Mann");
  expect("A big dog ", "in großer Hund");
  expect("A small child ", "in kleines Kind");
  expect("My big dogs ", "eine großen Hunde");
  for (const TextPair& pair : train) {
    for (const char* wrong : {" a old", " a apple", " a umbrella", " an big", " every dogs"})
      EXPECT_EQ(pair.source.find(wrong), std::string::npos) << pair.source;
    for (const char* wrong :
         {" der Kind ", " das Hund ", " die Mann ", " den Katze ", " dem Frau "})
      EXPECT_EQ(pair.references[0].find(wrong), std::string::npos) << pair.references[0];
  }
}

/// What stands between one of these determiners and its noun has one of these endings.
TEST(Phrases, AdjectivesFollowTheirDeterminer) {
  const std::vector<std::pair<std::set<std::string>, Texts>> rules{
      {{"den", "dem", "einen", "einem", "einer", "meinen", "meinem", "meiner", "jeden", "jedem",
        "diesen", "diesem", "vielen"},
       {"en"}},
      {{"ein", "mein"}, {"er", "es"}},
      {{"eine", "jede", "viele"}, {"e"}},
      {{"das", "jedes", "dieses"}, {"e"}}};
  int64_t seen = 0;
  for (const TextPair& pair : draw_phrases(small()).train) {
    const Texts words = words_of(pair.references[0]);
    for (const auto& [determiners, endings] : rules)
      for (size_t i = 0; i + 1 < words.size(); ++i) {
        if (!determiners.contains(words[i])) continue;
        for (size_t at = i + 1; words[at][0] >= 'a'; ++at, ++seen)
          EXPECT_TRUE(
              std::any_of(endings.begin(), endings.end(),
                          [&](const std::string& ending) { return words[at].ends_with(ending); }))
              << words[at] << " in " << pair.references[0];
      }
  }
  EXPECT_GT(seen, 1000);
}

TEST(Phrases, VerbsInTwoPiecesAreLinkedToOne) {
  const std::vector<TextPair> train = draw_phrases(small()).train;
  const TextPair* saw = find(train, " saw ");
  ASSERT_NE(saw, nullptr);
  const std::string parts = part_of_target(*saw, "saw");
  EXPECT_TRUE(parts.starts_with("hat gesehen") || parts.starts_with("haben gesehen") ||
              parts.starts_with("gesehen ha"))
      << parts;
  const TextPair* followed = find(train, " followed ");
  ASSERT_NE(followed, nullptr);
  EXPECT_TRUE(part_of_target(*followed, "followed").find("gefolgt") != std::string::npos);
  EXPECT_TRUE(part_of_target(*followed, "followed").find("ha") == std::string::npos);
}

TEST(Phrases, MoreClausesMakeLongerSentences) {
  PhrasesOptions one = small(300);
  one.maximum_clauses = 1;
  for (const TextPair& pair : draw_phrases(one).train)
    EXPECT_EQ(pair.references[0].find(','), std::string::npos);
  const std::vector<TextPair> train = draw_phrases(small(300)).train;
  EXPECT_NE(find(train, " because "), nullptr);
  EXPECT_NE(find(train, " and "), nullptr);
}

TEST(Phrases, OptionsAndLimits) {
  PhrasesOptions options;
  OptionList list;
  list.group("data", options);
  list.set("data.rows", "5");
  EXPECT_EQ(options.rows, 5);
  expect_error(ErrorKind::InvalidArgument, "data.maximum_clauses",
               [&] { list.set("data.maximum_clauses", "0"); });
  options.rows = -1;
  expect_error(ErrorKind::InvalidArgument, "-1", [&] { draw_phrases(options); });
  options.rows = 1;
  options.maximum_clauses = 0;
  expect_error(ErrorKind::InvalidArgument, "clause", [&] { draw_phrases(options); });
}

}  // namespace
}  // namespace fovea::synthetic_phrases_test
