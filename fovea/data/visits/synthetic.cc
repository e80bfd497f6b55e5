#include "fovea/data/visits/synthetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "fovea/data/dice.h"

namespace fovea {

namespace {

constexpr std::array kCauses = {"hypertension", "smoking", "atrial_fibrillation", "obesity",
                                "anaemia",      "stress",  "renal_disease",       "infarction"};
constexpr std::array kProtections = {"statin",       "exercise", "vaccination", "diet_advice",
                                     "beta_blocker", "rest",     "checkup",     "rehabilitation"};
constexpr double kOften = 0.2;         // how likely a planted code is in a visit
constexpr size_t kLongestPause = 120;  // days between two visits

/// Visits that count, on average over patients with 1 … `visits` of them.
double mean_recent(const SyntheticVisitsOptions& options) {
  double sum = 0;
  for (int64_t visits = 1; visits <= options.visits; ++visits)
    sum += double(std::min(visits, options.recent));
  return sum / double(options.visits);
}

std::string ordinary(size_t number) {
  return concat("D_", 100 + number);
}

Visit draw_visit(const SyntheticVisitsOptions& options, const PlantedCodes& planted, double time,
                 Dice& dice) {
  Visit visit{{}, time};
  const size_t count = 1 + dice.below(size_t(options.codes_each));
  for (size_t i = 0; i < count; ++i)
    visit.codes.push_back(ordinary(dice.below(size_t(options.codes))));
  for (const auto* codes : {&planted.raising, &planted.lowering})
    for (const std::string& code : *codes)
      if (dice.chance(kOften)) visit.codes.push_back(code);
  std::sort(visit.codes.begin(), visit.codes.end());
  visit.codes.erase(std::unique(visit.codes.begin(), visit.codes.end()), visit.codes.end());
  return visit;
}

/// What the first `visits` visits of a patient lead to.
VisitLabel draw_answer(const SyntheticVisitsOptions& options, const PlantedCodes& planted,
                       std::span<const Visit> visits, Dice& dice) {
  const size_t counting = std::min(visits.size(), size_t(options.recent));
  const auto chance_of = [&](double effects, const std::string& label) {
    for (const Visit& visit : visits.last(counting))
      for (const std::string& code : visit.codes) effects += planted.effect_of(code, label);
    return 1 / (1 + std::exp(-options.strength * effects));
  };
  if (!planted.several) {
    const double surplus = double(planted.raising.size()) - double(planted.lowering.size());
    const double b = -kOften * mean_recent(options) * surplus;  // over strength
    return {dice.chance(chance_of(b, "")) ? "yes" : "no"};
  }
  std::vector<std::string> labels;
  for (const std::string& cause : planted.raising)
    if (std::string label = label_of_cause(cause); dice.chance(chance_of(-0.5, label)))
      labels.push_back(std::move(label));
  return list_of_labels(std::move(labels));
}

PatientRecord draw_patient(const SyntheticVisitsOptions& options, const PlantedCodes& planted,
                           bool every, std::string name, const Random& random) {
  Dice dice(random);
  PatientRecord patient{std::move(name), {}, ""};
  const size_t visits = 1 + dice.below(size_t(options.visits));
  double time = 0;
  for (size_t i = 0; i < visits; ++i) {
    patient.visits.push_back(draw_visit(options, planted, time, dice));
    time += double(1 + dice.below(kLongestPause));
  }
  const std::span<const Visit> all(patient.visits);
  patient.set_answer(draw_answer(options, planted, all, dice));
  if (!every) return patient;
  for (size_t i = 0; i + 1 < visits; ++i)
    patient.visits[i].answer = draw_answer(options, planted, all.first(i + 1), dice);
  patient.visits.back().answer = patient.answer();
  return patient;
}

}  // namespace

void SyntheticVisitsOptions::describe(OptionList& list) {
  describe_rows(list, "patients");
  list.add("codes", codes, "built-in data: ordinary codes, which mean nothing")
      .within(1, 1'000'000);
  list.add("causes", causes, "built-in data: codes that raise the chance of the outcome")
      .at_least(1)
      .at_most(double(kCauses.size()));
  list.add("protections", protections, "built-in data: codes that lower it")
      .at_least(0)
      .at_most(double(kProtections.size()));
  list.add("visits", visits, "built-in data: most visits of a patient").within(1, 10000);
  list.add("codes_each", codes_each, "built-in data: most ordinary codes of a visit")
      .within(1, 10000);
  list.add("recent", recent, "built-in data: only so many last visits decide").at_least(1);
  list.add("strength", strength, "built-in data: what one cause adds to the log odds").above(0);
  describe_seed(list, "patients");
}

int PlantedCodes::effect_of(const std::string& code) const {
  const auto holds = [&](const std::vector<std::string>& codes) {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
  };
  return int(holds(raising)) - int(holds(lowering));
}

int PlantedCodes::effect_of(const std::string& code, const std::string& outcome) const {
  const int effect = effect_of(code);
  return effect > 0 && several && label_of_cause(code) != outcome ? 0 : effect;
}

std::string label_of_cause(const std::string& cause) {
  return cause + "_effects";
}

PatientSplits draw_visits(const SyntheticVisitsOptions& options, const SyntheticAnswers& answers) {
  options.check_rows("patients");
  require(options.codes >= 1 && options.visits >= 1 && options.codes_each >= 1 &&
              options.recent >= 1 && options.causes >= 1 && options.protections >= 0 &&
              options.causes <= int64_t(kCauses.size()) &&
              options.protections <= int64_t(kProtections.size()),
          ErrorKind::InvalidArgument, "patients with ", options.causes, " causes and ",
          options.protections, " protections in ", options.visits, " visits cannot be drawn");
  require(!answers.several || options.causes > 1, ErrorKind::InvalidArgument,
          "several labels need several causes; data.causes is ", options.causes);
  PatientSplits draw;
  draw.planted.raising.assign(kCauses.begin(), kCauses.begin() + options.causes);
  draw.planted.lowering.assign(kProtections.begin(), kProtections.begin() + options.protections);
  draw.planted.recent = options.recent;
  draw.planted.several = answers.several;
  const Random random = Random(uint64_t(options.seed)).split("causes");
  const auto draw_split = [&](const char* split, int64_t rows) {
    std::vector<PatientRecord> patients;
    for (int64_t row = 0; row < rows; ++row)
      patients.push_back(draw_patient(options, draw.planted, answers.every,
                                      concat(split, "-", row + 1),
                                      random.split(split).split(uint64_t(row))));
    return patients;
  };
  draw.train = draw_split("train", options.rows);
  draw.validation = draw_split("val", options.validation_rows);
  draw.test = draw_split("test", options.test_rows);
  Json drawn = options_json(options);
  if (answers.several) drawn["several"] = true;
  if (answers.every) drawn["every"] = true;
  draw.hash = hash_of_built_in("visits", drawn);
  draw.notes = {options.counted("patients")};
  return draw;
}

}  // namespace fovea
