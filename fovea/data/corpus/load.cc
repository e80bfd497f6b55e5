#include "fovea/data/corpus/load.h"

#include "fovea/base/error.h"
#include "fovea/data/corpus/reader.h"
#include "fovea/data/tokenisers/wordpiece.h"

namespace fovea {

namespace {

using Documents = SplitRows<Document>;

constexpr const char* kStreams[kSplitCount] = {"train", "validation", "test"};  // of numbers

Documents draw_rows(const SyntheticCorpusOptions& options) {
  Documents documents = draw_corpus(options);
  documents.hash = hash_of_built_in("pretrain", options_json(options));
  return documents;
}

Documents read_rows(const DataSource& source, const PretrainDataOptions& options,
                    bool needs_training, uint64_t seed) {
  const SplitOptions split{"pretrain", source.whole ? 0 : options.validation_fraction, seed,
                           needs_training};
  return open_corpus(source, split,
                     {.documents = options.documents, .sentences = options.sentences});
}

std::shared_ptr<const WordPiece> learn_tokeniser(const Rows<Document>& documents,
                                                 const PretrainDataOptions& options) {
  WordCounts words({.lowercase = options.lowercase});
  documents.for_each([&](const Document& document) {
    for (const std::string& sentence : document) words.add(sentence);
  });
  return std::make_shared<const WordPiece>(WordPiece::learn(
      words, {.size = options.vocabulary_size, .minimum_count = options.minimum_count}));
}

}  // namespace

void PretrainDataOptions::describe(OptionList& list) {
  generator.describe(list);
  segments.describe(list);
  list.add("documents", documents,
           "text files: blank lines stand between documents, or each line is one")
      .choices({"blank_lines", "lines"});
  list.add("sentences", sentences,
           "each line is one, or cut by Unicode's rules; auto: lines where blank lines separate "
           "documents, else cut")
      .choices({"auto", "lines", "cut"});
  list.add("lowercase", lowercase, "upper and lower case, and accents, make no difference");
  list.add("vocabulary_size", vocabulary_size, "most pieces that are learned").at_least(10);
  list.add("minimum_count", minimum_count, "pieces seen less often together are not joined")
      .at_least(1);
  describe_held_out(list, validation_fraction, "documents");
}

Splits load_pretraining(const DataSource& source, const PretrainDataOptions& options,
                        std::shared_ptr<const PieceTokeniser>& tokeniser, uint64_t seed) {
  if (source.path.empty()) check_roles(source, {});
  Documents documents = source.path.empty() ? draw_rows(options.generator)
                                            : read_rows(source, options, !tokeniser, seed);
  require(!options.segments.next_sentence || documents.train.size() != 1, ErrorKind::BadData,
          source.path.string(),
          ": holds one document, and nothing else to draw a next segment from; put an empty line "
          "between documents, set data.documents=lines, or data.next_sentence=no");
  const auto fit = [&](const Documents& rows, Notes& notes) {
    if (tokeniser) return;
    tokeniser = learn_tokeniser(rows.train, options);
    notes.push_back(concat("vocabulary: ", format_count(tokeniser->size()),
                           " pieces, learned from ", format_count(rows.train.size()),
                           " documents"));
  };
  const Random random = Random(seed).split("segments");
  return encode_splits(documents, fit, [&](Rows<Document> rows, Split split, Notes&) {
    auto data = std::make_shared<SegmentDataset>(
        tokenise(std::move(rows), *tokeniser, options.segments), tokeniser, options.segments,
        random.split(kStreams[split]));
    return data->size() > 0 ? data : nullptr;
  });
}

void write_corpus_data(const std::filesystem::path& folder, const SyntheticCorpusOptions& options) {
  write_splits(folder, draw_corpus(options), ".txt", [](const std::vector<Document>& rows) {
    std::string content;
    for (const Document& document : rows) content += join(document, "\n") + "\n\n";
    return content;
  });
  write_description(folder, "pretrain", options_json(options));
}

}  // namespace fovea
