#include "fovea/models/hierarchical_layout.h"

#include <algorithm>
#include <span>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

struct Place {
  int64_t sentence;  // in the batch [B S]
  int64_t begin;     // of its words, in the batch [B W]
  int64_t length;
};

/// All sentences that have words, document by document, and how many each document has.
std::vector<Place> places_of(const Tensor& sentences, int64_t words, int64_t* counts) {
  const int64_t documents = sentences.size(0), most = sentences.size(1);
  const int64_t* length = sentences.data_ptr<int64_t>();
  std::vector<Place> places;
  for (int64_t document = 0; document < documents; ++document) {
    int64_t used = 0;
    counts[document] = 0;
    for (int64_t i = 0; i < most; ++i, ++length) {
      if (*length == 0) continue;
      require(*length > 0 && counts[document] == i && used + *length <= words,
              ErrorKind::InvalidArgument, "document ", document, " of the batch has ", words,
              " words; its sentence ", i, " cannot have ", *length, " behind the ", used,
              " of the ", counts[document], " sentences before it");
      places.push_back({document * most + i, document * words + used, *length});
      used += *length;
      ++counts[document];
    }
  }
  return places;
}

SentenceGroup group_of(std::span<const Place> places, const at::Device& device) {
  const auto rows = static_cast<int64_t>(places.size());
  const int64_t longest = places.front().length;
  const Tensor words = at::zeros({rows, longest}, at::kLong);
  const Tensor keep = at::zeros({rows, longest}, at::kBool);
  const Tensor lengths = at::empty({rows}, at::kLong), sentences = at::empty({rows}, at::kLong);
  for (int64_t row = 0; row < rows; ++row) {
    const Place& place = places[size_t(row)];
    int64_t* word = words.data_ptr<int64_t>() + row * longest;
    for (int64_t i = 0; i < place.length; ++i) word[i] = place.begin + i;
    std::fill_n(keep.data_ptr<bool>() + row * longest, place.length, true);
    lengths.data_ptr<int64_t>()[row] = place.length;
    sentences.data_ptr<int64_t>()[row] = place.sentence;
  }
  return {words.to(device), keep.to(device), lengths, sentences.to(device)};
}

/// Places of the real words among the N T of a group: int64 [M].
Tensor real_places(const SentenceGroup& group) {
  return group.keep.flatten().nonzero().squeeze(1);
}

}  // namespace

bool SentenceLayout::is_full() const {
  return lengths.numel() > 0 && lengths.min().item<int64_t>() == sentences;
}

SentenceLayout layout_of(const Tensor& sentences, int64_t words) {
  SentenceLayout layout{sentences.size(0), sentences.size(1), words, {}, {}};
  layout.lengths = at::empty({layout.documents}, at::kLong);
  std::vector<Place> places =
      places_of(sentences.cpu().contiguous(), words, layout.lengths.data_ptr<int64_t>());
  std::stable_sort(places.begin(), places.end(), [](const Place& left, const Place& right) {
    return left.length > right.length;
  });
  for (size_t begin = 0, end = 0; begin < places.size(); begin = end) {
    while (end < places.size() && 2 * places[end].length > places[begin].length) ++end;
    layout.groups.push_back(
        group_of(std::span(places).subspan(begin, end - begin), sentences.device()));
  }
  return layout;
}

Tensor sentences_in_place(const SentenceLayout& layout, const std::vector<Tensor>& vectors) {
  std::vector<Tensor> places;
  for (const SentenceGroup& group : layout.groups) places.push_back(group.sentences);
  const Tensor all = torch::cat(vectors);  // [sentences that have words, D]
  return at::zeros({layout.documents * layout.sentences, all.size(1)}, all.options())
      .index_copy(0, torch::cat(places), all)
      .view({layout.documents, layout.sentences, -1});
}

Tensor words_in_place(const SentenceLayout& layout, const std::vector<Tensor>& states) {
  std::vector<Tensor> places, own;
  for (size_t i = 0; i < states.size(); ++i) {
    const Tensor real = real_places(layout.groups[i]);  // [M]
    places.push_back(layout.groups[i].words.flatten().index_select(0, real));
    own.push_back(states[i].flatten(0, 1).index_select(0, real));
  }
  const Tensor all = torch::cat(own);  // [all words, D]
  return at::zeros({layout.documents * layout.words, all.size(1)}, all.options())
      .index_copy(0, torch::cat(places), all)
      .view({layout.documents, 1, layout.words, -1});
}

void WordWeights::add(const SentenceGroup& group, const Tensor& weights) {
  const Tensor key = group.words.remainder(words_);                  // [N, T]
  const Tensor place = group.sentences.unsqueeze(1) * words_ + key;  // [N, T]
  const Tensor real = real_places(group);                            // [M]
  places_.push_back(place.flatten().index_select(0, real));
  weights_.push_back(weights.flatten().index_select(0, real));
}

Tensor WordWeights::dense() const {
  const Tensor places = torch::cat(places_), weights = torch::cat(weights_);  // [M]
  return at::zeros({documents_ * sentences_ * words_}, weights.options())
      .index_add(0, places, weights)
      .view({documents_, 1, sentences_, words_});
}

Tensor WordWeights::rows(int64_t example, int64_t, int64_t first, int64_t count) const {
  const int64_t begin = (example * sentences_ + first) * words_;
  const Tensor places = torch::cat(places_) - begin, weights = torch::cat(weights_).detach();
  const Tensor asked = ((places >= 0) & (places < count * words_)).nonzero().squeeze(1);
  return at::zeros({count * words_}, weights.options())
      .index_add(0, places.index_select(0, asked), weights.index_select(0, asked))
      .view({count, words_});
}

}  // namespace fovea
