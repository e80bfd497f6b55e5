#include "fovea/data/tokenisers/text_vectors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/tokenisers/word_form.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kMinimumCount = 3;
constexpr size_t kMostWords = 60'000;
constexpr int64_t kMostContexts = 10'000;  // the most frequent words, at each position
constexpr std::array<int64_t, 4> kPositions{-2, -1, 1, 2};
constexpr double kSmoothing = 0.75;
constexpr int64_t kOversampling = 10;           // columns more than are kept
constexpr int64_t kPairsTogether = 16'000'000;  // of a word and a neighbour
constexpr int64_t kRowsTogether = 512;
constexpr double kSmallestShare = 1e-10;  // of the largest eigenvalue: smaller ones are noise

/// A matrix of which only what is not 0 is stored, row after row.
struct SparseRows {
  int64_t columns_in_all = 0;
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> columns;
  std::vector<float> values;
  int64_t rows() const { return int64_t(offsets.size()) - 1; }
};

int64_t blocks_of(int64_t rows) {
  return (rows + kRowsTogether - 1) / kRowsTogether;
}

/// job(first row, behind the last) for all blocks of rows, side by side.
template <class Job>
void over_row_blocks(int64_t rows, const Job& job) {
  run_parallel(blocks_of(rows), [&](int64_t block) {
    job(block * kRowsTogether, std::min(rows, (block + 1) * kRowsTogether));
  });
}

/// Numbers by falling count, ties alphabetically; kGap for words that are too rare.
struct FrequentWords {
  std::vector<std::string> words;
  std::vector<int32_t> numbers;  // of all words of the texts, one after the other
};

FrequentWords keep_frequent(const WordSequences& texts) {
  std::vector<int32_t> order;
  for (size_t word = 0; word < texts.words().size(); ++word)
    if (texts.counts()[word] >= kMinimumCount) order.push_back(int32_t(word));
  std::sort(order.begin(), order.end(), [&](int32_t one, int32_t other) {
    const int64_t count = texts.counts()[size_t(one)], its = texts.counts()[size_t(other)];
    return count != its ? count > its : texts.words()[size_t(one)] < texts.words()[size_t(other)];
  });
  order.resize(std::min(order.size(), kMostWords));
  FrequentWords frequent;
  std::vector<int32_t> renumbered(texts.words().size(), WordSequences::kGap);
  for (size_t i = 0; i < order.size(); ++i) {
    renumbered[size_t(order[i])] = int32_t(i);
    frequent.words.push_back(texts.words()[size_t(order[i])]);
  }
  for (const int32_t number : texts.numbers())
    frequent.numbers.push_back(number == WordSequences::kGap ? number : renumbered[size_t(number)]);
  return frequent;
}

/// Words and their neighbours, in the order of the texts.
class Neighbours {
 public:
  Neighbours(const std::vector<int32_t>& numbers, int64_t words)
      : numbers_(numbers), words_(words), contexts_(std::min(words, kMostContexts)) {}
  int64_t columns() const { return contexts_ * int64_t(kPositions.size()); }

  /// job(word, column) for the words first … last - 1.
  template <class Job>
  void for_each(int64_t first, int64_t last, const Job& job) const {
    for (size_t at = 2; at + 2 < numbers_.size(); ++at) {
      const int32_t word = numbers_[at];
      if (word < first || word >= last) continue;  // a gap is below every word
      for (size_t p = 0; p < kPositions.size(); ++p) {
        const int32_t neighbour = numbers_[size_t(int64_t(at) + kPositions[p])];
        if (neighbour >= 0 && neighbour < contexts_)
          job(word, int32_t(int64_t(p) * contexts_ + neighbour));
      }
    }
  }

  /// Positive pointwise mutual information of words (rows) and neighbours (columns).
  SparseRows information() const {
    std::vector<int64_t> by_word(size_t(words_), 0), by_column(size_t(columns()), 0);
    for_each(0, words_, [&](int32_t word, int32_t column) {
      ++by_word[size_t(word)], ++by_column[size_t(column)];
    });
    std::vector<double> log_share;  // of each column, smoothed
    double sum = 0;
    for (const int64_t count : by_column) sum += std::pow(double(count), kSmoothing);
    for (const int64_t count : by_column)
      log_share.push_back(kSmoothing * std::log(double(count)) - std::log(sum));

    const std::vector<int64_t> limits = cut_words(by_word);
    std::vector<SparseRows> blocks(limits.size() - 1);
    run_parallel(int64_t(blocks.size()), [&](int64_t block) {
      blocks[size_t(block)] =
          information_of(limits[size_t(block)], limits[size_t(block) + 1], by_word, log_share);
    });
    SparseRows all;
    all.columns_in_all = columns();
    for (SparseRows& block : blocks) {
      const int64_t before = all.offsets.back();
      for (size_t row = 1; row < block.offsets.size(); ++row)
        all.offsets.push_back(before + block.offsets[row]);
      all.columns.insert(all.columns.end(), block.columns.begin(), block.columns.end());
      all.values.insert(all.values.end(), block.values.begin(), block.values.end());
      block = {};
    }
    return all;
  }

