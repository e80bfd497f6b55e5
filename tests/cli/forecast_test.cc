// The way of a user through forecasts of files of their own: several series in one file, dates,
// holidays, intervals.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "fovea/base/file.h"
#include "tests/cli/program_test.h"

namespace fovea::forecast_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

/// `day` days after the first of 2024, a Monday.
std::string date(int day) {
  using namespace std::chrono;
  const year_month_day own(sys_days(January / 1 / 2024) + days(day));
  const auto two = [](unsigned value) { return concat(value < 10 ? "0" : "", value); };
  return concat(int(own.year()), "-", two(unsigned(own.month())), "-", two(unsigned(own.day())));
}

class Forecast : public testing::ProgramTest {
 protected:
  Outcome train(const std::string& data, std::vector<std::string> more) {
    std::vector<std::string> arguments{"train",   "forecast",  data, "--out",      path("run"),
                                       "--quiet", "--threads", "1",  "--overwrite"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fovea(arguments);
  }
  /// Weeks of y = 10 times the weekday, and 50 on top where a promotion runs.
  std::string sales(int days) {
    std::string text = "date,y,promotion\n";
    for (int day = 0; day < days; ++day)
      text += concat(date(day), ",", 10 * (day % 7) + (day % 11 == 0 ? 50 : 0), ",",
                     day % 11 == 0 ? "yes" : "no", "\n");
    return text;
  }
};

TEST_F(Forecast, KnownColumnsCalendarAndIntervals) {
  const Outcome trained = train(
      file("sales.csv", sales(280)),
      {"--columns", "target=y,known=promotion,time=date", "--set", "model.name=linear", "--set",
       "model.quantiles=0.1,0.5,0.9", "--epochs", "40", "--set", "training.learning_rate=0.02"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Json metrics = fovea({"evaluate", path("run"), "--json"}).json()["metrics"];
  for (const char* name :
       {"mae", "rmse", "mse_standardised", "mae_standardised", "r2", "coverage", "width"})
    EXPECT_TRUE(metrics.contains(name)) << name;
  EXPECT_GT(metrics["r2"].get<double>(), 0.8);

  // The rows to come say when a promotion runs.
  std::string now = sales(60);
  for (int day = 60; day < 67; ++day)
    now += concat(date(day), ",,", day == 62 ? "yes" : "no", "\n");
  const Outcome predicted =
      fovea({"predict", path("run"), "--input", file("now.csv", now), "--json"});
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  const Json answer = predicted.json()[0];
  ASSERT_EQ(answer["y"].size(), 7u);
  EXPECT_LE(answer["y_low"][3].get<double>(), answer["y"][3].get<double>());
  EXPECT_GE(answer["y_high"][3].get<double>(), answer["y"][3].get<double>());
  EXPECT_NEAR(answer["y"][2].get<double>(), 10 * (62 % 7) + 50, 20);
  EXPECT_NEAR(answer["y"][3].get<double>(), 10 * (63 % 7), 20);
  const Outcome line = fovea({"predict", path("run"), "--input", path("now.csv")});
  EXPECT_NE(line.out.find(" ["), std::string::npos) << line.out;
  // Without them the forecast cannot be made.
  const Outcome short_ = fovea({"predict", path("run"), "--input", path("sales.csv")});
  EXPECT_EQ(short_.status, 1);
  EXPECT_NE(short_.err.find("7 steps to predict"), std::string::npos) << short_.err;
  EXPECT_NE(short_.err.find("promotion"), std::string::npos) << short_.err;
}

TEST_F(Forecast, AHeaderWithOtherNamesIsToldWhatIsMissing) {
  std::string rows = "date,sales,price\n";
  for (int day = 0; day < 120; ++day)
    rows += concat(date(day), ",", 10 * (day % 7), ",", day % 11, "\n");
  ASSERT_EQ(train(file("shop.csv", rows), {"--target", "sales", "--epochs", "1"}).status, 0);
  const std::string other = "Datum;Absatz;Preis\n2024-05-01;964,6;1,50\n2024-05-02;12;1,50\n";
  const Outcome outcome = fovea({"predict", path("run"), file("laden.csv", other)});
  EXPECT_EQ(outcome.status, 1);
  for (const char* part : {"laden.csv:1", "header", "'sales', 'price'"})
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " not in: " << outcome.err;
}

TEST_F(Forecast, SeveralSeriesInOneFile) {
  std::string text = "date,shop,y\n";
  for (int day = 0; day < 120; ++day)
    for (const int shop : {1, 2, 3})
      text += concat(date(day), ",s", shop, ",", 1000 * shop + 10 * (day % 7) * shop, "\n");
  const Outcome trained =
      train(file("shops.csv", text),
            {"--columns", "target=y,series=shop", "--epochs", "2", "--set", "model.name=patches",
             "--set", "model.hidden=8", "--set", "model.heads=2"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Outcome predicted = fovea({"predict", path("run"), "--input", path("shops.csv"), "--json"});
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  ASSERT_EQ(predicted.json().size(), 3u);
  EXPECT_EQ(predicted.json()[2]["shop"], "s3");
  EXPECT_NEAR(predicted.json()[2]["y"][0].get<double>(), 3090, 300);
  const Json evaluated = fovea({"evaluate", path("run"), "--json"}).json();
  ASSERT_EQ(evaluated["by_series"].size(), 3u);
  EXPECT_EQ(evaluated["by_series"][2]["series"], "s3");
  EXPECT_NEAR(evaluated["by_series"][2]["mae of seasonal naive"].get<double>(), 0, 1e-2);
  EXPECT_NEAR(evaluated["baselines"]["seasonal naive"]["mae"].get<double>(), 0, 1e-2);
  EXPECT_EQ(evaluated["by_step"].size(), 7u);
  EXPECT_EQ(fovea({"doctor", path("run")}).status, 0);
  const Outcome explained =
      fovea({"explain", path("run"), "--input", path("shops.csv"), "--out", path("maps.html")});
  EXPECT_EQ(explained.status, 0) << explained.err;
  const Outcome faithful =
      fovea({"explain", path("run"), "--faithfulness", "--rows", "5", "--quiet"});
  EXPECT_EQ(faithful.status, 0) << faithful.err;
}

TEST_F(Forecast, EveryNetworkGoesTheWholeWay) {
  std::string text = "date,a,b\n";
  for (int day = 0; day < 150; ++day)
    text += concat(date(day), ",", std::sin(day * 0.9) * 5, ",", day % 7, "\n");
  const std::string data = file("two.csv", text);
  for (const char* model : {"patches", "linear", "seq2seq"}) {
    const Outcome trained = train(data, {"--epochs", "1", "--set", concat("model.name=", model),
                                         "--set", "data.horizon=3", "--set", "data.window=14"});
    ASSERT_EQ(trained.status, 0) << model << trained.err;
    EXPECT_EQ(fovea({"evaluate", path("run")}).status, 0) << model;
    EXPECT_EQ(fovea({"predict", path("run"), "--input", data}).status, 0) << model;
    const Outcome explained = fovea({"explain", path("run"), "--out", path("all.svg")});
    EXPECT_EQ(explained.status, 0) << model << explained.err;
    const Outcome one = fovea({"explain", path("run"), "--input", data, "--out", path("one.json")});
    EXPECT_EQ(one.status, 0) << model << one.err;
    const Outcome doctor = fovea({"doctor", path("run")});
    EXPECT_EQ(doctor.status, 0) << model << doctor.err;
  }
  const Outcome revin = train(data, {"--epochs", "1", "--set", "model.name=seq2seq", "--set",
                                     "model.revin=yes", "--set", "data.window=14"});
  EXPECT_EQ(revin.status, 0) << revin.err;
}

/// No option but the file: rows of several series, and what comes after the last of each.
TEST_F(Forecast, AFileInLongFormatNeedsNoOptions) {
  std::string text = "ds,store,sales\n";
  for (int day = 0; day < 200; ++day)
    for (const char* store : {"north", "south"})
      text += concat(date(day), ",", store, ",", (store[0] == 'n' ? 100 : 5000) + day % 7, "\n");
  const std::string data = file("long.csv", text);
  const Outcome trained =
      fovea({"train", "forecast", data, "--out", path("run"), "--threads", "1"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_NE(trained.err.find("column 'store' says which of 2 series"), std::string::npos)
      << trained.err;
  EXPECT_NE(trained.err.find("season of 7 steps"), std::string::npos) << trained.err;
  const Outcome predicted = fovea({"predict", path("run"), "--input", data, "--json"});
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  ASSERT_EQ(predicted.json().size(), 2u);
  EXPECT_EQ(predicted.json()[1]["store"], "south");
  EXPECT_EQ(predicted.json()[1]["ds"][0], date(200));
  EXPECT_EQ(predicted.json()[1]["ds"][6], date(206));
  for (int step = 0; step < 7; ++step)
    EXPECT_NEAR(predicted.json()[1]["sales"][size_t(step)].get<double>(), 5000 + (200 + step) % 7,
                1.5);
}

/// Numbers that grow by one a day: a season back is 7 too low, whatever is forecast.
TEST_F(Forecast, NumbersThatCountTheRowsAreTimesByAnyName) {
  for (const auto& [first, step, left_out] :
       std::vector<std::array<int64_t, 3>>{{1650000000, 3600, 7}, {1800, 1, -1}}) {
    std::string rows = "Zeitpunkt,Umsatz\n";
    for (int64_t i = 0; i < 120; ++i)
      if (left_out < 0 || i % 40 != left_out)
        rows += concat(first + step * i, ",", 10 + i % 7, ".5\n");
    const Outcome outcome =
        fovea({"train", "forecast", file("count.csv", rows), "--out", path("count"), "--overwrite",
               "--epochs", "1", "--set", "model.name=linear"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("forecast of 'Umsatz', "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("'Zeitpunkt' names the steps"), std::string::npos) << outcome.err;
  }
}

TEST_F(Forecast, EvaluateShowsBaselinesSeriesAndStepsInTheUnit) {
  std::string text = "date,load,height\n";
  for (int day = 0; day < 400; ++day)
    text += concat(date(day), ",", 1000 + day, ",", 0.5 * std::sin(day * 0.7), "\n");
  const std::string data = file("ramp.csv", text);
  ASSERT_EQ(train(data, {"--columns", "target=load,input=load", "--epochs", "1"}).status, 0);
  const Outcome shown = fovea({"evaluate", path("run")});
  ASSERT_EQ(shown.status, 0) << shown.err;
  for (const char* word : {"seasonal naive", "linear regression", "series", "load", "t+1", "t+7"})
    EXPECT_NE(shown.out.find(word), std::string::npos) << word << " not in: " << shown.out;
  const Json one = fovea({"evaluate", path("run"), "--json"}).json();
  EXPECT_EQ(one["main"]["metric"], "mae");
  EXPECT_NEAR(one["baselines"]["seasonal naive"]["mae"].get<double>(), 7, 1e-3);
  EXPECT_LT(one["baselines"]["linear regression"]["mae"].get<double>(), 1);
  ASSERT_EQ(one["by_step"].size(), 7u);
  double sum = 0;
  for (const Json& step : one["by_step"]) sum += step["mae"].get<double>() / 7;
  EXPECT_NEAR(sum, one["metrics"]["mae"].get<double>(), 1e-6);
  EXPECT_NEAR(one["by_step"][6]["mae of seasonal naive"].get<double>(), 7, 1e-3);
  EXPECT_LE(one["main"]["low"].get<double>(), one["main"]["value"].get<double>());

  ASSERT_EQ(train(data, {"--epochs", "1"}).status, 0);
  const Json two = fovea({"evaluate", path("run"), "--json"}).json();
  EXPECT_EQ(two["main"]["metric"], "mae_standardised");  // load and height have units of their own
  EXPECT_EQ(two["by_series"][1]["series"], "height");
  EXPECT_LT(two["by_series"][1]["mae"].get<double>(), 1);
  EXPECT_TRUE(two["by_step"][0].contains("mae height"));

  // Nothing of the target's own past is known: the mean is what is left.
  ASSERT_EQ(train(data, {"--columns", "target=load,input=height", "--epochs", "1"}).status, 0);
  EXPECT_TRUE(fovea({"evaluate", path("run"), "--json"}).json()["baselines"].contains("mean"));
}

/// Shops whose weeks look alike but for their size, which only the static column tells early.
TEST_F(Forecast, AStaticColumnIsKnownOfEachSeries) {
  std::string rows = "shop,date,region,y\n";
  for (const char* shop : {"a", "b", "c", "d"})
    for (int day = 0; day < 120; ++day)
      rows += concat(shop, ",", date(day), ",", shop[0] < 'c' ? "north" : "south", ",",
                     (shop[0] < 'c' ? 10 : 30) * (1 + day % 7), "\n");
  const Outcome trained =
      train(file("shops.csv", rows),
            {"--columns", "series=shop,time=date,target=y,static=region", "--epochs", "3"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_EQ(fovea({"evaluate", path("run"), "--quiet"}).status, 0);
  const Outcome predicted = fovea({"predict", path("run"), "--input", path("shops.csv"), "--json"});
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  EXPECT_EQ(predicted.json().size(), 4u) << "one forecast of each shop";
  const Outcome without =
      fovea({"predict", path("run"), "--input", file("bare.csv", "shop,date,y\na,2024-01-01,3\n")});
  EXPECT_EQ(without.status, 1);
  EXPECT_NE(without.err.find("region"), std::string::npos) << without.err;
}

TEST_F(Forecast, MistakesAreNamed) {
  const std::string data = file("sales.csv", sales(120));
  const auto refused = [&](std::vector<std::string> more, const std::vector<std::string>& words) {
    const Outcome outcome = train(data, std::move(more));
    EXPECT_EQ(outcome.status, 1) << outcome.out;
    for (const std::string& word : words)
      EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " not in: " << outcome.err;
  };
  refused({"--columns", "target=y,known=promo"}, {"promo", "promotion"});
  refused({"--columns", "target=y,static=promotion"}, {"series="});
  refused({"--set", "model.name=linear", "--set", "model.quantiles=0.9,0.1"},
          {"model.quantiles", "ascend"});
  refused({"--columns", "target=y,known=promotion", "--set", "model.name=seq2seq"},
          {"linear", "patches"});
  refused({"--set", "data.train_steps=5000"}, {"5,000", "120"});
}

}  // namespace
}  // namespace fovea::forecast_test
