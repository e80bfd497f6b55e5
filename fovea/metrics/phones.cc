#include "fovea/metrics/phones.h"

#include <algorithm>
#include <map>

#include "fovea/metrics/sequences.h"

namespace fovea {

namespace {

using PhoneTable = std::map<std::string_view, std::string_view>;

/// Each symbol, and what it is among the 39.
const PhoneTable& timit_phones() {
  static const PhoneTable table = [] {
    PhoneTable own = {
        {"ao", "aa"},   {"ax", "ah"},   {"ax-h", "ah"}, {"axr", "er"},  {"hv", "hh"},
        {"ix", "ih"},   {"el", "l"},    {"em", "m"},    {"en", "n"},    {"nx", "n"},
        {"eng", "ng"},  {"zh", "sh"},   {"ux", "uw"},   {"pcl", "sil"}, {"tcl", "sil"},
        {"kcl", "sil"}, {"bcl", "sil"}, {"dcl", "sil"}, {"gcl", "sil"}, {"h#", "sil"},
        {"pau", "sil"}, {"epi", "sil"}, {"cl", "sil"},  {"vcl", "sil"}, {"q", ""}};
    for (const std::string_view same :
         {"aa", "ae", "ah", "aw", "ay",  "b",  "ch", "d",  "dh", "dx", "eh", "er", "ey",
          "f",  "g",  "hh", "ih", "iy",  "jh", "k",  "l",  "m",  "n",  "ng", "ow", "oy",
          "p",  "r",  "s",  "sh", "sil", "t",  "th", "uh", "uw", "v",  "w",  "y",  "z"})
      own.emplace(same, same);
    return own;
  }();
  return table;
}

}  // namespace

bool is_timit_phone(std::string_view symbol) {
  return timit_phones().contains(symbol);
}

std::string_view fold_timit_phone(std::string_view symbol) {
  const auto found = timit_phones().find(symbol);
  return found == timit_phones().end() ? symbol : found->second;
}

std::vector<std::string> phones_of(std::string_view text, bool folded) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::string> phones;
  for (size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    const std::string_view symbol = text.substr(at, end - at);
    const std::string_view phone = folded ? fold_timit_phone(symbol) : symbol;
    if (!phone.empty()) phones.emplace_back(phone);
    at = text.find_first_not_of(kBlanks, end);
  }
  return phones;
}

double phone_error_rate(std::span<const std::string> outputs, std::span<const std::string> targets,
                        bool folded) {
  std::map<std::string, int64_t> numbers;  // of each phone
  const auto symbols_of = [&](const std::string& text) {
    Symbols symbols;
    for (const std::string& phone : phones_of(text, folded))
      symbols.push_back(numbers.emplace(phone, int64_t(numbers.size())).first->second);
    return symbols;
  };
  std::vector<Symbols> found, wanted;
  for (const std::string& text : outputs) found.push_back(symbols_of(text));
  for (const std::string& text : targets) wanted.push_back(symbols_of(text));
  return error_rate(found, wanted);
}

}  // namespace fovea
