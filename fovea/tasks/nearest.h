// Retrieval by embedding: which texts of a corpus mean most nearly what a text means.
//   cosine(a, b) = a . b, both of length 1
//   recall at k  mean over the queries of the share of their right texts that is among the k
//                nearest
//   mrr          mean over the queries of 1 / rank of the first right text (within the k nearest;
//                0 where none is among them)
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fovea/metrics/metric.h"
#include "fovea/tasks/pipeline.h"

namespace fovea {

/// The texts to search. Text i has the number numbers[i], from 1: its line in a text file (empty
/// lines are left out), its row in a CSV, TSV or JSONL.
struct SearchCorpus {
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
  std::vector<std::string> notes;
};
SearchCorpus read_search_corpus(const std::filesystem::path& path, const Roles& roles);

/// Unit vectors of the texts [N, D]. Unsupported for a run whose task gives no embeddings.
/// `progress` is told how many are done; it may be empty.
at::Tensor embed(const Pipeline& pipeline, std::span<const std::string> texts,
                 const std::function<void(int64_t)>& progress = {});
at::Tensor embed(const Pipeline& pipeline, std::span<const Example> examples);

struct Neighbour {
  int64_t index = 0;  // of the corpus
  double cosine = 0;
};

/// The k nearest of each query, nearest first; of equal ones the one that comes first in the
/// corpus. queries [Q, D], corpus [N, D]
std::vector<std::vector<Neighbour>> nearest_neighbours(const at::Tensor& queries,
                                                       const at::Tensor& corpus, int64_t k);

/// The numbers of the right texts in an input {"text": …, "relevant": [3, 17]}; empty where it has
/// none. BadData for anything but whole numbers above 0.
std::vector<int64_t> relevant_of(const std::string& input);

/// recall_at_1, recall_at_k and mrr over the queries that have right texts; empty without any.
Metrics measure_retrieval(std::span<const std::vector<Neighbour>> found, const SearchCorpus& corpus,
                          std::span<const std::vector<int64_t>> relevant, int64_t k);

}  // namespace fovea
