#include "fovea/kernels/graph_attention/graph_attention.h"

#include <string>

#include "tests/kernels/problem.h"

namespace fovea::kernels::graph_attention_test {
namespace {

struct Case {
  GraphScore score;
  int64_t heads, width, targets, sources;
  bool keep = false, own_values = false;  // dropout of weights; values that are not the states
  float scale = 1;                        // of everything that scores are made of

  std::string name() const {
    const char* names[] = {"gat", "gatv2", "uniform"};
    return std::string(names[int(score)]) + " " + std::to_string(heads) + " x " +
           std::to_string(width) + ", " + std::to_string(targets) + " of " +
           std::to_string(sources) + (keep ? ", dropout" : "") + (own_values ? ", values" : "");
  }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const GraphScore score : {GraphScore::Gat, GraphScore::GatV2, GraphScore::Uniform}) {
    for (const int64_t heads : {1, 3, 4, 8, 9, 16})
      for (const int64_t width : {1, 3, 4, 7, 8, 16, 19, 33})
        all.push_back({score, heads, width, 5, 9, width % 2 == 0, heads % 2 == 0});
    all.push_back({score, 8, 8, 300, 400, true, true});
    all.push_back({score, 8, 8, 0, 0});
    all.push_back({score, 2, 8, 1, 1});
    all.push_back({score, 2, 8, 20, 20, false, false, 100});
  }
  return all;
}

/// Edges by target and by source; a target may have none, and beyond the targets of this problem
/// there are edges that are not its own.
struct Edges {
  std::vector<int64_t> begin{0}, source, target, out_begin, out_edge;
  int64_t count = 0;  // of this problem

  Edges(const Case& c, Numbers& numbers) {
    const int64_t more = c.sources > c.targets ? 2 : 0;
    for (int64_t i = 0; i < c.targets + more; ++i) {
      const int64_t degree = c.sources == 1 ? 1 : i % 4 == 3 ? 0 : 1 + numbers.below(5);
      for (int64_t k = 0; k < degree; ++k) {
        source.push_back(numbers.below(c.sources));
        target.push_back(i);
      }
      begin.push_back(int64_t(source.size()));
    }
    count = begin[size_t(c.targets)];
    out_begin.assign(size_t(c.sources) + 1, 0);
    for (int64_t j = 0; j < c.sources; ++j) {
      for (size_t e = 0; e < source.size(); ++e)
        if (source[e] == j) out_edge.push_back(int64_t(e));
      out_begin[size_t(j) + 1] = int64_t(out_edge.size());
    }
  }
};

/// Everything that the outputs depend on, and what a loss weighs them with.
template <class T>
struct Problem {
  std::vector<T> states, values, queries, to_target, to_source;
  std::vector<float> keep, out_weights;

