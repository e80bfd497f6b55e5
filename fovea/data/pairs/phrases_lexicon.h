// The words of the generator in phrases.cc: English beside German, with what German grammar needs
// to know of them.
#pragma once

#include <cstddef>

namespace fovea::phrases {

enum Gender { kMasculine, kFeminine, kNeuter, kPlural };  // plural has one set of endings
enum Case { kNominative, kAccusative, kDative };
enum Number { kSingular = 1, kSeveral = 2, kAnyNumber = 3 };  // bits
enum Sort { kBeing = 1, kThing = 2, kAnySort = 3 };           // bits
enum Tense { kPresent, kPast, kFuture, kTenses };

struct Noun {
  const char *english, *english_plural;
  Gender gender;
  const char *german, *oblique;  // singular: nominative; accusative and dative
  const char *plural, *plural_dative;
  Sort sort;
};

inline constexpr Noun kNouns[] = {
    {"dog", "dogs", kMasculine, "Hund", "Hund", "Hunde", "Hunden", kBeing},
    {"cat", "cats", kFeminine, "Katze", "Katze", "Katzen", "Katzen", kBeing},
    {"horse", "horses", kNeuter, "Pferd", "Pferd", "Pferde", "Pferden", kBeing},
    {"bird", "birds", kMasculine, "Vogel", "Vogel", "Vögel", "Vögeln", kBeing},
    {"man", "men", kMasculine, "Mann", "Mann", "Männer", "Männern", kBeing},
    {"woman", "women", kFeminine, "Frau", "Frau", "Frauen", "Frauen", kBeing},
    {"child", "children", kNeuter, "Kind", "Kind", "Kinder", "Kindern", kBeing},
    {"boy", "boys", kMasculine, "Junge", "Jungen", "Jungen", "Jungen", kBeing},
    {"girl", "girls", kNeuter, "Mädchen", "Mädchen", "Mädchen", "Mädchen", kBeing},
    {"teacher", "teachers", kMasculine, "Lehrer", "Lehrer", "Lehrer", "Lehrern", kBeing},
    {"daughter", "daughters", kFeminine, "Tochter", "Tochter", "Töchter", "Töchtern", kBeing},
    {"book", "books", kNeuter, "Buch", "Buch", "Bücher", "Büchern", kThing},
    {"letter", "letters", kMasculine, "Brief", "Brief", "Briefe", "Briefen", kThing},
    {"apple", "apples", kMasculine, "Apfel", "Apfel", "Äpfel", "Äpfeln", kThing},
    {"picture", "pictures", kNeuter, "Bild", "Bild", "Bilder", "Bildern", kThing},
    {"car", "cars", kNeuter, "Auto", "Auto", "Autos", "Autos", kThing},
    {"flower", "flowers", kFeminine, "Blume", "Blume", "Blumen", "Blumen", kThing},
    {"key", "keys", kMasculine, "Schlüssel", "Schlüssel", "Schlüssel", "Schlüsseln", kThing},
    {"cup", "cups", kFeminine, "Tasse", "Tasse", "Tassen", "Tassen", kThing},
    {"bag", "bags", kFeminine, "Tasche", "Tasche", "Taschen", "Taschen", kThing},
    {"table", "tables", kMasculine, "Tisch", "Tisch", "Tische", "Tischen", kThing},
    {"umbrella", "umbrellas", kMasculine, "Regenschirm", "Regenschirm", "Regenschirme",
     "Regenschirmen", kThing},
};

/// Which endings an adjective takes behind a determiner.
enum Declension { kWeak, kMixed, kStrong };

struct Determiner {
  const char *english, *english_plural;
  Declension declension;
  Number number;
  const char* german[3][4];  // by case, then gender
};

inline constexpr Determiner kDeterminers[] = {
    {"the",
     "the",
     kWeak,
     kAnyNumber,
     {{"der", "die", "das", "die"}, {"den", "die", "das", "die"}, {"dem", "der", "dem", "den"}}},
    {"this",
     "these",
     kWeak,
     kAnyNumber,
     {{"dieser", "diese", "dieses", "diese"},
      {"diesen", "diese", "dieses", "diese"},
      {"diesem", "dieser", "diesem", "diesen"}}},
    {"every",
     "",
     kWeak,
     kSingular,
     {{"jeder", "jede", "jedes", ""},
      {"jeden", "jede", "jedes", ""},
      {"jedem", "jeder", "jedem", ""}}},
    {"a",
     "",
     kMixed,
     kSingular,
     {{"ein", "eine", "ein", ""}, {"einen", "eine", "ein", ""}, {"einem", "einer", "einem", ""}}},
    {"my",
     "my",
     kMixed,
     kAnyNumber,
     {{"mein", "meine", "mein", "meine"},
      {"meinen", "meine", "mein", "meine"},
      {"meinem", "meiner", "meinem", "meinen"}}},
    {"",
     "two",
     kStrong,
     kSeveral,
     {{"", "", "", "zwei"}, {"", "", "", "zwei"}, {"", "", "", "zwei"}}},
    {"",
     "many",
     kStrong,
     kSeveral,
     {{"", "", "", "viele"}, {"", "", "", "viele"}, {"", "", "", "vielen"}}},
};

/// By declension, case, gender. Behind zwei and viele there are only plurals.
inline constexpr const char* kEndings[3][3][4] = {
    {{"e", "e", "e", "en"}, {"en", "e", "e", "en"}, {"en", "en", "en", "en"}},
    {{"er", "e", "es", "en"}, {"en", "e", "es", "en"}, {"en", "en", "en", "en"}},
    {{"", "", "", "e"}, {"", "", "", "e"}, {"", "", "", "en"}},
};

struct Adjective {
  const char *english, *stem;
  Sort sort;  // what it can be said of
};

inline constexpr Adjective kAdjectives[] = {
    {"big", "groß", kAnySort},
    {"small", "klein", kAnySort},
    {"old", "alt", kAnySort},
    {"beautiful", "schön", kAnySort},
    {"strange", "seltsam", kAnySort},
    {"white", "weiß", kAnySort},
    {"young", "jung", kBeing},
    {"tired", "müd", kBeing},
    {"friendly", "freundlich", kBeing},
    {"strong", "stark", kBeing},
    {"red", "rot", kThing},
    {"new", "neu", kThing},
    {"heavy", "schwer", kThing},
    {"green", "grün", kThing},
};

struct Verb {
  const char *third, *base, *past;                      // sees, see, saw
  const char *german_third, *german_base, *participle;  // sieht, sehen, gesehen
  bool with_sein;                                       // ist gefolgt, not hat gefolgt
  Case object_case;
  int object;  // Sort bits; 0: none
};

inline constexpr Verb kVerbs[] = {
    {"sees", "see", "saw", "sieht", "sehen", "gesehen", false, kAccusative, kAnySort},
    {"finds", "find", "found", "findet", "finden", "gefunden", false, kAccusative, kAnySort},
    {"loves", "love", "loved", "liebt", "lieben", "geliebt", false, kAccusative, kAnySort},
    {"draws", "draw", "drew", "zeichnet", "zeichnen", "gezeichnet", false, kAccusative, kAnySort},
    {"buys", "buy", "bought", "kauft", "kaufen", "gekauft", false, kAccusative, kThing},
    {"carries", "carry", "carried", "trägt", "tragen", "getragen", false, kAccusative, kThing},
    {"hears", "hear", "heard", "hört", "hören", "gehört", false, kAccusative, kBeing},
    {"helps", "help", "helped", "hilft", "helfen", "geholfen", false, kDative, kBeing},
    {"thanks", "thank", "thanked", "dankt", "danken", "gedankt", false, kDative, kBeing},
    {"follows", "follow", "followed", "folgt", "folgen", "gefolgt", true, kDative, kBeing},
    {"sleeps", "sleep", "slept", "schläft", "schlafen", "geschlafen", false, kNominative, 0},
    {"waits", "wait", "waited", "wartet", "warten", "gewartet", false, kNominative, 0},
    {"jumps", "jump", "jumped", "springt", "springen", "gesprungen", true, kNominative, 0},
};

struct Phrase {
  const char *english, *german;
};

struct TimePhrase {
  const char *english, *german;
  Tense tense;
};

inline constexpr TimePhrase kTimes[] = {
    {"today", "heute", kPresent},         {"now", "jetzt", kPresent},
    {"every day", "jeden Tag", kPresent}, {"in the evening", "am Abend", kPresent},
    {"yesterday", "gestern", kPast},      {"last week", "letzte Woche", kPast},
    {"on Monday", "am Montag", kPast},    {"two days ago", "vor zwei Tagen", kPast},
    {"tomorrow", "morgen", kFuture},      {"next week", "nächste Woche", kFuture},
    {"on Sunday", "am Sonntag", kFuture}, {"soon", "bald", kFuture},
};

inline constexpr Phrase kPlaces[] = {
    {"in the garden", "im Garten"},
    {"at the station", "am Bahnhof"},
    {"in the city", "in der Stadt"},
    {"behind the house", "hinter dem Haus"},
    {"on the street", "auf der Straße"},
    {"in front of the church", "vor der Kirche"},
    {"under the bridge", "unter der Brücke"},
    {"at home", "zu Hause"},
    {"by the river", "am Fluss"},
    {"in the forest", "im Wald"},
};

struct Conjunction {
  const char *english, *german;
  bool verb_last;
  bool comma;  // before the German one
};

inline constexpr Conjunction kConjunctions[] = {
    {"because", "weil", true, true},  {"although", "obwohl", true, true},
    {"while", "während", true, true}, {"and", "und", false, false},
    {"but", "aber", false, true},
};

}  // namespace fovea::phrases
