#include "fovea/data/tags/load.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/labels.h"
#include "fovea/data/tags/reader.h"

namespace fovea {

namespace {

constexpr LabelWords kWords{"sentence", "tag", "NUMBER"};

using Sentences = SplitRows<TaggedSentence>;

/// Truth, by the words with blanks between them: a word, and one that decides its tag.
Sentences draw_sentences(const TagsOptions& options, Decisive& decisive) {
  TagsDraw draw = draw_tags(options);
  Sentences sentences;
  const auto take = [&](std::vector<TagsRow>& part, std::vector<TaggedSentence>& to) {
    for (TagsRow& row : part) {
      if (!row.decisive.empty()) decisive[join(row.sentence.words, " ")] = row.decisive;
      to.push_back(std::move(row.sentence));
    }
  };
  take(draw.train, sentences.train);
  take(draw.validation, sentences.validation);
  take(draw.test, sentences.test);
  sentences.hash = hash_of_built_in("tag", options_json(options));
  sentences.notes = std::move(draw.notes);
  return sentences;
}

Sentences open_sentences(const DataSource& source, const TaggingDataOptions& options,
                         bool needs_training, uint64_t seed, Decisive& decisive) {
  const SplitOptions split{.task = "tag",
                           .fraction = options.validation_fraction,
                           .seed = seed,
                           .needs_training = needs_training};
  TaggedTextOptions reading;
  reading.separator = options.separator;
  reading.scheme = options.scheme;
  Sentences sentences = open_tagged_text(source, split, reading);
  decisive = read_decisive(source.path, "[word, word that decides]");
  return sentences;
}

/// Of entities O, then B- and I- of each type, whether the data has both or not.
void fit_tags(Sentences& read, TagCoding& coding, std::vector<std::string>& notes) {
  LabelSet found(kWords);
  for (int part = 0; part < kSplitCount; ++part)
    for (const TaggedSentence& sentence : read[part])
      for (const std::string& tag : sentence.tags)
        found.add(coding.entities && tag != "O" ? tag.substr(2) : tag, part);
  for (const std::string& note : found.notes()) notes.push_back(note);
  if (!coding.entities) {
    coding.tags.assign(found.all().begin(), found.all().end());
    return;
  }
  coding.tags = {"O"};
  for (const std::string& type : found.all())
    if (type != "O") coding.tags.insert(coding.tags.end(), {"B-" + type, "I-" + type});
}

std::shared_ptr<const WordPiece> learn_tokeniser(const std::vector<Sentence>& train,
                                                 const TaggingDataOptions& options) {
  WordCounts words({.lowercase = options.lowercase});
  for (const Sentence& sentence : train) words.add(sentence.text);
  return std::make_shared<const WordPiece>(
      WordPiece::learn(words, {.size = options.vocabulary_size}));
}

/// Links that leave the sentence are those of another file.
void check_links(const Decisive::mapped_type& links, size_t words, const std::string& text) {
  for (const auto& [word, decides] : links)
    require(word >= 0 && decides >= 0 && size_t(word) < words && size_t(decides) < words,
            ErrorKind::BadData, "the planted truth of '", text, "' names word ",
            std::max(word, decides), ", but it has ", words, " words");
}

std::vector<Sentence> sentences_of(std::vector<TaggedSentence>& tagged, const TagCoding& coding,
                                   const Decisive& decisive, int part) {
  std::vector<Sentence> sentences;
  for (TaggedSentence& one : tagged) {
    Sentence sentence = sentence_of(std::move(one.words));
    for (const std::string& tag : one.tags)
      sentence.tags.push_back(number_of(tag, coding.tags, part, kWords));
    if (const auto known = decisive.find(sentence.text); known != decisive.end()) {
      check_links(known->second, sentence.words.size(), sentence.text);
      sentence.decisive = known->second;
    }
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

}  // namespace

void TaggingDataOptions::describe(OptionList& list, bool pieces) {
  generator.describe(list);
  list.add("scheme", scheme,
           "entities: tags are IOB1, IOB2, IOBES or BILOU and become IOB2; plain: tags are taken "
           "as they stand (then monitor token_accuracy)")
      .choices({"entities", "plain"});
  list.add("separator", separator, "between the columns; auto: a tab where a line has one")
      .choices({"auto", "tab", "blanks"});
  list.add("validation_fraction", validation_fraction,
           "share of the training sentences held out when the data has no validation part")
      .at_least(0)
      .below(1);
  if (!pieces) {
    list.add("minimum_count", minimum_count, "words that training saw less often are unknown")
        .at_least(1);
    return;
  }
  packing.describe(list);
  list.add("vocabulary_size", vocabulary_size,
           "most pieces of a vocabulary that is learned from the training sentences")
      .at_least(100);
  list.add("lowercase", lowercase, "a vocabulary that is learned knows no case and no accents");
}

std::shared_ptr<const SentenceEncoder> TagCoding::encoder(const TaggingDataOptions& options) const {
  if (words) return words;
  return std::make_shared<const PieceEncoder>(tokeniser, options.packing);
}

Json TagCoding::to_json() const {
  return {{"tags", tags}, {"entities", entities}};
}

TagCoding TagCoding::from_json(const Json& json, const std::string& where) {
  TagCoding coding;
  const Field root = Field::root(json, where);
  coding.tags = root.at("tags").texts();
  coding.entities = root.at("entities").mark();
  require(!coding.tags.empty(), ErrorKind::BadData, where, ": has no tags");
  return coding;
}

Splits load_tagging(const DataSource& source, const TaggingDataOptions& options, bool pieces,
                    TagCoding& coding, uint64_t seed) {
  Decisive decisive;
  if (source.path.empty()) check_roles(source, {});
  Sentences read = source.path.empty()
                       ? draw_sentences(options.generator, decisive)
                       : open_sentences(source, options, !coding.fitted(), seed, decisive);
  Splits splits;
  splits.hash = read.hash;
  splits.notes = read.notes;
  if (!coding.fitted()) {
    coding.entities = options.scheme == "entities";
    fit_tags(read, coding, splits.notes);
    splits.notes.push_back(concat(coding.tags.size(), " tags: ", join(coding.tags)));
  }
  std::vector<Sentence> parts[kSplitCount];
  for (int part = 0; part < kSplitCount; ++part)
    parts[part] = sentences_of(read[part], coding, decisive, part);
  if (pieces && !coding.tokeniser) coding.tokeniser = learn_tokeniser(parts[kTrain], options);
  if (!pieces && !coding.words)
    coding.words = std::make_shared<const WordEncoder>(
        WordEncoder::learn(parts[kTrain], options.minimum_count));
  splits.notes.push_back(pieces ? concat(format_count(coding.tokeniser->size()), " pieces")
                                : concat(format_count(coding.words->words().size()), " words, ",
                                         format_count(coding.words->letters().size()), " letters"));
  const auto encode = [&](int part) -> std::shared_ptr<Dataset> {
    if (parts[part].empty()) return nullptr;
    return std::make_shared<SentenceDataset>(std::move(parts[part]), coding.encoder(options),
                                             place_of(source, part, "the built-in sentences"));
  };
  splits.train = encode(kTrain);
  splits.validation = encode(kValidation);
  splits.test = encode(kTest);
  return splits;
}

void write_tagging_data(const std::filesystem::path& folder, const TaggingDataOptions& options) {
  Decisive decisive;
  const Sentences sentences = draw_sentences(options.generator, decisive);
  make_folder(folder);
  const auto write = [&](const char* name, const std::vector<TaggedSentence>& part) {
    if (!part.empty()) write_file(folder / name, format_tagged_text(part));
  };
  write("train.tsv", sentences.train);
  write("val.tsv", sentences.validation);
  write("test.tsv", sentences.test);
  write_description(folder, "tag", options_json(options.generator),
                    {{"truth", decisive_json(decisive)}});
}

}  // namespace fovea
