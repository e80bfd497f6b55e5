#include "fovea/data/corpus/segments.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/data/packed_text.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

namespace {

// Counters of a row's own stream.
enum Draw : uint64_t { kIsShort, kTarget, kCut, kIsDrawn, kDocument, kUnit };

constexpr int64_t kShortest = 2;  // pieces of a row that ends early

/// Where units begin in a sentence: at most `longest` pieces each, cut between words where
/// possible.
std::vector<int64_t> unit_begins(const Pieces& sentence, int64_t longest) {
  std::vector<int64_t> begins;
  for (int64_t begin = 0; begin < sentence.size();) {
    begins.push_back(begin);
    int64_t end = std::min(begin + longest, sentence.size());
    const auto inside_word = [&](int64_t at) {
      return at < sentence.size() && sentence.words[size_t(at)] == sentence.words[size_t(at) - 1];
    };
    while (end > begin && inside_word(end)) --end;
    begin = end > begin ? end : std::min(begin + longest, sentence.size());
  }
  return begins;
}

}  // namespace

void SegmentOptions::describe(OptionList& list) {
  list.add("longest", longest, "positions of a training row, [CLS] and [SEP] included").at_least(8);
  list.add("next_sentence", next_sentence,
           "rows are pairs, and whether the second follows the first is to be told");
  list.add("short_rows", short_rows, "share of rows that end early").within(0, 1);
}

TokenisedDocuments tokenise(Rows<std::vector<std::string>> documents,
                            const PieceTokeniser& tokeniser, const SegmentOptions& options) {
  struct Tokenised {
    std::vector<int32_t> ids;
    std::vector<int64_t> units;
  };
  const int64_t longest = std::max<int64_t>(1, (options.longest - options.special(tokeniser)) / 2);
  TokenisedDocuments all;
  documents.take_blocks([&](std::span<const std::vector<std::string>> block) {
    std::vector<Tokenised> tokenised(block.size());
    run_parallel(int64_t(block.size()), [&](int64_t i) {
      Tokenised& document = tokenised[size_t(i)];
      for (const std::string& text : block[size_t(i)]) {
        const Pieces sentence = tokeniser.encode(text);
        for (const int64_t begin : unit_begins(sentence, longest))
          document.units.push_back(int64_t(document.ids.size()) + begin);
        document.ids.insert(document.ids.end(), sentence.ids.begin(), sentence.ids.end());
      }
    });
    for (const Tokenised& document : tokenised) {
      if (document.ids.empty()) continue;
      all.documents.push_back(int64_t(all.units.size()));
      for (const int64_t begin : document.units)
        all.units.push_back(int64_t(all.ids.size()) + begin);
      all.ids.insert(all.ids.end(), document.ids.begin(), document.ids.end());
    }
  });
  all.documents.push_back(int64_t(all.units.size()));
  all.units.push_back(int64_t(all.ids.size()));
  return all;
}

SegmentDataset::SegmentDataset(TokenisedDocuments documents,
                               std::shared_ptr<const PieceTokeniser> tokeniser,
                               const SegmentOptions& options, const Random& random)
    : documents_(std::move(documents)), tokeniser_(std::move(tokeniser)), options_(options) {
  const int64_t room = options.longest - options.special(*tokeniser_);
  require(room >= 2, ErrorKind::InvalidArgument, "rows of ", options.longest,
          " positions have no room for a text; expected at least 8");
  for (int64_t document = 0; document < documents_.size(); ++document)
    cut_document(document, room, random.split(uint64_t(document)));
}

SegmentDataset::Range SegmentDataset::units(int64_t begin, int64_t end) const {
  return {documents_.units[size_t(begin)], documents_.units[size_t(end)]};
}

