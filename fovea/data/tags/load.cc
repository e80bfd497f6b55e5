#include "fovea/data/tags/load.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/corpus/text_words.h"
#include "fovea/data/labels.h"
#include "fovea/data/tags/reader.h"
#include "fovea/data/tokenisers/wordpiece.h"

namespace fovea {

namespace {

constexpr LabelWords kTagWords{"sentence", "tag", "NUMBER"};

using Sentences = SplitRows<TaggedSentence>;

Sentences draw_sentences(const SyntheticTagsOptions& options) {
  Sentences sentences = draw_tags(options);
  sentences.hash = hash_of_built_in("tag", options_json(options));
  return sentences;
}

/// Pairs that leave the sentence are those of another file.
void check_decisive(const TaggedSentence& sentence, const std::string& text) {
  const size_t words = sentence.words.size();
  for (const auto& [word, decides] : sentence.decisive)
    require(word >= 0 && decides >= 0 && size_t(word) < words && size_t(decides) < words,
            ErrorKind::BadData, "the planted truth of '", text, "' names word ",
            std::max(word, decides), ", but it has ", words, " words");
}

Sentences open_sentences(const DataSource& source, const TaggingDataOptions& options,
                         bool needs_training, uint64_t seed) {
  const SplitOptions split{"tag", options.validation_fraction, seed, needs_training};
  TaggedTextOptions reading;
  reading.separator = options.separator;
  reading.scheme = options.scheme;
  Sentences sentences = open_tagged_text(source, split, reading);
  const Decisive decisive = read_decisive(source.path, "[word, word that decides]");
  if (decisive.empty()) return sentences;
  sentences.transform([decisive](TaggedSentence& sentence) {
    const std::string text = join(sentence.words, " ");
    const auto known = decisive.find(text);
    if (known == decisive.end()) return;
    sentence.decisive = known->second;
    check_decisive(sentence, text);
  });
  return sentences;
}

/// Of entities O, then B- and I- of each type, whether the data has both or not.
void fit_tags(const Sentences& rows, TagCoding& coding, Notes& notes) {
  LabelSet found(kTagWords);
  rows.for_each([&](const TaggedSentence& sentence, Split split) {
    for (const std::string& tag : sentence.tags)
      found.add(coding.entities && tag != "O" ? tag.substr(2) : tag, split);
  });
  for (const std::string& note : found.notes()) notes.push_back(note);
  if (!coding.entities) {
    coding.tags.assign(found.all().begin(), found.all().end());
    return;
  }
  coding.tags = {"O"};
  for (const std::string& type : found.all())
    if (type != "O") coding.tags.insert(coding.tags.end(), {"B-" + type, "I-" + type});
}

/// Word vectors of the files, and of the training sentences.
TextVectors learn_vectors(const Rows<TaggedSentence>& train, const std::vector<std::string>& files,
                          const TagLoading& loading, Notes& notes) {
  int64_t done = 0;
  const auto step = [&] {
    if (loading.progress) loading.progress(++done, int64_t(files.size()) + kTextVectorSteps);
  };
  WordSequences texts;
  train.for_each([&](const TaggedSentence& sentence) { texts.add(sentence.words); });
  add_texts(files, texts, step);
  TextVectors vectors = learn_text_vectors(texts, Random(loading.seed).split("text vectors"), step);
  notes.push_back(concat("word vectors: ", format_count(vectors.words.size()),
                         " words, learned from ", format_count(texts.size()), " words of ",
                         files.size(), files.size() == 1 ? " file" : " files",
                         " and the training sentences"));
  return vectors;
}

/// What the model reads by, where it is not there yet.
void learn_tag_coding(const Rows<TaggedSentence>& train, const TaggingDataOptions& options,
                      const TagLoading& loading, TagCoding& coding, Notes& notes) {
  if (loading.pieces) {
    if (!coding.tokeniser)
      coding.tokeniser = options.vocabulary.learn([&](WordCounts& words) {
        train.for_each([&](const TaggedSentence& row) { words.add(join(row.words, " ")); });
      });
    notes.push_back(concat(format_count(coding.tokeniser->size()), " pieces"));
    return;
  }
  if (!coding.words) {
    WordEncoder words = WordEncoder::learn(
        Rows(train).map<Sentence>([](TaggedSentence&& row) { return sentence_of(row.words); }),
        options.minimum_count);
    if (!options.texts.empty()) {
      TextVectors vectors = learn_vectors(train, options.texts, loading, notes);
      coding.vectors = vectors.vectors;
      words.add_vectors(std::move(vectors.words));
    }
    coding.words = std::make_shared<const WordEncoder>(std::move(words));
  }
  notes.push_back(concat(format_count(coding.words->words().size()), " words, ",
                         format_count(coding.words->letters().size()), " letters"));
}

Rows<Sentence> to_sentences(Rows<TaggedSentence> rows, const TagCoding& coding, Split split) {
  return std::move(rows).map<Sentence>([&coding, split](TaggedSentence&& row) {
    Sentence sentence = sentence_of(std::move(row.words));
    for (const std::string& tag : row.tags)
      sentence.tags.push_back(label_index(tag, coding.tags, split, kTagWords));
    sentence.decisive = std::move(row.decisive);
    return sentence;
  });
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
  describe_held_out(list, validation_fraction, "training sentences");
  if (!pieces) {
    list.add("minimum_count", minimum_count, "words that training saw less often are unknown")
        .at_least(1);
    list.add("texts", texts,
             "files of texts without tags, FILE,FILE: word vectors are learned from them and from "
             "the training sentences, and tell what a word may be that training never saw; .txt, "
             "or the column text of .csv, .tsv, .jsonl");
    return;
  }
  packing.describe(list);
  vocabulary.describe(list, "training sentences");
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

Splits load_tagging(const DataSource& source, const TaggingDataOptions& options,
                    const TagLoading& loading, TagCoding& coding) {
  if (source.path.empty()) check_roles(source, {});
  Sentences sentences = source.path.empty()
                            ? draw_sentences(options.generator)
                            : open_sentences(source, options, !coding.fitted(), loading.seed);
  const auto fit = [&](const Sentences& rows, Notes& notes) {
    if (!coding.fitted()) {
      coding.entities = options.scheme == "entities";
      fit_tags(rows, coding, notes);
      notes.push_back(concat(coding.tags.size(), " tags: ", join(coding.tags)));
    }
    learn_tag_coding(rows.train, options, loading, coding, notes);
  };
  return encode_splits(sentences, fit, [&](Rows<TaggedSentence> rows, Split split, Notes&) {
    return std::make_shared<SentenceDataset>(to_sentences(std::move(rows), coding, split),
                                             coding.encoder(options),
                                             place_of(source, split, "the synthetic sentences"));
  });
}

void write_tagging_data(const std::filesystem::path& folder, const TaggingDataOptions& options) {
  const Sentences sentences = draw_sentences(options.generator);
  write_splits(folder, sentences, ".tsv",
               [](const std::vector<TaggedSentence>& rows) { return format_tagged_text(rows); });
  Decisive decisive;
  sentences.for_each([&](const TaggedSentence& row, Split) {
    if (!row.decisive.empty()) decisive[join(row.words, " ")] = row.decisive;
  });
  write_description(folder, "tag", options_json(options.generator),
                    {{"truth", decisive_json(decisive)}});
}

}  // namespace fovea