 private:
  /// Where blocks of words begin, none with more than kPairsTogether pairs unless it is one word.
  std::vector<int64_t> cut_words(const std::vector<int64_t>& by_word) const {
    std::vector<int64_t> limits{0};
    int64_t pairs = 0;
    for (int64_t word = 0; word < words_; ++word) {
      if (pairs > 0 && pairs + by_word[size_t(word)] > kPairsTogether)
        limits.push_back(word), pairs = 0;
      pairs += by_word[size_t(word)];
    }
    limits.push_back(words_);
    return limits;
  }

  SparseRows information_of(int64_t first, int64_t last, const std::vector<int64_t>& by_word,
                            const std::vector<double>& log_share) const {
    std::vector<int64_t> offsets{0};
    for (int64_t word = first; word < last; ++word)
      offsets.push_back(offsets.back() + by_word[size_t(word)]);
    std::vector<int32_t> seen(size_t(offsets.back()));
    std::vector<int64_t> next(offsets.begin(), offsets.end() - 1);
    for_each(first, last, [&](int32_t word, int32_t column) {
      seen[size_t(next[size_t(word - first)]++)] = column;
    });
    SparseRows rows;
    for (size_t row = 0; row + 1 < offsets.size(); ++row) {
      const auto begin = seen.begin() + offsets[row], end = seen.begin() + offsets[row + 1];
      std::sort(begin, end);
      const double log_count = std::log(double(end - begin));
      for (auto at = begin; at != end;) {
        const auto behind = std::upper_bound(at, end, *at);
        const double value = std::log(double(behind - at)) - log_count - log_share[size_t(*at)];
        if (value > 0) rows.columns.push_back(*at), rows.values.push_back(float(value));
        at = behind;
      }
      rows.offsets.push_back(int64_t(rows.columns.size()));
    }
    return rows;
  }

  const std::vector<int32_t>& numbers_;
  int64_t words_, contexts_;
};

SparseRows transposed(const SparseRows& matrix) {
  SparseRows result;
  result.columns_in_all = matrix.rows();
  result.offsets.assign(size_t(matrix.columns_in_all) + 1, 0);
  for (const int32_t column : matrix.columns) ++result.offsets[size_t(column) + 1];
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  result.columns.resize(matrix.columns.size());
  result.values.resize(matrix.values.size());
  std::vector<int64_t> next(result.offsets.begin(), result.offsets.end() - 1);
  for (int64_t row = 0; row < matrix.rows(); ++row)
    for (int64_t i = matrix.offsets[size_t(row)]; i < matrix.offsets[size_t(row) + 1]; ++i) {
      const auto to = size_t(next[size_t(matrix.columns[size_t(i)])]++);
      result.columns[to] = int32_t(row);
      result.values[to] = matrix.values[size_t(i)];
    }
  return result;
}

/// matrix [N, C], x [C, D] -> [N, D]
Tensor multiply(const SparseRows& matrix, const Tensor& x) {
  const int64_t width = x.size(1);
  const Tensor product = at::zeros({matrix.rows(), width}, at::kFloat);  // [N, D]
  const float* from = x.data_ptr<float>();
  float* to = product.data_ptr<float>();
  over_row_blocks(matrix.rows(), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row)
      for (int64_t i = matrix.offsets[size_t(row)]; i < matrix.offsets[size_t(row) + 1]; ++i) {
        const float value = matrix.values[size_t(i)];
        const float* own = from + matrix.columns[size_t(i)] * width;
        float* sum = to + row * width;
        for (int64_t d = 0; d < width; ++d) sum[d] += value * own[d];
      }
  });
  return product;
}

/// x [N, D] -> x^T x [D, D] as double, block after block.
Tensor gram(const Tensor& x) {
  std::vector<Tensor> sums(size_t(blocks_of(x.size(0))));
  over_row_blocks(x.size(0), [&](int64_t first, int64_t last) {
    const Tensor rows = x.narrow(0, first, last - first);
    sums[size_t(first / kRowsTogether)] = rows.t().mm(rows).to(at::kDouble);
  });
  Tensor sum = at::zeros({x.size(1), x.size(1)}, at::kDouble);
  for (const Tensor& own : sums) sum += own;
  return sum;
}

/// x [N, D], matrix [D, E] -> [N, E]
Tensor multiply_rows(const Tensor& x, const Tensor& matrix) {
  const Tensor product = at::zeros({x.size(0), matrix.size(1)}, at::kFloat);
  over_row_blocks(x.size(0), [&](int64_t first, int64_t last) {
    product.narrow(0, first, last - first).copy_(x.narrow(0, first, last - first).mm(matrix));
  });
  return product;
}

/// Eigenvalues, the largest first, and vectors [D, D] of a symmetric matrix: M = V diag(l) V^T.
std::pair<Tensor, Tensor> eigenvectors(const Tensor& matrix) {
  Tensor values, vectors;
  run_parallel(1, [&](int64_t) { std::tie(values, vectors) = at::linalg_eigh(matrix); });
  return {values.flip(0).clamp_min(0), vectors.flip(1)};
}