void SegmentDataset::cut_document(int64_t document, int64_t room, const Random& random) {
  const int64_t last = documents_.documents[size_t(document) + 1];
  uint64_t number = 0;
  for (int64_t begin = documents_.documents[size_t(document)]; begin < last;) {
    const Random own = random.split(number++);
    const bool ends_early = own.uniform(kIsShort) < options_.short_rows;
    const int64_t target =
        ends_early ? std::min(room, kShortest + int64_t(own.below(kTarget, uint64_t(room)))) : room;
    int64_t end = begin + 1;
    while (end < last && units(begin, end + 1).size() <= target) ++end;
    if (!options_.next_sentence) {
      rows_.push_back({units(begin, end), {}, true});
      begin = end;
      continue;
    }
    const int64_t count = end - begin;
    const int64_t cut = count > 1 ? begin + 1 + int64_t(own.below(kCut, uint64_t(count - 1))) : end;
    Row row{units(begin, cut), units(cut, end), true};
    if (count == 1 || own.uniform(kIsDrawn) < 0.5) {
      row.second = drawn_elsewhere(document, room - row.first.size(), own);
      row.follows = false;
      end = cut;
    }
    rows_.push_back(row);
    begin = end;
  }
}

SegmentDataset::Range SegmentDataset::drawn_elsewhere(int64_t document, int64_t room,
                                                      const Random& random) const {
  const int64_t others = documents_.size() - 1;
  int64_t other = others > 0 ? int64_t(random.below(kDocument, uint64_t(others))) : 0;
  if (others > 0 && other >= document) ++other;
  const int64_t first = documents_.documents[size_t(other)],
                last = documents_.documents[size_t(other) + 1];
  const int64_t begin = first + int64_t(random.below(kUnit, uint64_t(last - first)));
  int64_t end = begin + 1;
  while (end < last && units(begin, end + 1).size() <= room) ++end;
  Range drawn = units(begin, end);
  if (drawn.size() <= room) return drawn;
  drawn.end = drawn.begin + room;  // its first unit alone is too long: cut between words
  const auto inside_word = [&](int64_t at) {
    return tokeniser_->continues(documents_.ids[size_t(at)]);
  };
  while (drawn.size() > 1 && inside_word(drawn.end)) --drawn.end;
  return drawn;
}

int64_t SegmentDataset::length(int64_t row) const {
  const Row& own = rows_.at(size_t(row));
  return own.first.size() + own.second.size() + options_.special(*tokeniser_);
}

Pieces SegmentDataset::pieces(const Range& range) const {
  Pieces pieces;
  pieces.ids.assign(documents_.ids.begin() + range.begin, documents_.ids.begin() + range.end);
  pieces.spans.resize(pieces.ids.size());
  pieces.words.resize(pieces.ids.size(), -1);
  return pieces;
}

PackedInput SegmentDataset::packed(int64_t row, const Pieces& first, const Pieces& second) const {
  PackingOptions whole;
  whole.longest = length(row);
  return pack_texts(*tokeniser_, first, options_.next_sentence ? &second : nullptr, whole)
      .inputs.front();
}

std::array<std::string, 2> SegmentDataset::texts(int64_t row) const {
  const Row& own = rows_.at(size_t(row));
  return {tokeniser_->join(pieces(own.first).ids), tokeniser_->join(pieces(own.second).ids)};
}

Json SegmentDataset::input(int64_t row) const {
  const auto [first, second] = texts(row);
  if (!options_.next_sentence) return first;
  return {{"text", first}, {"second", second}};
}

Example SegmentDataset::example(int64_t row) const {
  const auto [first, second] = texts(row);
  const Pieces pieces[] = {tokeniser_->encode(first), tokeniser_->encode(second)};
  PackingOptions whole;
  whole.longest = std::numeric_limits<int64_t>::max();
  const PackedInputs packed =
      pack_texts(*tokeniser_, pieces[0], options_.next_sentence ? &pieces[1] : nullptr, whole);
  return token_example(*tokeniser_, packed.inputs.front(), first, second);
}

Batch SegmentDataset::batch(std::span<const int64_t> rows) const {
  std::vector<PackedInput> inputs;
  std::vector<int64_t> next;
  for (const int64_t row : rows) {
    const Row& own = rows_.at(size_t(row));
    inputs.push_back(packed(row, pieces(own.first), pieces(own.second)));
    next.push_back(own.follows ? 0 : 1);
  }
  Batch batch = collate_tokens(inputs, tokeniser_->special().padding);
  if (options_.next_sentence) batch.tensors["next"] = at::tensor(next, at::kLong);  // [B]
  return batch;
}

}  // namespace fovea
