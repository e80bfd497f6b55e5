#include "fovea/models/multi_pointer.h"

#include <cmath>
#include <limits>

#include "fovea/attention/normaliser.h"
#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kWordDeviation = 0.1, kMachineDeviation = 0.01;  // when fresh
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// -log(-log u) of uniform numbers.
Tensor gumbel_noise(const Tensor& like, const Random& random) {
  const Tensor uniform =
      random.uniform_tensor(like.sizes(), 0, 1, like.options().dtype(at::kDouble));
  return (-(-uniform.clamp_min(1e-300).log()).log()).to(like.dtype());
}

}  // namespace

void MultiPointerOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"mpcn"});
  list.add("embedding", embedding,
           "numbers per word, and per review; data.vectors of another size set it")
      .at_least(1);
  list.add("pointers", pointers, "pairs of reviews that are picked").within(1, 64);
  list.add("temperature", temperature, "of the pointers' gradient: below 1 sharpens").above(0);
  list.add("hard", hard, "a pointer picks one review; no: it mixes all of them");
  list.add("combination", combination,
           "what the pointers read is put side by side, added up, or goes through one more layer")
      .choices({"ffn", "concat", "sum"});
  list.add("factors", factors, "numbers per feature of the factorisation machine").at_least(1);
  list.add("dropout", dropout, "of embeddings and of what the factorisation machine gets").rate();
  ReadingOptions::describe(list);
}

struct MultiPointer::Side {
  std::string name;
  SideWords words;     // of all reviews, one after the other
  Tensor place;        // int64 [B, R W]: at which of the words K a place of the grid stands
  Tensor grid;         // [B, R, W, E]: words by review, 0 at padding
  Tensor grid_keep;    // bool [B, R, W]
  Tensor keep;         // bool [B, R]: reviews that have words
  Tensor reviews;      // [B, R, E]: gated
  Tensor pointer;      // [B, P, R]: y
  Tensor picked;       // [B, P, W, E]: the words of the review that was picked
  Tensor picked_keep;  // bool [B, P, W]
  Tensor read;         // [B, P, E]: z
};

MultiPointer::MultiPointer(MultiPointerOptions options, const RatingShape& shape,
                           int64_t longest_review)
    : RatingModel(options, shape), options_(std::move(options)), longest_review_(longest_review) {
  const auto& o = options_;
  require(longest_review >= 1, ErrorKind::InvalidArgument, "reviews of ", longest_review,
          " words cannot be read");
  words_ = register_module("words", torch::nn::Embedding(shape.words, o.embedding));
  const ProjectionOptions square{o.embedding, o.embedding};
  gate_ = register_projection(*this, "gate", square);
  content_ = register_projection(*this, "content", square);
  reviews_ = make_co_attention("review");
  of_words_ = make_co_attention("word");
  const int64_t side_by_side = o.pointers * o.embedding;
  if (o.combination == "ffn")
    combine_ = register_projection(*this, "combine", {side_by_side, o.embedding});
  const int64_t of_side = (o.combination == "concat" ? side_by_side : o.embedding) + o.embedding;
  linear_ = register_projection(*this, "linear", {2 * of_side, 1});
  factors_ = register_parameter("factors", at::zeros({2 * of_side, o.factors}));
}

MultiPointer::CoAttention MultiPointer::make_co_attention(const std::string& name) {
  const int64_t p = options_.pointers, e = options_.embedding;
  return {register_parameter(name + "_weight", at::zeros({p, e, e})),
          register_parameter(name + "_bias", at::zeros({p, 1, e})),
          register_parameter(name + "_match", at::zeros({p, e, e}))};
}

void MultiPointer::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  initialise_biases();
  initialise_normal(words_->weight, kWordDeviation, random.split("words"));
  gate_->initialise(random.split("gate"));
  content_->initialise(random.split("content"));
  for (const auto& [part, name] : {std::pair{&reviews_, "review"}, std::pair{&of_words_, "word"}}) {
    const Random own = random.split(name);
    const double deviation = std::sqrt(1.0 / double(options_.embedding));
    initialise_normal(part->weight, deviation, own.split("weight"));
    initialise_normal(part->match, deviation, own.split("match"));
    part->bias.zero_();
  }
  if (combine_) combine_->initialise(random.split("combine"));
  initialise_normal(linear_->weight, kMachineDeviation, random.split("linear"));
  linear_->bias.fill_(has_biases() ? 0 : shape().mean);
  initialise_normal(factors_, kMachineDeviation, random.split("factors"));
}

