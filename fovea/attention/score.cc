#include "fovea/attention/score.h"

#include "fovea/attention/mechanism_table.h"
#include "fovea/base/error.h"

namespace fovea {

// The table: one row for each file of scores/, which defines NAME_score().
#define FOVEA_SCORES(row)                                                             \
  row(content) row(additive) row(location_base) row(general) row(dot) row(scaled_dot) \
      row(location_aware)

#define FOVEA_DECLARE(name) ScoreEntry name##_score();
FOVEA_SCORES(FOVEA_DECLARE)
#undef FOVEA_DECLARE

namespace {

std::vector<ScoreEntry>& score_functions() {
#define FOVEA_ROW(name) name##_score(),
  static std::vector<ScoreEntry> table = {FOVEA_SCORES(FOVEA_ROW)};
#undef FOVEA_ROW
  return table;
}

}  // namespace

void ScoreOptions::describe(OptionList& list) {
  list.add("score", name, "score function; `fovea scores` lists them").choices(score_names());
  list.add("score_hidden", hidden_size, "hidden units of additive and location-aware").at_least(1);
  list.add("score_bias", bias, "additive: adds a bias inside the tanh");
  list.add("maximum_length", maximum_length, "location-base: the most keys it can score")
      .at_least(1);
  list.add("score_filters", filters, "location-aware: filters over the previous weights")
      .at_least(1);
  list.add("score_kernel_width", kernel_width, "location-aware: width of a filter, odd")
      .at_least(1);
}

const ScoreTraits& ScoreOptions::traits() const {
  return find_score(name).traits;
}

std::span<const ScoreEntry> score_table() {
  return score_functions();
}

std::vector<std::string> score_names() {
  return row_names(score_functions());
}

void register_score(ScoreEntry entry) {
  for (const ScoreEntry& known : score_functions())
    require(known.name != entry.name, ErrorKind::InvalidArgument, "there is a score function '",
            entry.name, "' already");
  score_functions().push_back(std::move(entry));
}

const ScoreEntry& find_score(const std::string& name) {
  return find_row(score_functions(), "score function", name);
}

ScorePointer make_score(const ScoreOptions& options, const Random& random) {
  const auto& entry = find_score(options.name);
  require(options.query_size > 0 && options.key_size > 0, ErrorKind::InvalidArgument, "score '",
          options.name, "' needs positive sizes, found query_size ", options.query_size,
          " and key_size ", options.key_size);
  require(!entry.traits.needs_equal_sizes || options.query_size == options.key_size,
          ErrorKind::InvalidArgument, "score '", options.name,
          "' multiplies query and key, so they must have one size; found query_size ",
          options.query_size, " and key_size ", options.key_size,
          "; 'general' and 'additive' take any");
  return entry.make(options, random);
}

}  // namespace fovea
