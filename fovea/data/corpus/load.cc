#include "fovea/data/corpus/load.h"

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/corpus/reader.h"

namespace fovea {

namespace {

using Documents = SplitRows<Document>;

Documents draw_documents(const DataSource& source, const StoriesOptions& options) {
  check_roles(source, {});
  StoriesDraw drawn = draw_stories(options);
  ContentHash hash;
  hash.add("stories " + options_json(options).dump());
  for (const auto& story : drawn.train)
    for (const std::string& sentence : story) hash.add(sentence);
  return {std::move(drawn.train), std::move(drawn.validation), std::move(drawn.test), hash.text(),
          std::move(drawn.notes)};
}

Documents read_documents(const DataSource& source, const PretrainDataOptions& options,
                         bool needs_training, uint64_t seed) {
  if (source.path.empty()) return draw_documents(source, options.generator);
  const SplitOptions split{.task = "pretrain",
                           .fraction = source.whole ? 0 : options.validation_fraction,
                           .seed = seed,
                           .needs_training = needs_training};
  return open_corpus(source, split,
                     {.documents = options.documents, .sentences = options.sentences});
}

std::shared_ptr<const WordPiece> learn(const std::vector<Document>& documents,
                                       const PretrainDataOptions& options) {
  WordCounts words({.lowercase = options.lowercase});
  for (const Document& document : documents)
    for (const std::string& sentence : document) words.add(sentence);
  return std::make_shared<const WordPiece>(WordPiece::learn(
      words, {.size = options.vocabulary_size, .minimum_count = options.minimum_count}));
}

void write_documents(const std::filesystem::path& path, const std::vector<Story>& stories) {
  AtomicFile file(path);
  for (const auto& story : stories) {
    for (const std::string& sentence : story) file.write(sentence + "\n");
    file.write("\n");
  }
  file.commit();
}

}  // namespace

void PretrainDataOptions::describe(OptionList& list) {
  generator.describe(list);
  segments.describe(list);
  list.add("documents", documents,
           "text files: blank lines stand between documents, or each line is one")
      .choices({"blank_lines", "lines"});
  list.add("sentences", sentences,
           "each line is one, or cut by Unicode's rules; auto: lines where blank lines part "
           "documents, else cut")
      .choices({"auto", "lines", "cut"});
  list.add("lowercase", lowercase, "upper and lower case, and accents, make no difference");
  list.add("vocabulary_size", vocabulary_size, "most pieces that are learned").at_least(10);
  list.add("minimum_count", minimum_count, "pieces seen less often together are not joined")
      .at_least(1);
  list.add("validation_fraction", validation_fraction,
           "share of the documents held out when the data has no validation part")
      .at_least(0)
      .below(1);
}

Splits load_pretraining(const DataSource& source, const PretrainDataOptions& options,
                        std::shared_ptr<const WordPiece>& tokeniser, uint64_t seed) {
  Documents texts = read_documents(source, options, tokeniser == nullptr, seed);
  require(!options.segments.next_sentence || texts.train.size() != 1, ErrorKind::BadData,
          source.path.string(),
          ": holds one document, and nothing else to draw a next segment from; put an empty line "
          "between documents, set data.documents=lines, or data.next_sentence=no");
  Splits splits;
  splits.hash = texts.hash;
  splits.notes = texts.notes;
  if (!tokeniser) {
    tokeniser = learn(texts.train, options);
    splits.notes.push_back(concat("vocabulary: ", format_count(tokeniser->size()),
                                  " pieces, learned from ",
                                  format_count(int64_t(texts.train.size())), " documents"));
  }
  const Random random = Random(seed).split("segments");
  const auto rows_of = [&](const std::vector<Document>& documents,
                           const char* part) -> std::shared_ptr<Dataset> {
    if (documents.empty()) return nullptr;
    auto rows = std::make_shared<SegmentDataset>(tokenise(documents, *tokeniser, options.segments),
                                                 tokeniser, options.segments, random.split(part));
    return rows->size() > 0 ? rows : nullptr;
  };
  splits.train = rows_of(texts.train, "train");
  splits.validation = rows_of(texts.validation, "validation");
  splits.test = rows_of(texts.test, "test");
  return splits;
}

void write_stories(const std::filesystem::path& folder, const StoriesOptions& options) {
  const StoriesDraw drawn = draw_stories(options);
  make_folder(folder);
  write_documents(folder / "train.txt", drawn.train);
  if (!drawn.validation.empty()) write_documents(folder / "val.txt", drawn.validation);
  if (!drawn.test.empty()) write_documents(folder / "test.txt", drawn.test);
  write_description(folder, "pretrain", options_json(options));
}

}  // namespace fovea
