#include "fovea/attention/score.h"

#include "fovea/attention/scores/factories.h"
#include "fovea/core/error.h"

namespace fovea {

namespace {

int64_t none(const ScoreOptions&) {
  return 0;
}

const std::vector<ScoreEntry>& rows() {
  static const std::vector<ScoreEntry> table = {
      {"content", "beta cos(s, h), beta = softplus(learned)", "Graves et al. 2014", "1",
       [](const ScoreOptions&) -> int64_t { return 1; }, make_content, true, false},
      {"additive", "v . tanh(W s + U h)", "Bahdanau et al. 2015; Luong et al. 2015 call it concat",
       "m (d_q + d_k) + m",
       [](const ScoreOptions& o) {
         return o.hidden_size * (o.query_size + o.key_size + 1 + (o.bias ? 1 : 0));
       },
       make_additive, false, false},
      {"location-base", "(W s)_j, the key's place only", "Luong et al. 2015", "S d_q",
       [](const ScoreOptions& o) { return o.maximum_length * o.query_size; }, make_location_base,
       false, true},
      {"general", "s . (W h)", "Luong et al. 2015", "d_q d_k",
       [](const ScoreOptions& o) { return o.query_size * o.key_size; }, make_general, false, false},
      {"dot", "s . h", "Luong et al. 2015", "0", none, make_dot, true, false},
      {"scaled-dot", "s . h / sqrt(n)", "Vaswani et al. 2017", "0", none, make_scaled_dot, true,
       false},
      {"location-aware", "v . tanh(W s + U h + L (F * previous weights) + b)",
       "Chorowski et al. 2015", "m (d_q + d_k + f + 2) + f r",
       [](const ScoreOptions& o) {
         return o.hidden_size * (o.query_size + o.key_size + o.filters + 2) +
                o.filters * o.kernel_width;
       },
       make_location_aware, false, true},
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

std::shared_ptr<ScoreFunction> make_score(const ScoreOptions& options, const Random& random) {
  const auto& entry = find_score(options.name);
  require(options.query_size > 0 && options.key_size > 0, ErrorKind::InvalidArgument, "score '",
          options.name, "' needs positive sizes, found query_size ", options.query_size,
          " and key_size ", options.key_size);
  require(!entry.needs_equal_sizes || options.query_size == options.key_size,
          ErrorKind::InvalidArgument, "score '", options.name,
          "' multiplies query and key, so they must have one size; found query_size ",
          options.query_size, " and key_size ", options.key_size,
          "; 'general' and 'additive' take any");
  return entry.make(options, random);
}

}  // namespace fovea
