#include "fovea/data/tagging_data.h"

#include <algorithm>
#include <map>
#include <set>

#include "fovea/core/error.h"
#include "fovea/core/file.h"
#include "fovea/data/readers/tagged_text.h"

namespace fovea {

namespace {

constexpr size_t kMostTags = 1000;
constexpr const char* kPartNames[kParts] = {"training", "validation", "test"};

using Links = std::vector<std::pair<int64_t, int64_t>>;
using Decisive = std::map<std::string, Links>;  // by the words, joined by blanks
using Sentences = TextParts<TaggedSentence>;

Json generator_json(TagsOptions options) {
  OptionList list;
  options.describe(list);
  return list.to_json();
}

/// dataset.json: "truth": {"decisive": {sentence: [[word, word that decides], …]}}.
Decisive read_truth(const std::filesystem::path& path) {
  Decisive decisive;
  if (!std::filesystem::exists(path)) return decisive;
  const Json description = read_json_file(path);
  if (!description.contains("truth")) return decisive;
  try {
    for (const auto& [text, links] : description.at("truth").at("decisive").items())
      for (const Json& link : links)
        decisive[text].emplace_back(link.at(0).get<int64_t>(), link.at(1).get<int64_t>());
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::BadData, path.string(),
         ": \"truth\" must be {\"decisive\": {sentence: [[word, word that decides], …]}}");
  }
  return decisive;
}

Sentences draw_sentences(const TaggingDataOptions& options, Decisive& decisive) {
  TagsDraw draw = draw_tags(options.generator);
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
  ContentHash hash;
  hash.add(concat("tag ", generator_json(options.generator).dump()));
  sentences.hash = hash.text();
  sentences.notes = std::move(draw.notes);
  return sentences;
}

Sentences open_sentences(const DataSource& source, const TaggingDataOptions& options,
                         bool needs_training, uint64_t seed, Decisive& decisive) {
  SplitOptions split;
  split.task = "tag";
  split.fraction = options.validation_fraction;
  split.seed = seed;
  split.needs_training = needs_training;
  TaggedTextOptions reading;
  reading.separator = options.separator;
  reading.scheme = options.scheme;
  Sentences sentences = open_tagged_text(source, split, reading);
  if (std::filesystem::is_directory(source.path))
    decisive = read_truth(source.path / "dataset.json");
  return sentences;
}

/// Of entities O, then B- and I- of each type, whether the data has both or not. Of all parts: a
/// tag that only validation has is still one, if a note says so.
void fit_tags(Sentences& read, TagCoding& coding, std::vector<std::string>& notes) {
  std::set<std::string> found, trained;
  for (int part = 0; part < kParts; ++part)
    for (const TaggedSentence& sentence : read[part])
      for (const std::string& tag : sentence.tags) {
        const std::string type = coding.entities && tag != "O" ? tag.substr(2) : tag;
        found.insert(type);
        if (part == kTrain) trained.insert(type);
        require(found.size() <= kMostTags, ErrorKind::BadData, "the tags have more than ",
                kMostTags, " different values, such as '", tag,
                "'; say with --columns tag=NUMBER which column holds them");
      }
  for (const std::string& type : found)
    if (!trained.contains(type))
      notes.push_back(concat("no training sentence has the tag '", type, "'"));
  if (!coding.entities) {
    coding.tags.assign(found.begin(), found.end());
    return;
  }
  coding.tags = {"O"};
  for (const std::string& type : found)
    if (type != "O") coding.tags.insert(coding.tags.end(), {"B-" + type, "I-" + type});
}

std::shared_ptr<const WordPiece> learn_tokeniser(const std::vector<Sentence>& train,
                                                 const TaggingDataOptions& options) {
  WordPieceOptions cutting;
  cutting.lowercase = options.lowercase;
  WordCounts words(cutting);
  for (const Sentence& sentence : train) words.add(sentence.text);
  WordPieceLearning learning;
  learning.size = options.vocabulary_size;
  return std::make_shared<const WordPiece>(WordPiece::learn(words, learning));
}

int64_t number_of(const std::string& tag, const TagCoding& coding, const char* part) {
  const auto found = std::find(coding.tags.begin(), coding.tags.end(), tag);
  require(found != coding.tags.end(), ErrorKind::BadData, "a ", part, " sentence has the tag '",
          tag, "', which the run does not know; it knows: ", join(coding.tags));
  return found - coding.tags.begin();
}

/// Links that leave the sentence are those of another file.
void check_links(const Links& links, size_t words, const std::string& text) {
  for (const auto& [word, decides] : links)
    require(word >= 0 && decides >= 0 && size_t(word) < words && size_t(decides) < words,
            ErrorKind::BadData, "the planted truth of '", text, "' names word ",
            std::max(word, decides), ", but it has ", words, " words");
}

std::vector<Sentence> sentences_of(std::vector<TaggedSentence>& tagged, const TagCoding& coding,
                                   const Decisive& decisive, const char* part) {
  std::vector<Sentence> sentences;
  for (TaggedSentence& one : tagged) {
    Sentence sentence = sentence_of(std::move(one.words));
    for (const std::string& tag : one.tags) sentence.tags.push_back(number_of(tag, coding, part));
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
  frames.describe(list);
  list.add("vocabulary_size", vocabulary_size,
           "most pieces of a vocabulary that is learned from the training sentences")
      .at_least(100);
  list.add("lowercase", lowercase, "a vocabulary that is learned knows no case and no accents");
}

std::shared_ptr<const SentenceEncoder> TagCoding::encoder(const TaggingDataOptions& options) const {
  if (words) return words;
  return std::make_shared<const PieceEncoder>(tokeniser, options.frames);
}

Json TagCoding::to_json() const {
  return {{"tags", tags}, {"entities", entities}};
}

TagCoding TagCoding::from_json(const Json& json, const std::string& where) {
  TagCoding coding;
  try {
    coding.tags = json.at("tags").get<std::vector<std::string>>();
    coding.entities = json.at("entities").get<bool>();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::BadData, where, ": expected {\"tags\": [texts], \"entities\": true or false}");
  }
  require(!coding.tags.empty(), ErrorKind::BadData, where, ": has no tags");
  return coding;
}

Splits load_tagging(const DataSource& source, const TaggingDataOptions& options, bool pieces,
                    TagCoding& coding, uint64_t seed) {
  Decisive decisive;
  if (source.path.empty()) check_roles(source, {});
  Sentences read = source.path.empty()
                       ? draw_sentences(options, decisive)
                       : open_sentences(source, options, !coding.fitted(), seed, decisive);
  Splits splits;
  splits.hash = read.hash;
  splits.notes = read.notes;
  if (!coding.fitted()) {
    coding.entities = options.scheme == "entities";
    fit_tags(read, coding, splits.notes);
    splits.notes.push_back(concat(coding.tags.size(), " tags: ", join(coding.tags)));
  }
  std::vector<Sentence> parts[kParts];
  for (int part = 0; part < kParts; ++part)
    parts[part] = sentences_of(read[part], coding, decisive, kPartNames[part]);
  if (pieces && !coding.tokeniser) coding.tokeniser = learn_tokeniser(parts[kTrain], options);
  if (!pieces && !coding.words)
    coding.words = std::make_shared<const WordEncoder>(
        WordEncoder::learn(parts[kTrain], options.minimum_count));
  splits.notes.push_back(pieces ? concat(format_count(coding.tokeniser->size()), " pieces")
                                : concat(format_count(coding.words->words().size()), " words, ",
                                         format_count(coding.words->letters().size()), " letters"));
  const auto encode = [&](int part) -> std::shared_ptr<Dataset> {
    if (parts[part].empty()) return nullptr;
    return std::make_shared<SentenceDataset>(
        std::move(parts[part]), coding.encoder(options),
        source.path.empty() ? "the built-in sentences"
                            : concat(source.path.string(), " (", kPartNames[part], ")"));
  };
  splits.train = encode(kTrain);
  splits.validation = encode(kValidation);
  splits.test = encode(kTest);
  return splits;
}

void write_tagging_data(const std::filesystem::path& folder, const TaggingDataOptions& options) {
  const TagsDraw draw = draw_tags(options.generator);
  make_folder(folder);
  Json decisive = Json::object();
  const auto write = [&](const char* name, const std::vector<TagsRow>& part) {
    if (part.empty()) return;
    std::string text;
    for (const TagsRow& row : part) {
      const TaggedSentence& sentence = row.sentence;
      for (size_t word = 0; word < sentence.words.size(); ++word)
        text += concat(sentence.words[word], "\t", sentence.tags[word], "\n");
      text += "\n";
      if (row.decisive.empty()) continue;
      Json& links = decisive[join(sentence.words, " ")] = Json::array();
      for (const auto& [word, decides] : row.decisive) links.push_back({word, decides});
    }
    write_file(folder / name, text);
  };
  write("train.tsv", draw.train);
  write("val.tsv", draw.validation);
  write("test.tsv", draw.test);
  write_json_file(folder / "dataset.json", Json{{"format", "fovea-dataset"},
                                                {"version", 1},
                                                {"task", "tag"},
                                                {"truth", {{"decisive", decisive}}},
                                                {"generator", generator_json(options.generator)}});
}

}  // namespace fovea
