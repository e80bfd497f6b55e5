#include "fovea/data/tags/synthetic.h"

#include "fovea/base/error.h"
#include "fovea/data/dice.h"

namespace fovea {

namespace {

enum Type : size_t { kPerson, kPlace, kOrganisation, kProduct, kTypes };
constexpr const char* kTypeNames[kTypes] = {"person", "place", "organisation", "product"};

/// Words that decide: what only a person, a place, … can have.
constexpr const char* kCues[kTypes][12] = {
    {"childhood", "mother", "smile", "hair", "marriage", "cousin", "knee", "diary", "voice",
     "birthday", "uncle", "handwriting"},
    {"harbour", "streets", "suburbs", "climate", "inhabitants", "bridges", "airport", "coast",
     "valleys", "mayor", "railway", "beaches"},
    {"shareholders", "employees", "headquarters", "takeover", "founders", "chairman", "lawyers",
     "quarterly report", "board", "subsidiaries", "revenue", "payroll"},
    {"battery", "screen", "charger", "price tag", "warranty", "packaging", "manual", "keyboard",
     "spare parts", "serial number", "firmware", "buttons"}};

/// Names that can be anything, of one or two words.
constexpr const char* kAmbiguous[] = {"Jordan",      "Paris",   "Phoenix",  "Lincoln", "Austin",
                                      "Florence",    "Madison", "Sydney",   "Georgia", "Dakota",
                                      "Amazon",      "Jaguar",  "Mercury",  "Orion",   "Savannah",
                                      "Chelsea",     "Vienna",  "Victoria", "Orange",  "Santa Rosa",
                                      "Saint Clair", "Del Rey", "Eden",     "Avalon"};

/// Names whose own words say what they are; {} is one of kStems.
constexpr const char* kClear[kTypes][5] = {
    {"Nurse {}", "Professor {}", "Uncle {}", "Captain {}", "Sister {}"},
    {"Lake {}", "Mount {}", "{} Island", "{} Valley", "Cape {}"},
    {"{} Ltd", "{} Bank", "Bank of {}", "{} & Sons", "{} Holding"},
    {"{} 3000", "{} Mini", "{} Pro", "{} Turbo", "{} Deluxe"}};
constexpr const char* kStems[] = {"Okafor", "Tarn",  "Brandt", "Silva", "Kimura", "Novak",
                                  "Hollis", "Ferro", "Quint",  "Adler", "Moreno", "Lindqvist"};

/// Clauses around a name {name} and the word {cue}; the rest fits every type.
constexpr const char* kClauses[] = {
    "the {cue} of {name} surprised everyone",
    "we talked about the {cue} of {name}",
    "nobody mentioned {name} or its {cue}",
    "{name} , whose {cue} we had seen before , was mentioned again",
    "of {name} we remember only the {cue}",
    "the {cue} that the papers described was that of {name}",
    "she wrote about {name} and in particular about the {cue}",
    "when they asked about {name} he described the {cue} at length",
    "there was a picture of {name} , but the {cue} could not be seen"};

/// Clauses with such a word and no name: the word alone means nothing.
constexpr const char* kPlainClauses[] = {"the {cue} was forgotten", "nobody wrote about a {cue}",
                                         "it was a story about some {cue}",
                                         "they argued about the {cue} for hours"};

constexpr const char* kOpenings[] = {"yesterday", "in the end", "as usual", "last week",
                                     "to our surprise"};
constexpr const char* kJoints[] = {"and", "while", "because", "although", "but"};

/// `text` with `what` in the place of `slot`.
std::string filled(std::string text, const std::string& slot, const std::string& what) {
  return text.replace(text.find(slot), slot.size(), what);
}

class SentenceWriter {
 public:
  SentenceWriter(const SyntheticTagsOptions& options, const Random& random)
      : options_(options), dice_(random) {}

  TaggedSentence write() {
    if (dice_.chance(0.4)) add_words(dice_.pick(kOpenings));
    const size_t clauses = 1 + dice_.below(size_t(options_.maximum_clauses));
    const size_t with_name = dice_.below(clauses);  // at least this one has a name
    for (size_t i = 0; i < clauses; ++i) {
      if (i > 0) add_words(dice_.pick(kJoints));
      if (i == with_name || dice_.chance(0.7)) {
        add_clause();
      } else {
        const size_t type = dice_.below(kTypes);
        add_words(filled(dice_.pick(kPlainClauses), "{cue}", dice_.pick(kCues[type])));
      }
    }
    add_words(".");
    return std::move(sentence_);
  }

 private:
  void add_word(const std::string& word, const std::string& tag) {
    sentence_.words.push_back(word);
    sentence_.tags.push_back(tag);
  }

  void add_words(const std::string& text) {
    for (const std::string& word : split(text, ' ')) add_word(word, "O");
  }

  void add_clause() {
    const size_t type = dice_.below(kTypes);
    const bool ambiguous = dice_.chance(options_.ambiguous);
    const std::string name = ambiguous ? std::string(dice_.pick(kAmbiguous))
                                       : filled(dice_.pick(kClear[type]), "{}", dice_.pick(kStems));
    const std::string cue = dice_.pick(kCues[type]);
    std::vector<int64_t> name_words, cue_words;
    for (const std::string& word : split(dice_.pick(kClauses), ' ')) {
      const auto begin = int64_t(sentence_.words.size());
      if (word == "{name}") {
        for (const std::string& part : split(name, ' ')) {
          const char* mark = name_words.empty() ? "B-" : "I-";
          name_words.push_back(begin + int64_t(name_words.size()));
          add_word(part, std::string(mark) + kTypeNames[type]);
        }
      } else if (word == "{cue}") {
        add_words(cue);
        for (auto i = begin; i < int64_t(sentence_.words.size()); ++i) cue_words.push_back(i);
      } else {
        add_word(word, "O");
      }
    }
    if (!ambiguous) return;
    for (const int64_t word : name_words)
      for (const int64_t decides : cue_words) sentence_.decisive.emplace_back(word, decides);
  }

  const SyntheticTagsOptions& options_;
  Dice dice_;
  TaggedSentence sentence_;
};

}  // namespace

void SyntheticTagsOptions::describe(OptionList& list) {
  describe_rows(list, "sentences");
  list.add("maximum_clauses", maximum_clauses, "built-in data: most clauses of a sentence")
      .within(1, 6);
  list.add("ambiguous", ambiguous,
           "built-in data: share of the names whose type only another word tells")
      .within(0, 1);
  describe_seed(list, "sentences");
}

SplitRows<TaggedSentence> draw_tags(const SyntheticTagsOptions& options) {
  options.check_rows("sentences");
  require(options.maximum_clauses >= 1, ErrorKind::InvalidArgument,
          "a sentence has at least one clause, not ", options.maximum_clauses);
  require(options.ambiguous >= 0 && options.ambiguous <= 1, ErrorKind::InvalidArgument,
          "a share of ", options.ambiguous, " ambiguous names cannot be; 0 to 1 can");
  SplitRows<TaggedSentence> draw = draw_different(
      options, "tags",
      concat("sentences of at most ", options.maximum_clauses,
             " clauses; draw fewer rows or raise maximum_clauses"),
      [&](const Random& random) { return SentenceWriter(options, random).write(); },
      [](const TaggedSentence& row) { return std::vector{join(row.words, " ")}; });
  draw.notes.push_back(concat("built-in synthetic sentences with names, seed ", options.seed, ": ",
                              options.counted("sentences")));
  return draw;
}

}  // namespace fovea
