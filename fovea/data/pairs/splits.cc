// Texts in memory to splits of tokens, and to files.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/pairs/load.h"
#include "fovea/data/pairs/reader.h"

namespace fovea {

namespace {

constexpr int64_t kFewestPieces = 1000;

/// Pieces that are seen a few times only are learned by heart: the fewer pairs, the fewer pieces.
int64_t vocabulary_limit(const PairsOptions& options, const std::string& tokens, int64_t pairs) {
  const bool is_pieces = tokens == "unigram" || tokens == "bpe";
  if (!is_pieces || options.pairs_per_piece == 0) return options.vocabulary_size;
  const int64_t suits = std::max(kFewestPieces, pairs / options.pairs_per_piece);
  return options.vocabulary_size == 0 ? suits : std::min(options.vocabulary_size, suits);
}

/// Learns what is missing from the training pairs.
void learn_tokenisers(const Rows<TextPair>& train, const PairsOptions& options,
                      PairTokenisers& tokenisers) {
  const bool same = options.target_tokens == "same";
  require(!options.shared_vocabulary || same || options.target_tokens == options.tokens,
          ErrorKind::InvalidArgument, "shared_vocabulary=yes needs the same tokens on both sides; ",
          "tokens is ", options.tokens, " and target_tokens is ", options.target_tokens);
  std::vector<std::string> sources, targets;
  train.for_each([&](const TextPair& pair) {
    sources.push_back(pair.source);
    targets.push_back(pair.references.at(0));
  });
  const int64_t count = train.size();
  TokeniserOptions learning{options.tokens, vocabulary_limit(options, options.tokens, count),
                            options.minimum_count};
  if (options.shared_vocabulary) {
    std::move(targets.begin(), targets.end(), std::back_inserter(sources));
    tokenisers.source = tokenisers.target = Tokeniser::learn(learning, sources);
    return;
  }
  tokenisers.source = Tokeniser::learn(learning, sources);
  if (!same) {
    learning.kind = options.target_tokens;
    learning.size = vocabulary_limit(options, options.target_tokens, count);
  }
  tokenisers.target = Tokeniser::learn(learning, targets);
}

/// Counts the pairs that the limits refuse, by reason.
struct LengthFilter {
  const PairsOptions& options;
  int64_t too_long = 0, too_short = 0, too_uneven = 0;

  bool keep(int64_t source, int64_t target) {
    const int64_t longer = std::max(source, target), shorter = std::min(source, target);
    if (options.maximum_length > 0 && longer > options.maximum_length) return ++too_long, false;
    if (shorter < options.minimum_length) return ++too_short, false;
    if (options.maximum_ratio > 0 && double(longer) > options.maximum_ratio * double(shorter))
      return ++too_uneven, false;
    return true;
  }

