#include "fovea/data/speech/synthetic.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fovea/base/error.h"
#include "fovea/data/dice.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace {

struct Note {
  const char* name;
  double hertz;
};
constexpr Note kNotes[] = {{"do", 523.25},  {"re", 587.33}, {"mi", 659.26}, {"fa", 698.46},
                           {"sol", 783.99}, {"la", 880.0},  {"ti", 987.77}};

constexpr double kFade = 0.01;  // seconds in which a note comes and goes

/// What makes one note differ from another of the same name.
struct Played {
  size_t note = 0;
  double silence = 0, seconds = 0;  // before it, and its own
  double amplitude = 0, tuning = 1;
  double overtones[2] = {};  // of twice and three times the pitch
};

struct Melody {
  std::string transcript;
  std::vector<Played> notes;
  Random noise;
};

double between(const Random& random, uint64_t counter, double low, double high) {
  return low + (high - low) * random.uniform(counter);
}

Melody compose(const SyntheticSpeechOptions& options, const Random& random) {
  Dice dice(random.split("notes"));
  Melody melody;
  melody.noise = random.split("noise");
  const size_t count =
      size_t(options.shortest) + dice.below(size_t(options.longest - options.shortest + 1));
  for (size_t i = 0; i < count; ++i) {
    const Random own = random.split(i);
    Played played;
    played.note = dice.below(std::size(kNotes));
    played.silence = between(own, 0, 0.01, 0.06);
    played.seconds = between(own, 1, 0.08, 0.2);
    played.amplitude = between(own, 2, 0.15, 0.4);
    played.tuning = between(own, 3, 0.99, 1.01);
    played.overtones[0] = between(own, 4, 0.2, 0.6);
    played.overtones[1] = between(own, 5, 0.1, 0.4);
    melody.notes.push_back(played);
    melody.transcript += concat(i == 0 ? "" : " ", kNotes[played.note].name);
  }
  return melody;
}

/// The note at `time` seconds after its beginning.
double value_at(const Played& played, double time) {
  const double fade = std::min({1.0, time / kFade, (played.seconds - time) / kFade});
  const double angle = 2 * std::numbers::pi * kNotes[played.note].hertz * played.tuning * time;
  return played.amplitude * std::max(0.0, fade) *
         (std::sin(angle) + played.overtones[0] * std::sin(2 * angle) +
          played.overtones[1] * std::sin(3 * angle)) /
         2;
}

Utterance play(const Melody& melody, const SyntheticSpeechOptions& options, int64_t rate) {
  Utterance drawn;
  drawn.transcript = melody.transcript;
  drawn.drawn.rate = rate;
  std::vector<double> values;
  const auto samples_of = [&](double seconds) { return size_t(std::lround(seconds * rate)); };
  for (const Played& played : melody.notes) {
    values.resize(values.size() + samples_of(played.silence), 0.0);
    const size_t begin = values.size(), count = samples_of(played.seconds);
    for (size_t k = 0; k < count; ++k) values.push_back(value_at(played, double(k) / double(rate)));
    drawn.boundaries.emplace_back(double(begin) / double(rate),
                                  double(values.size()) / double(rate));
  }
  values.resize(values.size() + samples_of(melody.notes[0].silence), 0.0);
  for (size_t k = 0; k < values.size(); ++k)
    drawn.drawn.samples.push_back(
        sample_of(values[k] + options.noise * melody.noise.normal(uint64_t(k))));
  return drawn;
}

}  // namespace

void SyntheticSpeechOptions::describe(OptionList& list) {
  describe_rows(list, "melodies");
  list.add("shortest", shortest, "built-in data: fewest notes of a melody").at_least(1);
  list.add("longest", longest, "built-in data: most notes of a melody").within(1, 100);
  list.add("noise", noise, "built-in data: deviation of the noise; notes are 0.15 to 0.4 loud")
      .within(0, 1);
  describe_seed(list, "melodies");
}

SplitRows<Utterance> draw_speech(const SyntheticSpeechOptions& options, int64_t rate) {
  options.check_rows("melodies");
  require(options.shortest >= 1 && options.shortest <= options.longest && options.longest <= 100,
          ErrorKind::InvalidArgument, "melodies of data.shortest=", options.shortest,
          " to data.longest=", options.longest, " notes cannot be drawn; 1 to 100 can");
  const auto melodies = draw_different(
      options, "tones", concat("melodies of at most ", options.longest, " notes"),
      [&](const Random& random) { return compose(options, random); },
      [](const Melody& melody) { return std::vector<std::string>{melody.transcript}; });
  SplitRows<Utterance> draw;
  for (int split = 0; split < kSplitCount; ++split) {
    std::vector<Utterance>& rows = draw[split].keep();
    rows.resize(melodies[split].size());
    run_parallel(int64_t(melodies[split].size()), [&](int64_t row) {
      rows[size_t(row)] = play(melodies[split][size_t(row)], options, rate);
    });
  }
  Json decided = options_json(options);
  decided["sample_rate"] = rate;
  draw.hash = hash_of_built_in("speech", decided);
  draw.notes.push_back(concat("built-in synthetic melodies, seed ", options.seed, ": ",
                              options.counted("melodies")));
  return draw;
}

}  // namespace fovea