Schema MultiPointer::schema() const {
  return {{"user", at::kLong, {-1}},           {"item", at::kLong, {-1}},
          {"user_words", at::kLong, {-1, -1}}, {"user_lengths", at::kLong, {-1, -1}},
          {"item_words", at::kLong, {-1, -1}}, {"item_lengths", at::kLong, {-1, -1}},
          {"target", at::kFloat, {-1}}};
}

std::vector<LayerSummary> MultiPointer::summary() const {
  const auto& o = options_;
  const auto size = [](const CoAttention& part) {
    return part.weight.numel() + part.bias.numel() + part.match.numel();
  };
  std::vector<LayerSummary> layers;
  layers.push_back(
      {concat("words (", shape().words, ")"), {o.embedding}, count_parameters(*words_)});
  layers.push_back(
      {"gated reviews", {o.embedding}, count_parameters(*gate_) + count_parameters(*content_)});
  layers.push_back({concat("pointers to reviews (", o.pointers, ")"),
                    {o.pointers, o.embedding},
                    size(reviews_)});
  layers.push_back({"attention to words", {o.pointers, o.embedding}, size(of_words_)});
  if (combine_)
    layers.push_back({"combination (relu)", {o.embedding}, count_parameters(*combine_)});
  layers.push_back({concat("factorisation machine (", o.factors, " factors)"),
                    {1},
                    count_parameters(*linear_) + factors_.numel()});
  summarise_biases(layers);
  return layers;
}

Tensor MultiPointer::affinity(const CoAttention& part, const Tensor& left, const Tensor& right) {
  const auto layer = [&](const Tensor& x) {
    return (at::matmul(x, part.weight) + part.bias).relu();
  };
  return at::matmul(at::matmul(layer(left), part.match), layer(right).transpose(2, 3));
}

MultiPointer::Side MultiPointer::read_side(const Batch& batch, const char* name,
                                           const Random* random, Tap* tap) const {
  Side side;
  side.name = name;
  side.words = embed_side(batch, name, words_->weight, tap);
  Tensor& vectors = side.words.vectors;  // [B, K, E]
  if (random && options_.dropout > 0)
    vectors = dropout(vectors, options_.dropout, random->split("words").split(name));
  const Tensor& lengths = batch.at(side.name + "_lengths");  // [B, R]
  const int64_t b = vectors.size(0), k = vectors.size(1), e = vectors.size(2), r = lengths.size(1);
  const int64_t w = std::min(longest_review_, k);
  const Tensor within = at::arange(w, lengths.options());                   // [W]
  const Tensor begins = (lengths.cumsum(1) - lengths).unsqueeze(2);         // [B, R, 1]
  const Tensor inside = within < lengths.unsqueeze(2);                      // [B, R, W]
  side.place = (begins + within).masked_fill(~inside, 0).view({b, r * w});  // [B, R W]
  const Tensor row = at::arange(b, lengths.options()).unsqueeze(1) * k;     // [B, 1]
  side.grid_keep = side.words.keep.gather(1, side.place).view({b, r, w}) & inside;
  side.grid = vectors.reshape({b * k, e})
                  .index_select(0, (side.place + row).flatten())
                  .view({b, r, w, e})
                  .masked_fill(~side.grid_keep.unsqueeze(3), 0);  // [B, R, W, E]
  side.keep = side.grid_keep.any(2);                              // [B, R]
  const Tensor sums = side.grid.sum(2);                           // [B, R, E]
  side.reviews = (gate_->forward(sums).sigmoid() * content_->forward(sums).tanh())
                     .masked_fill(~side.keep.unsqueeze(2), 0);
  return side;
}

