#include "fovea/tasks/nearest.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "fovea/base/error.h"
#include "fovea/data/documents/reader.h"
#include "fovea/data/formats/text_lines.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr int64_t kMostBytes = int64_t{4} << 30;
constexpr size_t kTextsAtOnce = 2048;  // tokenised and sorted by length together
constexpr size_t kRowsAtOnce = 64;
constexpr int64_t kTokensAtOnce = 8192;
constexpr int64_t kQueriesAtOnce = 256;

void check_embeds(const Pipeline& pipeline) {
  require(pipeline.task().embeds(), ErrorKind::Unsupported,
          "--nearest compares embeddings, and a run of the task ", pipeline.task_name(),
          " gives none; take a run of pretrain or a Hugging Face folder");
}

int64_t length_of(const Example& example) {
  return example.tensors.at("tokens").numel();
}

/// Texts of similar length side by side, so that little is padding.
Tensor embed_sorted(const Pipeline& pipeline, std::span<const Example> examples) {
  std::vector<size_t> order(examples.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t left, size_t right) {
    return length_of(examples[left]) < length_of(examples[right]);
  });
  std::vector<Tensor> rows(examples.size());
  for (size_t begin = 0; begin < order.size();) {
    std::vector<Example> some;
    size_t end = begin;
    for (; end < order.size() && some.size() < kRowsAtOnce; ++end) {
      const Example& next = examples[order[end]];
      if (!some.empty() && length_of(next) * int64_t(some.size() + 1) > kTokensAtOnce) break;
      some.push_back(next);
    }
    const Tensor values = pipeline.model()
                              .predict(pipeline.task().collate(some).to(pipeline.model().device()))
                              .values.cpu();  // [B, D]
    for (size_t i = begin; i < end; ++i) rows[order[i]] = values[int64_t(i - begin)];
    begin = end;
  }
  return torch::stack(rows);
}

}  // namespace

SearchCorpus read_search_corpus(const std::filesystem::path& path, const Roles& roles) {
  SearchCorpus corpus;
  if (is_labelled_text(path)) {
    LabelledTextOptions options;
    options.roles = roles;
    options.needs_label = false;
    FileRows<LabelledText> rows = read_labelled_text(path, options);
    for (LabelledText& row : rows.rows) {
      corpus.texts.push_back(std::move(row.text));
      corpus.numbers.push_back(int64_t(corpus.texts.size()));
    }
    corpus.notes = rows.notes;
  } else {
    require(roles.empty(), ErrorKind::InvalidArgument, path.string(),
            ": is plain text and has no columns; leave --columns out");
    TextLines lines(path, kMostBytes);
    for (std::string_view line; lines.next(line);) {
      if (trim(line).empty()) continue;
      corpus.texts.emplace_back(line);
      corpus.numbers.push_back(lines.number());
    }
  }
  require(!corpus.texts.empty(), ErrorKind::BadData, path.string(), ": holds no text to search");
  return corpus;
}

Tensor embed(const Pipeline& pipeline, std::span<const Example> examples) {
  check_embeds(pipeline);
  torch::NoGradGuard no_gradients;
  require(!examples.empty(), ErrorKind::InvalidArgument, "there is no text to embed");
  return embed_sorted(pipeline, examples);
}

Tensor embed(const Pipeline& pipeline, std::span<const std::string> texts,
             const std::function<void(int64_t)>& progress) {
  check_embeds(pipeline);
  std::vector<Tensor> blocks;
  for (size_t begin = 0; begin < texts.size(); begin += kTextsAtOnce) {
    const auto some = texts.subspan(begin, std::min(kTextsAtOnce, texts.size() - begin));
    std::vector<Example> examples(some.size());
    run_parallel(int64_t(some.size()), [&](int64_t i) {
      // Not the text itself, which might look like JSON.
      examples[size_t(i)] = pipeline.parse(Json{{"text", some[size_t(i)]}}.dump());
    });
    blocks.push_back(embed(pipeline, examples));
    if (progress) progress(int64_t(begin + some.size()));
  }
  require(!blocks.empty(), ErrorKind::InvalidArgument, "there is no text to embed");
  return torch::cat(blocks);
}

