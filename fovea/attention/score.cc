#include "fovea/attention/score.h"

#include "fovea/base/error.h"

namespace fovea {

// One for each file of scores/.
using ScoreFactory = ScorePointer(const ScoreOptions&, const Random&);
ScoreFactory make_content, make_additive, make_location_base, make_general, make_dot,
    make_scaled_dot, make_location_aware;

namespace {

int64_t none(const ScoreOptions&) {
  return 0;
}

const std::vector<ScoreEntry>& rows() {
  static const std::vector<ScoreEntry> table = {
      {"content",
       "beta cos(s, h), beta = softplus(learned)",
       "Graves et al. 2014",
       "1",
       [](const ScoreOptions&) -> int64_t { return 1; },
       make_content,
       {.needs_equal_sizes = true}},
      {"additive",
       "v . tanh(W s + U h)",
       "Bahdanau et al. 2015; Luong et al. 2015 call it concat",
       "m (d_q + d_k) + m",
       [](const ScoreOptions& o) {
         return o.hidden_size * (o.query_size + o.key_size + 1 + (o.bias ? 1 : 0));
       },
       make_additive,
       {.is_fused = true}},
      {"location-base",
       "(W s)_j, the key's place only",
       "Luong et al. 2015",
       "S d_q",
       [](const ScoreOptions& o) { return o.maximum_length * o.query_size; },
       make_location_base,
       {.depends_on_order = true}},
      {"general",
       "s . (W h)",
       "Luong et al. 2015",
       "d_q d_k",
       [](const ScoreOptions& o) { return o.query_size * o.key_size; },
       make_general,
       {.is_fused = true}},
      {"dot",
       "s . h",
       "Luong et al. 2015",
       "0",
       none,
       make_dot,
       {.needs_equal_sizes = true, .is_fused = true}},
      {"scaled-dot",
       "s . h / sqrt(n)",
       "Vaswani et al. 2017",
       "0",
       none,
       make_scaled_dot,
       {.needs_equal_sizes = true, .is_fused = true}},
      {"location-aware",
       "v . tanh(W s + U h + L (F * previous weights) + b)",
       "Chorowski et al. 2015",
       "m (d_q + d_k + f + 2) + f r",
       [](const ScoreOptions& o) {
         return o.hidden_size * (o.query_size + o.key_size + o.filters + 2) +
                o.filters * o.kernel_width;
       },
       make_location_aware,
       {.depends_on_order = true, .reads_previous_weights = true}},
  };
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
  return rows();
}

std::vector<std::string> score_names() {
  std::vector<std::string> names;
  for (const auto& entry : rows()) names.push_back(entry.name);
  return names;
}

const ScoreEntry& find_score(const std::string& name) {
  for (const auto& entry : rows())
    if (entry.name == name) return entry;
  const auto names = score_names();
  fail(ErrorKind::NotFound, "there is no score function '", name, "'", suggestion(name, names),
       "; known: ", join(names));
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