void MultiPointer::point(Sides& sides, const Random* random, Tap* tap) const {
  const Tensor all = affinity(reviews_, sides[0].reviews.unsqueeze(1),
                              sides[1].reviews.unsqueeze(1));  // [B, P, Ru, Ri]
  for (size_t i = 0; i < 2; ++i) {
    Side &side = sides[i], &other = sides[1 - i];
    const Tensor mine = i == 0 ? all : all.transpose(2, 3);  // [B, P, R, other R]
    Tensor scores = mine.masked_fill(~other.keep.unsqueeze(1).unsqueeze(1), -kInfinity)
                        .amax(3)
                        .masked_fill(~other.words.known.view({-1, 1, 1}), 0)
                        .unsqueeze(2);  // [B, P, 1, R]
    if (random) scores = scores + gumbel_noise(scores, random->split("pointers").split(side.name));
    NormaliserOptions how;
    how.name = options_.hard ? "gumbel" : "temperature";
    how.temperature = options_.temperature;
    const Tensor picked =
        normalise(how, {scores, KeepMask::from_keep(side.keep), {}, {}}).weights;  // [B, P, 1, R]
    const std::string map = side.name + " reviews";
    side.pointer = report_weights(side.words, picked, {map, "", map}, MapKind::Distribution, tap)
                       .squeeze(2);  // [B, P, R]
    const auto sizes = side.grid.sizes();
    side.picked = at::bmm(side.pointer, side.grid.flatten(2))
                      .view({sizes[0], options_.pointers, sizes[2], sizes[3]});  // [B, P, W, E]
    side.picked_keep =
        at::bmm(side.pointer.detach().abs(), side.grid_keep.to(side.pointer.dtype())) > 0;
  }
}

void MultiPointer::read_words(Sides& sides, Tap* tap) const {
  const Tensor all = affinity(of_words_, sides[0].picked, sides[1].picked);  // [B, P, Wu, Wi]
  for (size_t i = 0; i < 2; ++i) {
    Side &side = sides[i], &other = sides[1 - i];
    const Tensor mine = i == 0 ? all : all.transpose(2, 3);               // [B, P, W, other W]
    const Tensor real = other.picked_keep.to(mine.dtype()).unsqueeze(3);  // [B, P, other W, 1]
    const Tensor means = at::matmul(mine, real).squeeze(3) / real.sum(2).clamp_min(1);  // [B, P, W]
    const Tensor within = masked_softmax(
        means.unsqueeze(2), KeepMask::from_keep(side.picked_keep.unsqueeze(2)));  // [B, P, 1, W]
    // The weight of a word: that of its review times that of its place within it.
    const Tensor on_grid = (side.pointer.unsqueeze(3) * within)
                               .masked_fill(~side.grid_keep.unsqueeze(1), 0)
                               .flatten(2);  // [B, P, R W]
    const Tensor weights =
        at::zeros({on_grid.size(0), on_grid.size(1), side.words.keep.size(1)}, on_grid.options())
            .scatter_add(2, side.place.unsqueeze(1).expand_as(on_grid), on_grid);  // [B, P, K]
    const std::string map = side.name + " words";
    // A mixture of reviews has weight on places at which the shorter ones have no word.
    const MapKind kind = options_.hard ? MapKind::Distribution : MapKind::Partial;
    const Tensor own = report_weights(side.words, weights.unsqueeze(2), {map, "", map}, kind,
                                      tap);                   // [B, P, 1, K]
    side.read = at::bmm(own.squeeze(2), side.words.vectors);  // [B, P, E]
  }
}

Tensor MultiPointer::features(const Sides& sides) const {
  std::vector<Tensor> parts;
  for (const Side& side : sides) {
    const Tensor together = side.read.flatten(1);  // [B, P E]
    parts.push_back(options_.combination == "sum" ? side.read.sum(1)
                    : combine_                    ? combine_->forward(together).relu()
                                                  : together);
    parts.push_back(side.reviews.sum(1));  // [B, E]
  }
  return at::cat(parts, 1);
}

Tensor MultiPointer::factorise(const Tensor& features) const {
  // sum_{i<j} <v_i, v_j> x_i x_j = half of, over the factors, (sum_i v_i x_i)^2 - sum_i v_i^2 x_i^2
  const Tensor squared_sums = at::matmul(features, factors_).square();             // [B, F]
  const Tensor summed_squares = at::matmul(features.square(), factors_.square());  // [B, F]
  return linear_->forward(features).squeeze(1) + 0.5 * (squared_sums - summed_squares).sum(1);
}

std::optional<RatingModel::OwnTerm> MultiPointer::own_term(const Batch& batch, const Random* random,
                                                           Tap* tap) const {
  Sides sides{read_side(batch, "user", random, tap), read_side(batch, "item", random, tap)};
  point(sides, random, tap);
  read_words(sides, tap);
  Tensor x = features(sides);  // [B, N]
  x = dropout(x, options_.dropout, random, "features");
  return OwnTerm{factorise(x), sides[0].words.known & sides[1].words.known};
}

}  // namespace fovea
