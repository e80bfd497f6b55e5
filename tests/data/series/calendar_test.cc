#include "fovea/data/series/calendar.h"

#include <cmath>

#include "fovea/tensor/random.h"
#include "tests/data/testing.h"

namespace fovea::calendar_test {
namespace {

using Names = std::vector<std::string>;

StepInterval interval_of(const Names& labels) {
  const StepTimes times = parse_step_times(labels);
  const std::vector<std::vector<double>> blocks{times.values};
  return find_interval(blocks, times.dates);
}

TEST(Calendar, IntervalsAndTheirWords) {
  EXPECT_EQ(interval_of({"2024-01-01 00:00", "2024-01-01 00:15", "2024-01-01 00:30"}).text(),
            "15 minutes");
  EXPECT_EQ(
      interval_of({"2024-01-01 23:00:00", "2024-01-02 00:00:00", "2024-01-02 01:00:00"}).text(),
      "1 hour");
  EXPECT_EQ(interval_of({"2024-02-28", "2024-02-29", "2024-03-01"}).text(), "1 day");
  EXPECT_EQ(interval_of({"2023-12-01", "2024-01-01", "2024-02-01", "2024-04-01"}).text(),
            "1 month");
  EXPECT_EQ(interval_of({"2023-12-31", "2024-01-31", "2024-02-29"}).text(), "1 month");
  EXPECT_EQ(interval_of({"2022-01-01", "2023-01-01", "2024-01-01"}).text(), "1 year");
  EXPECT_EQ(interval_of({"1", "2", "4"}).text(), "1");
  EXPECT_EQ(interval_of({"1700000000", "1700003600", "1700007200"}).text(), "1 hour");
  EXPECT_EQ(interval_of({"1700000000000", "1700000060000"}).text(), "1 minute");
  EXPECT_FALSE(interval_of({"2024-01-01", "2024-01-02", "2024-01-03 12:00"}).known());
  EXPECT_FALSE(interval_of({"a", "b"}).known());
  EXPECT_FALSE(interval_of({"7"}).known());
}

/// The labels as yyyy-mm-dd, or as they are.
Names read_written(Names labels) {
  if (const auto format = find_date_format(labels))
    for (std::string& label : labels) label = format->format(format->parse(label)->in_days());
  return labels;
}

TEST(Calendar, DatesAsPeopleWriteThem) {
  EXPECT_EQ(read_written({"30.01.2024", "31.01.2024", "01.02.2024"})[2], "2024-02-01");
  EXPECT_EQ(read_written({"1/30/2024", "1/31/2024", "2/1/2024"})[2], "2024-02-01");
  EXPECT_EQ(read_written({"2024-01", "2024-02"})[1], "2024-02-01");
  EXPECT_EQ(read_written({"Jan 2024", "Feb 2024"})[1], "2024-02-01");
  EXPECT_EQ(read_written({"20240131", "20240201"})[1], "2024-02-01");
  EXPECT_EQ(read_written({"31.01.2024 23:00", "01.02.2024 00:00"})[1], "2024-02-01 00:00:00");
  // Every cell could be either: the firsts of months are equally spaced, days of January are not.
  EXPECT_EQ(read_written({"01/11/2023", "01/12/2023", "01/01/2024", "01/02/2024"})[3],
            "2024-02-01");
  for (const Names& kept : {Names{"2024-01-31", "2024-02-01"}, Names{"1", "2"}, Names{"a", "b"},
                            Names{"31.01.2024", "-"}, Names{"10000000", "10000001"}})
    EXPECT_FALSE(find_date_format(kept).has_value()) << kept[0];
}

TEST(Calendar, TimesAfterAndBetween) {
  const Names months{"2023-12-31", "2024-01-31", "2024-02-29"};
  const StepInterval month = interval_of(months);
  const StepTimes times = parse_step_times(months);
  EXPECT_EQ(month.steps_between(times.values[0], times.values[2]), 2);
  EXPECT_EQ(format_step_time(month.after(times.values[2], 1), true, months[0]), "2024-03-31");
  const StepTimes hours = parse_step_times(Names{"2024-02-28 23:30:00"});
  EXPECT_EQ(format_step_time(hours.values[0] + 1. / 24, true, "2024-02-28 23:30:00"),
            "2024-02-29 00:30:00");
  EXPECT_EQ(format_step_time(hours.values[0], true, "2024-02-28T23:30"), "2024-02-28T23:30");
  EXPECT_EQ(format_step_time(12, false, "11"), "12");
}

TEST(Calendar, SeasonsByTheIntervalAndByRepetition) {
  EXPECT_EQ(calendar_season({1. / 96, 0, true}), 96);
  EXPECT_EQ(calendar_season({1. / 24, 0, true}), 24);
  EXPECT_EQ(calendar_season({1, 0, true}), 7);
  EXPECT_EQ(calendar_season({7, 0, true}), 52);
  EXPECT_EQ(calendar_season({0, 1, true}), 12);
  EXPECT_EQ(calendar_season({0, 3, true}), 4);
  EXPECT_EQ(calendar_season({1, 0, false}), 1);
  std::vector<double> wave, trend, noise;
  for (int i = 0; i < 300; ++i) {
    wave.push_back(std::sin(2 * M_PI * i / 11) + 0.02 * i);
    trend.push_back(0.5 * i);
    noise.push_back(Random(3).normal(uint64_t(i)));
  }
  wave[17] = NAN;
  EXPECT_EQ(find_season(wave), 11);
  EXPECT_EQ(find_season(trend), 1);
  EXPECT_EQ(find_season(noise), 1);
  int found = 0;  // what wanders has no season; some look as if they had
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<double> walk{0};
    for (int i = 1; i < 490; ++i) walk.push_back(walk.back() + Random(seed).normal(uint64_t(i)));
    found += find_season(walk) > 1;
  }
  EXPECT_LE(found, 1);
  EXPECT_EQ(find_season(std::vector<double>{1, 2, 1}), 1);
}

TEST(Calendar, CyclesNeedTwoRoundsAndGoOnOverTheBorder) {
  EXPECT_EQ(calendar_cycles({1. / 24, 0, true}, 24 * 800),
            (Names{"hour", "weekday", "day", "month"}));
  EXPECT_EQ(calendar_cycles({1. / 24, 0, true}, 24 * 20), (Names{"hour", "weekday"}));
  EXPECT_EQ(calendar_cycles({1, 0, true}, 100), (Names{"weekday", "day"}));
  EXPECT_EQ(calendar_cycles({0, 1, true}, 36), Names{"month"});
  EXPECT_TRUE(calendar_cycles({1, 0, false}, 1000).empty());
  const double monday = *parse_step_times(Names{"2024-01-01"}).values.begin();
  const auto at = [&](double days) { return calendar_features({"hour", "weekday"}, days); };
  EXPECT_NEAR(at(monday)[2], 0, 1e-6);
  EXPECT_NEAR(at(monday)[3], 1, 1e-6);
  EXPECT_NEAR(at(monday + 0.25)[0], 1, 1e-6);  // six o'clock
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(at(monday + 7)[i], at(monday)[i], 1e-6);
}

}  // namespace
}  // namespace fovea::calendar_test