std::vector<std::vector<Neighbour>> nearest_neighbours(const Tensor& queries, const Tensor& corpus,
                                                       int64_t k) {
  torch::NoGradGuard no_gradients;
  const int64_t count = corpus.size(0), kept = std::min(k, count);
  std::vector<std::vector<Neighbour>> all(static_cast<size_t>(queries.size(0)));
  for (int64_t begin = 0; begin < queries.size(0); begin += kQueriesAtOnce) {
    const int64_t rows = std::min(kQueriesAtOnce, queries.size(0) - begin);
    const Tensor cosines = queries.narrow(0, begin, rows).mm(corpus.t()).contiguous();  // [R, N]
    run_parallel(rows, [&](int64_t row) {
      const float* cosine = cosines.data_ptr<float>() + row * count;
      std::vector<int64_t> order(static_cast<size_t>(count));
      std::iota(order.begin(), order.end(), int64_t{0});
      std::partial_sort(
          order.begin(), order.begin() + kept, order.end(), [cosine](int64_t left, int64_t right) {
            return cosine[left] != cosine[right] ? cosine[left] > cosine[right] : left < right;
          });
      for (int64_t i = 0; i < kept; ++i)
        all[size_t(begin + row)].push_back({order[size_t(i)], cosine[order[size_t(i)]]});
    });
  }
  return all;
}

std::vector<int64_t> relevant_of(const std::string& input) {
  if (!is_json_object(input)) return {};
  const Json json = parse_json(input, "input");
  if (!json.contains("relevant")) return {};
  const auto refuse = [&] {
    fail(ErrorKind::BadData, "input: \"relevant\" is ", json["relevant"].dump(),
         "; expected numbers of texts from 1, [3, 17]");
  };
  if (!json["relevant"].is_array()) refuse();
  std::set<int64_t> numbers;
  for (const Json& number : json["relevant"]) {
    if (!number.is_number_integer() || number.get<int64_t>() < 1) refuse();
    numbers.insert(number.get<int64_t>());
  }
  return {numbers.begin(), numbers.end()};
}

Metrics measure_retrieval(std::span<const std::vector<Neighbour>> found, const SearchCorpus& corpus,
                          std::span<const std::vector<int64_t>> relevant, int64_t k) {
  double queries = 0, first = 0, recall = 0, reciprocal = 0;
  for (size_t query = 0; query < found.size(); ++query) {
    const std::vector<int64_t>& right = relevant[query];
    if (right.empty()) continue;
    for (const int64_t number : right)
      require(std::binary_search(corpus.numbers.begin(), corpus.numbers.end(), number),
              ErrorKind::BadData, "input ", query + 1, ": its right text ", number,
              " is not in the corpus, whose numbers end at ", corpus.numbers.back());
    ++queries;
    double hits = 0, rank_of_first = 0;
    for (size_t rank = 0; rank < found[query].size(); ++rank) {
      const int64_t number = corpus.numbers[size_t(found[query][rank].index)];
      if (!std::binary_search(right.begin(), right.end(), number)) continue;
      ++hits;
      if (rank == 0) first += 1 / double(right.size());
      if (rank_of_first == 0) rank_of_first = double(rank + 1);
    }
    recall += hits / double(right.size());
    if (rank_of_first > 0) reciprocal += 1 / rank_of_first;
  }
  if (queries == 0) return {};
  Metrics metrics{{"recall_at_1", first / queries, true}};
  if (k > 1) metrics.push_back({concat("recall_at_", k), recall / queries, true});
  metrics.push_back({"mrr", reciprocal / queries, true});
  return metrics;
}

}  // namespace fovea