  std::string note() const {
    std::vector<std::string> reasons;
    if (too_long > 0)
      reasons.push_back(concat(format_count(too_long), " with more than ",
                               format_count(options.maximum_length), " tokens"));
    if (too_short > 0)
      reasons.push_back(concat(format_count(too_short), " with fewer than ",
                               format_count(options.minimum_length)));
    if (too_uneven > 0)
      reasons.push_back(concat(format_count(too_uneven), " with one side more than ",
                               options.maximum_ratio, " times as long as the other"));
    return reasons.empty() ? "" : concat("training pairs left out: ", join(reasons));
  }
};

std::string cell_of(const std::string& text, const std::string& place) {
  require(text.find_first_of("\t\n") == std::string::npos, ErrorKind::InvalidArgument, place,
          ": a text with a tab or a line end cannot be a cell of a TSV");
  require(!trim(text).empty(), ErrorKind::InvalidArgument, place,
          ": an empty text would not be read back");
  return text;
}

std::string format_tsv(const std::vector<TextPair>& pairs, const std::string& path) {
  size_t references = 1;
  for (const TextPair& pair : pairs) references = std::max(references, pair.references.size());
  std::string text = "source";
  for (size_t i = 0; i < references; ++i) text += "\ttarget";
  text += "\tlinks\n";
  for (size_t row = 0; row < pairs.size(); ++row) {
    const TextPair& pair = pairs[row];
    const std::string place = concat(path, ":", row + 2);
    require(!pair.references.empty(), ErrorKind::InvalidArgument, place, ": has no target text");
    text += cell_of(pair.source, place);
    for (size_t i = 0; i < references; ++i)
      text += "\t" + (i < pair.references.size() ? cell_of(pair.references[i], place) : "");
    text += "\t" + format_links(pair.links) + "\n";
  }
  return text;
}

}  // namespace

void PairsOptions::describe(OptionList& list) {
  const std::vector<std::string> kinds = tokeniser_kinds();
  std::vector<std::string> target_kinds{"same"};
  target_kinds.insert(target_kinds.end(), kinds.begin(), kinds.end());
  list.add("tokens", tokens, "what a text is cut into").choices(kinds);
  list.add("target_tokens", target_tokens, "what a target is cut into; same: as tokens")
      .choices(target_kinds);
  list.add("shared_vocabulary", shared_vocabulary, "one vocabulary for both sides");
  list.add("vocabulary_size", vocabulary_size,
           "most symbols of a vocabulary; 0: no limit (unigram and bpe need one)")
      .at_least(0);
  list.add("pairs_per_piece", pairs_per_piece,
           "unigram and bpe: at most one piece for so many training pairs, but 1,000 at least; "
           "0: as vocabulary_size says")
      .at_least(0);
  list.add("minimum_count", minimum_count,
           "characters and words that training saw less often are unknown")
      .at_least(1);
  list.add("maximum_length", maximum_length,
           "training pairs with more tokens on a side are left out; 0: no limit")
      .at_least(0);
  list.add("minimum_length", minimum_length,
           "training pairs with fewer tokens on a side are left out")
      .at_least(0);
  list.add("maximum_ratio", maximum_ratio,
           "training pairs with one side longer than this many times the other are left out; 0: "
           "no limit")
      .at_least(0);
  describe_held_out(list, validation_fraction, "training pairs");
  list.add("direction", direction,
           "languages from-to, for example de-en: chooses files by their names");
  list.add("swap", swap, "the second column of a TSV is the source");
  list.add("test", test, "what the name of the test file in a folder begins with; empty: test");
}

Splits tokenise_splits(SplitRows<TextPair> pairs, const PairsOptions& options,
                       PairTokenisers& tokenisers) {
  const auto fit = [&](const SplitRows<TextPair>& rows, Notes& notes) {
    if (tokenisers.source == nullptr) learn_tokenisers(rows.train, options, tokenisers);
    const auto describe = [](const Tokeniser& tokeniser) {
      return concat(tokeniser.kind(), ", ", format_count(tokeniser.vocabulary().size()),
                    " symbols");
    };
    notes.push_back(tokenisers.source == tokenisers.target
                        ? concat("both sides: ", describe(*tokenisers.source))
                        : concat("source: ", describe(*tokenisers.source),
                                 "; target: ", describe(*tokenisers.target)));
  };
  return encode_splits(pairs, fit, [&](Rows<TextPair> rows, Split split, Notes& notes) {
    LengthFilter filter{options};
    KeepLengths keep;
    if (split == kTrain)
      keep = [&](int64_t source, int64_t target) { return filter.keep(source, target); };
    auto encoded = std::make_shared<PairDataset>(
        encode_pairs(std::move(rows), *tokenisers.source, *tokenisers.target, keep),
        tokenisers.source, tokenisers.target);
    if (!filter.note().empty()) notes.push_back(filter.note());
    require(encoded->size() > 0, ErrorKind::BadData, "no training pair is left (", filter.note(),
            "); change maximum_length, minimum_length or maximum_ratio");
    return encoded;
  });
}

void write_pairs(const std::filesystem::path& folder, const SplitRows<TextPair>& pairs,
                 const std::string& task, const Json& generator) {
  write_splits(folder, pairs, ".tsv",
               [&](const std::vector<TextPair>& rows, const std::string& name) {
                 return format_tsv(rows, (folder / (name + ".tsv")).string());
               });
  write_description(folder, task, generator);
}

}  // namespace fovea
