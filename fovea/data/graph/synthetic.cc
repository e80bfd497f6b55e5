#include "fovea/data/graph/synthetic.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/dice.h"
#include "fovea/data/source.h"
#include "fovea/tensor/random.h"

namespace fovea {

namespace {

constexpr int64_t kTopicWords = 25;   // of each community
constexpr int64_t kMannerWords = 10;  // of voices, and of echoes
constexpr int64_t kMannerEach = 2;    // words of a node that show its manner

class Town {
 public:
  Town(const SyntheticGraphOptions& options, const Random& random, bool several)
      : options_(options), random_(random) {
    for (int64_t node = 0; node < options.nodes; ++node) {
      Dice dice(random.split("nodes").split(uint64_t(node)));
      home_.push_back(node % options.communities);
      // The first round of nodes are voices: every community has one.
      is_voice_.push_back(node < options.communities || dice.chance(options.voices));
      (is_voice_.back() ? voices_of_[size_t(home_.back())] : echoes_).push_back(node);
      second_.push_back(-1);
      Dice other(random.split("second").split(uint64_t(node)));
      if (several && !is_voice_.back() && other.chance(0.5))
        second_.back() =
            (home_.back() + 1 + int64_t(other.below(size_t(options.communities - 1)))) %
            options.communities;
    }
  }

  int64_t home(int64_t node) const { return home_[size_t(node)]; }
  /// The names of its communities.
  std::vector<std::string> communities(int64_t node) const {
    std::vector<std::string> names{concat("community ", home(node) + 1)};
    if (second_[size_t(node)] >= 0)
      names.push_back(concat("community ", second_[size_t(node)] + 1));
    return distinct_labels(names);
  }
  bool is_voice(int64_t node) const { return is_voice_[size_t(node)] != 0; }

  void add_edges(int64_t node, std::vector<std::pair<int64_t, int64_t>>& edges) const {
    Dice dice(random_.split("edges").split(uint64_t(node)));
    const auto join_to = [&](const std::vector<int64_t>& others, int64_t count) {
      for (int64_t i = 0; i < count && !others.empty(); ++i) {
        const int64_t other = dice.pick(others);
        if (other != node) edges.emplace_back(other, node);
      }
    };
    join_to(voices_of_[size_t(home(node))], options_.kin);
    if (second_[size_t(node)] >= 0)
      join_to(voices_of_[size_t(second_[size_t(node)])], options_.kin);
    // Nobody is known by a voice of another community: an echo is joined to echoes alone.
    if (!is_voice(node)) join_to(echoes_, options_.strangers);
  }

  /// Columns: the words of each community, then those of voices, then those of echoes.
  std::vector<std::pair<int64_t, float>> words(int64_t node) const {
    Dice dice(random_.split("words").split(uint64_t(node)));
    std::vector<std::pair<int64_t, float>> row;
    for (int64_t i = 0; i < options_.words; ++i) {
      const int64_t topic =
          is_voice(node) ? home(node) : int64_t(dice.below(size_t(options_.communities)));
      row.emplace_back(topic * kTopicWords + int64_t(dice.below(size_t(kTopicWords))), 1.0f);
    }
    const int64_t manner = options_.communities * kTopicWords + (is_voice(node) ? 0 : kMannerWords);
    for (int64_t i = 0; i < kMannerEach; ++i)
      row.emplace_back(manner + int64_t(dice.below(size_t(kMannerWords))), 1.0f);
    return row;
  }

 private:
  const SyntheticGraphOptions& options_;
  Random random_;
  std::vector<int64_t> home_, second_;  // second: -1 for none
  std::vector<char> is_voice_;
  std::vector<std::vector<int64_t>> voices_of_ =
      std::vector<std::vector<int64_t>>(size_t(options_.communities));
  std::vector<int64_t> echoes_;
};

/// Echoes alone are asked for: a voice knows its class by itself.
std::vector<int> draw_splits(const Town& town, const SyntheticGraphOptions& options,
                             const Random& random) {
  std::vector<int> splits(size_t(options.nodes), -1);
  std::vector<int64_t> trained(size_t(options.communities), 0);
  int64_t validation = 0, test = 0;
  for (const int64_t node : random.split("split").permutation(options.nodes)) {
    if (town.is_voice(node)) continue;
    int64_t& own = trained[size_t(town.home(node))];
    int& split = splits[size_t(node)];
    if (own < options.train_each)
      split = kTrain, ++own;
    else if (validation < options.validation_nodes)
      split = kValidation, ++validation;
    else if (test < options.test_nodes)
      split = kTest, ++test;
  }
  const bool enough =
      test == options.test_nodes && std::all_of(trained.begin(), trained.end(),
                                                [&](int64_t n) { return n == options.train_each; });
  require(enough, ErrorKind::InvalidArgument, options.nodes, " nodes are too few for ",
          options.train_each, " training nodes of each of ", options.communities, " communities, ",
          options.validation_nodes, " validation and ", options.test_nodes,
          " test nodes that are no voices; raise data.nodes");
  return splits;
}

}  // namespace

void SyntheticGraphOptions::describe(OptionList& list) {
  list.add("nodes", nodes, "built-in data: number of nodes").within(10, 10'000'000);
  list.add("communities", communities, "built-in data: number of communities, the classes")
      .within(2, 100);
  list.add("voices", voices, "built-in data: share of the nodes whose words can be trusted")
      .above(0)
      .below(1);
  list.add("kin", kin, "built-in data: voices of its community that a node is joined to")
      .within(1, 1000);
  list.add("strangers", strangers,
           "built-in data: nodes of any community that it is joined to, whose words mean nothing")
      .within(0, 1000);
  list.add("words", words, "built-in data: words of a node about communities").within(1, 1000);
  list.add("train_each", train_each, "built-in data: training nodes of each community").at_least(1);
  list.add("validation_nodes", validation_nodes, "built-in data: validation nodes").at_least(1);
  list.add("test_nodes", test_nodes, "built-in data: test nodes").at_least(1);
  list.add("seed", seed, "built-in data: seed of the graph; the training seed does not change it")
      .at_least(0);
}

ReadGraph draw_graph(const SyntheticGraphOptions& options, bool several) {
  require(options.nodes >= 2 * options.communities && options.communities >= 2,
          ErrorKind::InvalidArgument, "a graph of ", options.nodes, " nodes in ",
          options.communities, " communities cannot be drawn");
  const Random random = Random(uint64_t(options.seed)).split("communities");
  const Town town(options, random, several);
  ReadGraph graph;
  if (several) graph.label_cell = LabelCell::List;
  for (int64_t topic = 0; topic < options.communities; ++topic)
    for (int64_t word = 0; word < kTopicWords; ++word)
      graph.features.columns.push_back(concat("topic", topic + 1, "-", word + 1));
  for (const char* manner : {"voice", "echo"})
    for (int64_t word = 0; word < kMannerWords; ++word)
      graph.features.columns.push_back(concat(manner, "-", word + 1));
  for (int64_t node = 0; node < options.nodes; ++node) {
    graph.names.push_back(concat("n", node + 1));
    graph.labels.push_back(join(town.communities(node), "|"));
    if (several) graph.label_lists.push_back(town.communities(node));
    graph.features.add_row(town.words(node));
    town.add_edges(node, graph.edges);
    if (town.is_voice(node)) graph.informative.push_back(graph.names.back());
  }
  graph.splits = draw_splits(town, options, random);
  Json drawn = options_json(options);
  if (several) drawn["several"] = true;
  graph.hash = hash_of_built_in("graph", drawn);
  return graph;
}

}  // namespace fovea
