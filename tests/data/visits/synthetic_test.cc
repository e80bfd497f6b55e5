#include "fovea/data/visits/synthetic.h"

#include <algorithm>
#include <cmath>

#include "tests/data/testing.h"

namespace fovea::visits::synthetic_test {
namespace {

double effects_of(const PatientRecord& patient, const PlantedCodes& planted, bool recent) {
  const auto visits = int64_t(patient.visits.size());
  double sum = 0;
  for (int64_t i = 0; i < visits; ++i) {
    if ((visits - i <= planted.recent) != recent) continue;
    for (const std::string& code : patient.visits[size_t(i)].codes) sum += planted.effect_of(code);
  }
  return sum;
}

/// How the outcome goes along with the effects, over the patients.
double correlation(const PatientSplits& draw, bool recent) {
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0, n = 0;
  for (const PatientRecord& patient : draw.train) {
    const double effect = effects_of(patient, draw.planted, recent);
    const double outcome = patient.label == "yes";
    x += effect, y += outcome, xx += effect * effect, yy += outcome * outcome,
        xy += effect * outcome;
    ++n;
  }
  return (xy / n - x / n * y / n) / std::sqrt((xx / n - x / n * x / n) * (yy / n - y / n * y / n));
}

TEST(SyntheticVisits, TheSeedAloneDecides) {
  SyntheticVisitsOptions options;
  options.rows = 20;
  const PatientSplits one = draw_visits(options), same = draw_visits(options);
  options.rows = 40;
  const PatientSplits more = draw_visits(options);
  options.seed = 2;
  const PatientSplits other = draw_visits(options);
  ASSERT_EQ(one.train.size(), 20);
  bool differs = false;
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(one.train[i].label, same.train[i].label);
    EXPECT_EQ(one.train[i].visits[0].codes, more.train[i].visits[0].codes) << "however many";
    differs = differs || one.train[i].visits[0].codes != other.train[i].visits[0].codes;
  }
  EXPECT_TRUE(differs);
}

TEST(SyntheticVisits, OnlyRecentCausesDecide) {
  const PatientSplits draw = draw_visits({});
  EXPECT_GT(correlation(draw, true), 0.5);
  EXPECT_LT(std::abs(correlation(draw, false)), 0.06);
  const auto yes =
      std::count_if(draw.train.begin(), draw.train.end(),
                    [](const PatientRecord& patient) { return patient.label == "yes"; });
  EXPECT_GT(yes, 1400);
  EXPECT_LT(yes, 2600);
}

TEST(SyntheticVisits, RecordsAreAsAReaderWouldGiveThem) {
  const PatientSplits draw = draw_visits({});
  for (const PatientRecord& patient : draw.test) {
    ASSERT_FALSE(patient.visits.empty());
    for (size_t i = 0; i < patient.visits.size(); ++i) {
      const auto& codes = patient.visits[i].codes;
      ASSERT_FALSE(codes.empty());
      EXPECT_EQ(std::adjacent_find(codes.begin(), codes.end()), codes.end()) << "none twice";
      EXPECT_TRUE(i == 0 || patient.visits[i - 1].time < patient.visits[i].time);
    }
  }
  EXPECT_EQ(draw.planted.effect_of("smoking"), 1);
  EXPECT_EQ(draw.planted.effect_of("statin"), -1);
  EXPECT_EQ(draw.planted.effect_of("D_101"), 0);
}

TEST(SyntheticVisits, RefusesWhatCannotBeDrawn) {
  SyntheticVisitsOptions options;
  options.causes = 99;
  expect_error(ErrorKind::InvalidArgument, "99 causes", [&] { draw_visits(options); });
  options = {};
  options.rows = -1;
  expect_error(ErrorKind::InvalidArgument, "patients", [&] { draw_visits(options); });
}

}  // namespace
}  // namespace fovea::visits::synthetic_test