/// Orthonormal columns that span those of x; 0 where x has fewer independent ones.
Tensor orthonormal(const Tensor& x) {
  const auto [values, vectors] = eigenvectors(gram(x));
  const Tensor real = values > values[0] * kSmallestShare;
  const Tensor scale = at::where(real, values, at::ones_like(values)).rsqrt() * real;  // [D]
  return multiply_rows(x, (vectors * scale).to(at::kFloat));
}

/// Rows of the same length as one with deviation 1 in each column; 0 stays 0.
Tensor unit_variance(const Tensor& x) {
  return x * (x.norm(2, {1}, /*keepdim=*/true) + 1e-12).reciprocal() * std::sqrt(double(x.size(1)));
}

std::string with_capital(std::string word) {
  if (!word.empty() && word[0] >= 'a' && word[0] <= 'z') word[0] = char(word[0] - 32);
  return word;
}

/// log(1 + n) / 8 of the n times that the texts have a word in any case, and the shares of it in
/// lower case and with a capital: [words, kCaseNumbers].
Tensor case_numbers(const WordSequences& texts, const std::vector<std::string>& words) {
  struct Counts {
    double all = 0, lower = 0, capital = 0;
  };
  std::unordered_map<std::string, Counts> counts;  // by the word in lower case
  for (size_t i = 0; i < texts.words().size(); ++i) {
    const std::string &word = texts.words()[i], lower = word_form(word, /*lowercase=*/true);
    const auto count = double(texts.counts()[i]);
    Counts& own = counts[lower];
    own.all += count;
    if (word == lower)
      own.lower += count;
    else if (word == with_capital(lower))
      own.capital += count;
  }
  const Tensor numbers = at::zeros({int64_t(words.size()), kCaseNumbers}, at::kFloat);
  float* to = numbers.data_ptr<float>();
  for (const std::string& word : words) {
    const Counts& own = counts.at(word_form(word, /*lowercase=*/true));
    *to++ = float(std::log1p(own.all) / 8);
    *to++ = float(own.lower / (1 + own.all));
    *to++ = float(own.capital / (1 + own.all));
  }
  return numbers;
}

}  // namespace

void WordSequences::add(const std::vector<std::string>& sentence) {
  for (const std::string& word : sentence) {
    const auto [at, is_new] = number_of_.emplace(word, int32_t(words_.size()));
    if (is_new) words_.push_back(word), counts_.push_back(0);
    ++counts_[size_t(at->second)];
    numbers_.push_back(at->second);
  }
  words_in_all_ += int64_t(sentence.size());
  require(words_.size() < size_t(std::numeric_limits<int32_t>::max()), ErrorKind::BadData,
          "the texts have more different words than can be counted");
  numbers_.insert(numbers_.end(), {kGap, kGap});
}

int64_t TextVectors::find(const Vocabulary& words, const std::string& word) {
  const std::string lower = word_form(word, /*lowercase=*/true);
  for (const std::string& form : {word, lower, with_capital(lower)})
    if (const int64_t id = words.id(form); !Vocabulary::is_special(id)) return id;
  if (word.size() > 1 && (word[0] == '#' || word[0] == '@')) return find(words, word.substr(1));
  return Vocabulary::kUnknown;
}

TextVectors learn_text_vectors(const WordSequences& texts, const Random& random,
                               const std::function<void()>& step) {
  const at::NoGradGuard no_gradients;
  const auto report = [&] {
    if (step) step();
  };
  FrequentWords frequent = keep_frequent(texts);
  const auto words = int64_t(frequent.words.size());
  require(words > 0, ErrorKind::BadData, "the texts have ", format_count(texts.size()),
          " words, and none of them stands there ", kMinimumCount,
          " times; word vectors need more text");
  const SparseRows matrix = Neighbours(frequent.numbers, words).information();  // [N, C]
  const SparseRows transpose = transposed(matrix);                              // [C, N]
  report();
  const int64_t width = kNeighbourNumbers + kOversampling;
  Tensor left = multiply(
      matrix, random.normal_tensor({matrix.columns_in_all, width}, 0, 1, at::kFloat));  // [N, D]
  report();
  for (int64_t i = 0; i < kTextVectorIterations; ++i) {
    const Tensor right = orthonormal(multiply(transpose, orthonormal(left)));  // [C, D]
    report();
    left = multiply(matrix, right);
    report();
  }
  left = orthonormal(left);
  const auto [squares, turn] = eigenvectors(gram(multiply(transpose, left)));
  const Tensor scaled = (turn * squares.pow(0.25)).narrow(1, 0, kNeighbourNumbers);
  TextVectors result;
  result.words = Vocabulary(frequent.words);
  result.vectors = at::zeros({result.words.size(), kTextVectorSize}, at::kFloat);
  const Tensor own = result.vectors.narrow(0, Vocabulary::kSpecial, words);
  own.narrow(1, 0, kNeighbourNumbers)
      .copy_(unit_variance(multiply_rows(left, scaled.to(at::kFloat))));
  own.narrow(1, kNeighbourNumbers, kCaseNumbers).copy_(case_numbers(texts, frequent.words));
  report();
  return result;
}

}  // namespace fovea