  std::vector<std::vector<T>*> leaves() {
    return {&states, &values, &queries, &to_target, &to_source};
  }
};

Problem<float> problem_of(const Case& c, const Edges& edges, Numbers& numbers) {
  const int64_t row = c.heads * c.width;
  Problem<float> p{numbers.floats(c.sources * row),
                   numbers.floats(c.sources * row),
                   numbers.floats(c.targets * row),
                   numbers.floats(row),
                   numbers.floats(row),
                   {},
                   numbers.floats(c.targets * row)};
  for (float& value : p.to_target) value *= c.scale;
  for (float& value : p.to_source) value *= c.scale;
  if (c.keep)
    for (int64_t i = 0; i < edges.count * c.heads; ++i)
      p.keep.push_back(numbers.below(3) == 0 ? 0.0f : 1.5f);
  return p;
}

struct Results {
  std::vector<double> weights, out;
};

double leaky(double x) {
  return x > 0 ? x : double(0.2f) * x;
}

/// The formulas of the header, one number after the other.
Results reference(const Case& c, const Edges& edges, const Problem<double>& p) {
  const size_t heads = size_t(c.heads), width = size_t(c.width), row = heads * width;
  Results r{std::vector<double>(size_t(edges.count) * heads),
            std::vector<double>(size_t(c.targets) * row)};
  const std::vector<double>& values = c.own_values ? p.values : p.states;
  for (size_t i = 0; i < size_t(c.targets); ++i)
    for (size_t h = 0; h < heads; ++h) {
      const size_t begin = size_t(edges.begin[i]), end = size_t(edges.begin[i + 1]);
      std::vector<double> scores;
      for (size_t e = begin; e < end; ++e) {
        double own = 0, other = 0, sum = 0;
        for (size_t d = h * width; d < (h + 1) * width; ++d) {
          const double z = p.states[size_t(edges.source[e]) * row + d];
          own += p.to_target[d] * p.states[i * row + d];
          other += p.to_source[d] * z;
          sum += p.to_target[d] * leaky(p.queries[i * row + d] + z);
        }
        scores.push_back(c.score == GraphScore::Gat     ? leaky(own + other)
                         : c.score == GraphScore::GatV2 ? sum
                                                        : 0);
      }
      double most = -INFINITY, total = 0;
      for (const double s : scores) most = std::max(most, s);
      for (const double s : scores) total += std::exp(s - most);
      for (size_t e = begin; e < end; ++e) {
        const double w = std::exp(scores[e - begin] - most) / total;
        r.weights[e * heads + h] = w;
        const double kept = p.keep.empty() ? w : w * double(p.keep[e * heads + h]);
        for (size_t d = h * width; d < (h + 1) * width; ++d)
          r.out[i * row + d] += kept * values[size_t(edges.source[e]) * row + d];
      }
    }
  return r;
}

double loss(const Case& c, const Edges& edges, const Problem<double>& p) {
  const Results r = reference(c, edges, p);
  double total = 0;
  for (size_t i = 0; i < r.out.size(); ++i) total += r.out[i] * double(p.out_weights[i]);
  return total;
}

/// Weights, outputs, and the gradients of all leaves, by the kernel.
struct Computed {
  std::vector<float> weights, out;
  Problem<float> gradients;
};

Computed computed(const Case& c, const Edges& edges, const Problem<float>& p,
                  bool last_part_first = false) {
  GraphAttention g{c.score,
                   c.heads,
                   c.width,
                   c.targets,
                   c.sources,
                   edges.begin.data(),
                   edges.source.data(),
                   edges.target.data(),
                   edges.out_begin.data(),
                   edges.out_edge.data()};
  const int64_t row = g.row(), heads = c.heads;
  const auto slices = [&](int64_t count, auto work) {
    for (int64_t i = 0; i < count; ++i) work(last_part_first ? count - 1 - i : i);
  };
  std::vector<float> target_scores = room(c.targets * heads),
                     source_scores = room(c.sources * heads), weights = room(edges.count * heads),
                     out = room(c.targets * row);
  const float* keep = c.keep ? p.keep.data() : nullptr;
  const float* values = c.own_values ? p.values.data() : p.states.data();
  const GraphForward forward{
      p.states.data(),    values,    p.queries.data(),     p.to_target.data(),
      p.to_source.data(), keep,      target_scores.data(), source_scores.data(),
      weights.data(),     out.data()};
  if (c.score == GraphScore::Gat)
    slices(g.source_slices(), [&](int64_t slice) { graph_attention_scores(g, slice, forward); });
  slices(g.target_slices(), [&](int64_t slice) { graph_attention_forward(g, slice, forward); });
  expect_canary({&target_scores, &source_scores, &weights, &out});

  std::vector<float> edge_gradients = room(edges.count * heads),
                     score_gradients = room(c.targets * heads), queries = room(c.targets * row),
                     states = room(c.sources * row), own_values = room(c.sources * row),
                     target_sums = room(g.target_slices() * row),
                     source_sums = room(g.source_slices() * 2 * row);
  const GraphBackward backward{p.states.data(),
                               values,
                               p.queries.data(),
                               p.to_target.data(),
                               p.to_source.data(),
                               keep,
                               target_scores.data(),
                               source_scores.data(),
                               weights.data(),
                               p.out_weights.data(),
                               edge_gradients.data(),
                               score_gradients.data(),
                               queries.data(),
                               states.data(),
                               c.own_values ? own_values.data() : nullptr,
                               target_sums.data(),
                               source_sums.data()};
  slices(g.target_slices(),
         [&](int64_t slice) { graph_attention_backward_targets(g, slice, backward); });
  slices(g.source_slices(),
         [&](int64_t slice) { graph_attention_backward_sources(g, slice, backward); });
  expect_canary({&edge_gradients, &score_gradients, &queries, &states, &own_values, &target_sums,
                 &source_sums});
  Computed result{weights, out, {}};
  result.gradients.states = states;
  if (c.own_values) result.gradients.values = own_values;
  if (c.score == GraphScore::GatV2) result.gradients.queries = queries;
  const auto sum = [&](const std::vector<float>& sums, int64_t rows, int64_t stride,
                       int64_t first) {
    std::vector<float> total(size_t(row), 0.0f);
    for (int64_t slice = 0; slice < rows; ++slice)
      for (int64_t i = 0; i < row; ++i)
        total[size_t(i)] += sums[size_t(slice * stride + first + i)];
    return total;
  };
  if (c.score == GraphScore::GatV2)
    result.gradients.to_target = sum(target_sums, g.target_slices(), row, 0);
  if (c.score == GraphScore::Gat) {
    result.gradients.to_target = sum(source_sums, g.source_slices(), 2 * row, 0);
    result.gradients.to_source = sum(source_sums, g.source_slices(), 2 * row, row);
  }
  return result;
}

Problem<double> in_double(const Problem<float>& p) {
  Problem<double> all;
  all.keep = p.keep, all.out_weights = p.out_weights;
  copy_leaves(p, all);
  return all;
}

TEST(GraphAttention, EqualsItsFormulasOnEveryInstructionSet) {
  for (const Case& c : cases()) {
    Numbers numbers(uint32_t(c.heads * 31 + c.width));
    const Edges edges(c, numbers);
    const Problem<float> p = problem_of(c, edges, numbers);
    const Results expected = reference(c, edges, in_double(p));
    for (const InstructionSet set : available_sets()) {
      SCOPED_TRACE(c.name() + ", " + name_of(set));
      const UseSet use(set);
      const Computed found = computed(c, edges, p);
      const double tolerance = c.scale > 1 ? 1e-3 : 3e-6;  // large scores lose digits before exp
      EXPECT_LT(worst_difference(found.weights, expected.weights), tolerance);
      EXPECT_LT(worst_difference(found.out, expected.out), tolerance);
    }
  }
}

TEST(GraphAttention, GradientsEqualFiniteDifferences) {
  for (const Case& c : cases()) {
    if (c.scale > 1) continue;
    Numbers numbers(uint32_t(c.heads * 31 + c.width));
    const Edges edges(c, numbers);
    const Problem<float> p = problem_of(c, edges, numbers);
    for (int direction = 0; direction < 3; ++direction) {
      // Along one random direction of all leaves at once.
      Problem<double> above = in_double(p), below = in_double(p);
      Problem<float> along;
      constexpr double kStep = 1e-6;
      for (size_t leaf = 0; leaf < above.leaves().size(); ++leaf)
        for (size_t i = 0; i < above.leaves()[leaf]->size(); ++i) {
          const float d = numbers.next();
          along.leaves()[leaf]->push_back(d);
          (*above.leaves()[leaf])[i] += kStep * double(d);
          (*below.leaves()[leaf])[i] -= kStep * double(d);
        }
      const double slope = (loss(c, edges, above) - loss(c, edges, below)) / (2 * kStep);
      for (const InstructionSet set : available_sets()) {
        SCOPED_TRACE(c.name() + ", " + name_of(set));
        const UseSet use(set);
        Computed found = computed(c, edges, p);
        double expected = 0, size = 1;
        for (size_t leaf = 0; leaf < along.leaves().size(); ++leaf) {
          const auto& gradient = *found.gradients.leaves()[leaf];
          for (size_t i = 0; i < gradient.size(); ++i) {
            const double term = double(gradient[i]) * double((*along.leaves()[leaf])[i]);
            expected += term, size += std::abs(term);
          }
        }
        EXPECT_LT(std::abs(slope - expected) / size, 2e-6);
      }
    }
  }
}

TEST(GraphAttention, SlicesMayRunInAnyOrder) {
  const Case c{GraphScore::Gat, 8, 8, 300, 500, true, true};
  Numbers numbers(1);
  const Edges edges(c, numbers);
  const Problem<float> p = problem_of(c, edges, numbers);
  const Computed one = computed(c, edges, p), other = computed(c, edges, p, true);
  EXPECT_EQ(one.out, other.out);
  expect_equal_leaves(one.gradients, other.gradients);
}

TEST(GraphAttention, WeightsOfATargetSumToOneAndANaNShows) {
  const Case c{GraphScore::Gat, 8, 8, 40, 60};
  Numbers numbers(2);
  const Edges edges(c, numbers);
  Problem<float> p = problem_of(c, edges, numbers);
  const Computed found = computed(c, edges, p);
  for (int64_t i = 0; i < c.targets; ++i)
    for (int64_t h = 0; h < c.heads; ++h) {
      double sum = 0;
      for (int64_t e = edges.begin[size_t(i)]; e < edges.begin[size_t(i) + 1]; ++e)
        sum += double(found.weights[size_t(e * c.heads + h)]);
      const bool sees = edges.begin[size_t(i)] < edges.begin[size_t(i) + 1];
      EXPECT_NEAR(sum, sees ? 1 : 0, 1e-6);
      if (sees) continue;
      EXPECT_EQ(found.out[size_t(i * 64 + h * 8)], 0) << "nothing to look at";
    }
  p.states[size_t(edges.source[0]) * 64] = NAN;
  EXPECT_TRUE(std::isnan(computed(c, edges, p).out[0]));
}

}  // namespace
}  // namespace fovea::kernels::graph_attention_test
