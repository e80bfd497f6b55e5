#include "fovea/base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fovea::text_test {
namespace {

using Words = std::vector<std::string>;

TEST(Text, ConcatJoinSplitTrim) {
  EXPECT_EQ(concat("a", 1, ' ', 2.5, std::string("z")), "a1 2.5z");
  EXPECT_EQ(join(Words{}), "");
  EXPECT_EQ(join(Words{"a"}), "a");
  EXPECT_EQ(join(Words{"a", "", "c"}, "|"), "a||c");
  EXPECT_EQ(split("", ','), Words{});
  EXPECT_EQ(split("a", ','), Words{"a"});
  EXPECT_EQ(split(",a,,b,", ','), (Words{"", "a", "", "b", ""}));
  EXPECT_EQ(trim(" \t\r\n a b \f\v"), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, NearestFindsWhatWasMeant) {
  const Words keys{"model.layers", "model.hidden", "training.epochs", "training.learning_rate"};
  EXPECT_EQ(nearest("model.layer", keys), "model.layers");
  EXPECT_EQ(nearest("epochs", keys), "training.epochs") << "the group was forgotten";
  EXPECT_EQ(nearest("data.epochs", keys), "training.epochs") << "the wrong group";
  EXPECT_EQ(nearest("training.learning_rat", keys), "training.learning_rate");
  EXPECT_EQ(nearest("zzzzzzzzzz", keys), "");
  EXPECT_EQ(nearest("x", Words{}), "");
  EXPECT_EQ(nearest("", Words{"abcdef"}), "");
  EXPECT_EQ(nearest("GEBIET", Words{"Rabatt", "Gebiet"}), "Gebiet");
  EXPECT_EQ(nearest("Y", Words{"a", "y"}), "y") << "the case alone differs";
  EXPECT_EQ(nearest("y", Words{"a", "b"}), "") << "short names are all alike";
  EXPECT_EQ(suggestion("gro", Words{"rnn", "gru", "lstm"}), " (did you mean 'gru'?)");
  EXPECT_EQ(suggestion("something", Words{"rnn", "gru"}), "");
}

TEST(Text, NumbersForPeople) {
  EXPECT_EQ(format_number(0.25), "0.25");
  EXPECT_EQ(format_number(1.0 / 3), "0.3333");
  EXPECT_EQ(format_number(1.0 / 3, 2), "0.33");
  EXPECT_EQ(format_number(100), "100");
  EXPECT_EQ(format_number(1e-9), "1e-09");
  EXPECT_EQ(format_number(INFINITY), "inf");
}

TEST(Text, ExactNumbersReadBackTheSame) {
  EXPECT_EQ(format_exact(0.1), "0.1");
  EXPECT_EQ(format_exact(0.1f), "0.1");
  EXPECT_EQ(format_exact(double(0.1f)), "0.10000000149011612");
  for (const double value :
       {0.0, -0.0, 1.0 / 3, 1e300, -5e-324, std::numeric_limits<double>::max(), 12345678.9}) {
    double back = 99;
    ASSERT_TRUE(parse_number(format_exact(value), back)) << format_exact(value);
    EXPECT_EQ(back, value);
    EXPECT_EQ(std::signbit(back), std::signbit(value));
  }
}

TEST(Text, Durations) {
  EXPECT_EQ(format_duration(0), "0.0 s");
  EXPECT_EQ(format_duration(3.21), "3.2 s");
  EXPECT_EQ(format_duration(59.9), "59.9 s");
  EXPECT_EQ(format_duration(59.97), "1 min 00 s");
  EXPECT_EQ(format_duration(245), "4 min 05 s");
  EXPECT_EQ(format_duration(3599.4), "59 min 59 s");
  EXPECT_EQ(format_duration(3599.7), "1 h 00 min");
  EXPECT_EQ(format_duration(7800), "2 h 10 min");
  EXPECT_NE(format_duration(INFINITY), "");
  EXPECT_NE(format_duration(NAN), "");
}

TEST(Text, Counts) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(12345678), "12,345,678");
  EXPECT_EQ(format_count(-999), "-999");
  EXPECT_EQ(format_count(-1000), "-1,000");
  EXPECT_EQ(format_count(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(Text, ParsesNumbersWholeOrNotAtAll) {
  double number = 0;
  EXPECT_TRUE(parse_number(" -1.5e3 ", number));
  EXPECT_EQ(number, -1500);
  EXPECT_TRUE(parse_number("+2", number));
  EXPECT_EQ(number, 2);
  for (const char* bad :
       {"", " ", "+", "-", "+-5", "++5", "1x", "1 2", "1,5", "0x10", "1e999", "one"})
    EXPECT_FALSE(parse_number(bad, number)) << bad;
  int64_t integer = 0;
  EXPECT_TRUE(parse_integer("\t+12\n", integer));
  EXPECT_EQ(integer, 12);
  EXPECT_TRUE(parse_integer("-9223372036854775808", integer));
  EXPECT_EQ(integer, std::numeric_limits<int64_t>::min());
  for (const char* bad : {"", "+", "+-5", "1.0", "1e3", "9223372036854775808", "12 ,"})
    EXPECT_FALSE(parse_integer(bad, integer)) << bad;
}

TEST(Text, FindsWhereUtf8EndsBeingValid) {
  for (const char* valid :
       {"", "plain", "größe", "日本", "🙂", "\xF4\x8F\xBF\xBF", "\xEF\xBF\xBF"})
    EXPECT_EQ(valid_utf8_prefix(valid), std::string(valid).size()) << valid;
  const std::pair<const char*, size_t> broken[] = {{"ab\xFF", 2},  // no such byte
                                                   {"a\x80", 1},   // continuation without a lead
                                                   {"\xC3", 0},    // cut off
                                                   {"ok\xE2\x82", 2},        // cut off
                                                   {"\xC0\x80", 0},          // overlong, 2 bytes
                                                   {"\xE0\x80\x80", 0},      // overlong, 3 bytes
                                                   {"\xF0\x80\x80\x80", 0},  // overlong, 4 bytes
                                                   {"\xED\xA0\x80", 0},      // surrogate
                                                   {"\xF4\x90\x80\x80", 0},  // beyond U+10FFFF
                                                   {"\xC3\x41", 0}};  // lead without a continuation
  for (const auto& [text, prefix] : broken) EXPECT_EQ(valid_utf8_prefix(text), prefix) << text;
  EXPECT_EQ(valid_utf8_prefix(std::string_view("a\0b", 3)), 3u);
}

TEST(Text, DisplayWidthCountsColumns) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("größe"), 5u);
  EXPECT_EQ(display_width("e\xCC\x81"), 1u) << "a combining accent takes no room";
  EXPECT_EQ(display_width("日本"), 4u);
  EXPECT_EQ(display_width("━╌░▓█✓␣…"), 8u) << "what pictures are made of";
  EXPECT_EQ(display_width("。！￥"), 6u) << "wide punctuation and signs";
  EXPECT_EQ(display_width("한국"), 4u);
  EXPECT_EQ(display_width("\u1112\u1161\u11AB"), 2u) << "the same first letter in three parts";
  EXPECT_EQ(display_width("⌚✅⭐😀🚀"), 10u) << "emoji of every age";
  EXPECT_EQ(display_width("☀✈\U0001F321"), 3u) << "symbols that terminals draw narrow";
  EXPECT_EQ(display_width("كِتَاب"), 4u) << "Arabic vowel marks";
  EXPECT_EQ(display_width("שָׁלוֹם"), 4u) << "Hebrew points";
  EXPECT_EQ(display_width("\u304B\u3099"), 2u) << "a Japanese voicing mark";
  EXPECT_EQ(display_width("a\u200Db\u200E"), 2u) << "joiners and direction marks";
  EXPECT_EQ(display_width("\xFF\xFF"), 2u);
}

TEST(TextTable, AlignsTextLeftAndNumbersRight) {
  TextTable table({"name", "n", "mixed"});
  table.add({"größe", "7", "1"});
  table.add({"x", "12.5", "none"});
  EXPECT_EQ(table.plain(),
            "name      n  mixed\n"
            "größe     7  1\n"
            "x      12.5  none\n");
  EXPECT_EQ(table.markdown(),
            "| name | n | mixed |\n"
            "| --- | --- | --- |\n"
            "| größe | 7 | 1 |\n"
            "| x | 12.5 | none |\n");
}

TEST(TextTable, ShortRowsAndHeadersAloneAreFine) {
  TextTable table({"a", "b"});
  EXPECT_EQ(table.plain(), "a  b\n");
  table.add({"only"});
  table.add({"1", "2", "too many"});
  EXPECT_EQ(table.plain(), "a     b\nonly\n1     2\n");
}

TEST(Text, NothingIsSuggestedForWhatIsTooLongToBeASlip) {
  const std::vector<std::string> names{"height"};
  EXPECT_EQ(nearest("hieght", names), "height");
  EXPECT_EQ(nearest(std::string(1 << 20, 'h'), names), "");
}

}  // namespace
}  // namespace fovea::text_test
