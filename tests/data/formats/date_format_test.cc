#include "fovea/data/formats/date_format.h"

#include "tests/data/testing.h"

namespace fovea::date_format_test {
namespace {

using DateCells = std::vector<std::string_view>;

std::string read_date(const DateCells& column, std::string_view cell) {
  const auto format = DateFormat::infer(column);
  if (!format) return "no dates";
  const auto time = format->parse(cell);
  return time ? format->format(time->in_days()) : "no date";
}

TEST(DateFormat, TheUsualForms) {
  for (const char* cell :
       {"2011-01-31", "2011/1/31", "20110131", "31.01.2011", "01/31/2011", "31 Jan 2011",
        "31-Jan-11", "January 31, 2011", "Mon, 31 Jan 2011", "31st of January 2011", "31.1.11"})
    EXPECT_EQ(read_date({cell}, cell), "2011-01-31") << cell;
  for (const char* cell : {"2011-01-31 05:04:03", "2011-01-31T05:04:03Z", "20110131T050403",
                           "2011-01-31T05:04:03+02:00", "31.01.2011 5:04:03",
                           "1/31/2011 5:04:03 AM", "2011-01-31 05:04:03.123"})
    EXPECT_EQ(read_date({cell}, cell), "2011-01-31 05:04:03") << cell;
  EXPECT_EQ(read_date({"17:20", "05:00"}, "17:20"), "17:20:00");
  EXPECT_EQ(read_date({"5:30 pm", "12:00 am"}, "5:30 pm"), "17:30:00");
  EXPECT_EQ(read_date({"Dec-2011"}, "Dec-2011"), "2011-12-01");
  EXPECT_EQ(read_date({"2011-12"}, "2011-12"), "2011-12-01");
}

TEST(DateFormat, TheColumnTellsWhetherTheDayIsFirst) {
  EXPECT_EQ(read_date({"01/02/2003", "31/01/2003"}, "01/02/2003"), "2003-02-01");
  EXPECT_EQ(read_date({"01/02/2003", "01/31/2003"}, "01/02/2003"), "2003-01-02");
  EXPECT_FALSE(DateFormat::infer(DateCells{"01/02/2003", "01/31/2003"})->is_guess());
  EXPECT_TRUE(DateFormat::infer(DateCells{"01/02/2003"})->is_guess());
  EXPECT_EQ(read_date({"01/02/2003"}, "01/02/2003"), "2003-01-02");
  EXPECT_EQ(read_date({"01.02.2003"}, "01.02.2003"), "2003-02-01");
  EXPECT_EQ(read_date({"31/01/2003", "01/31/2003"}, ""), "no dates");
}

TEST(DateFormat, WhatIsNoDate) {
  for (const char* cell : {"May", "hello", "1.2.3", "12-15", "2011-02-30", "2011-13-01", "25:00",
                           "12:75", "1234", "3.14", "A-2011-01", "2011-01-31 and more", "5"})
    EXPECT_FALSE(DateFormat::infer(DateCells{cell})) << cell;
  EXPECT_FALSE(DateFormat::infer(DateCells{"2011-01-31", "05:00"}));
  EXPECT_FALSE(DateFormat::infer(DateCells{"", "NA"}));
  EXPECT_TRUE(DateFormat::infer(DateCells{"", "NA", "-", "2011-01-31"}));
}

TEST(DateFormat, CalendarParts) {
  const auto time = DateFormat::infer(DateCells{"2026-11-17 18:30"})->parse("2026-11-17 18:30");
  const CalendarParts parts = calendar_parts(time->in_days());
  EXPECT_EQ(parts.year, 2026);
  EXPECT_EQ(parts.month, 11);
  EXPECT_EQ(parts.weekday, 1) << "Tuesday";
  EXPECT_NEAR(parts.hour, 18.5, 1e-6);
}

}  // namespace
}  // namespace fovea::date_format_test
