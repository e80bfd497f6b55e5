#include "fovea/serving/metrics.h"

#include <gtest/gtest.h>

#include <thread>

namespace fovea::serving::metrics_test {
namespace {

bool holds(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Metrics, CountsRequestsByRouteAndStatus) {
  Metrics metrics;
  metrics.request_done("/v1/predict", 200, 0.002);
  metrics.request_done("/v1/predict", 200, 0.2);
  metrics.request_done("/v1/predict", 429, 0.0001);
  const std::string text = metrics.text({});
  EXPECT_TRUE(holds(text, R"(fovea_requests_total{route="/v1/predict",status="200"} 2)")) << text;
  EXPECT_TRUE(holds(text, R"(fovea_requests_total{route="/v1/predict",status="429"} 1)"));
  EXPECT_TRUE(holds(text, R"(fovea_request_seconds_bucket{route="/v1/predict",le="0.001"} 1)"));
  EXPECT_TRUE(holds(text, R"(fovea_request_seconds_bucket{route="/v1/predict",le="0.0025"} 2)"));
  EXPECT_TRUE(holds(text, R"(fovea_request_seconds_bucket{route="/v1/predict",le="+Inf"} 3)"));
  EXPECT_TRUE(holds(text, R"(fovea_request_seconds_count{route="/v1/predict"} 3)"));
}

TEST(Metrics, ABoundBelongsToItsBucket) {
  Histogram histogram({1, 2});
  for (const double value : {1.0, 2.0, 2.0, 3.0}) histogram.observe(value);
  EXPECT_EQ(histogram.text("h", ""),
            "h_bucket{le=\"1\"} 1\nh_bucket{le=\"2\"} 3\nh_bucket{le=\"+Inf\"} 4\nh_sum 8\n"
            "h_count 4\n");
}

TEST(Metrics, GaugesStandTogetherUnderOneHead) {
  Metrics metrics;
  metrics.batch_done("dates", 7);
  const std::vector<Gauge> gauges{{"queue", "What waits.", label("model", "a"), 3},
                                  {"queue", "What waits.", label("model", "b"), 0},
                                  {"refused_total", "Refused.", "", 2, "counter"}};
  const std::string text = metrics.text(gauges);
  EXPECT_NE(text.find("# HELP queue What waits.\n# TYPE queue gauge\nqueue{model=\"a\"} 3\n"
                      "queue{model=\"b\"} 0\n# HELP refused_total Refused.\n"
                      "# TYPE refused_total counter\nrefused_total 2\n"),
            std::string::npos)
      << text;
  EXPECT_TRUE(holds(text, R"(fovea_batch_inputs_bucket{model="dates",le="4"} 0)"));
  EXPECT_TRUE(holds(text, R"(fovea_batch_inputs_bucket{model="dates",le="8"} 1)"));
}

TEST(Metrics, LabelsAreEscaped) {
  EXPECT_EQ(label("model", "a\"b\\c\nd"), "model=\"a\\\"b\\\\c\\nd\"");
}

TEST(Metrics, CountsFromManyThreads) {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) metrics.request_done("/", 200, 0.001);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(holds(metrics.text({}), R"(fovea_requests_total{route="/",status="200"} 4000)"));
}

TEST(Metrics, MemoryIsKnown) {
  EXPECT_GT(resident_bytes(), 1e6);
}

}  // namespace
}  // namespace fovea::serving::metrics_test
