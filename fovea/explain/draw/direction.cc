#include "fovea/explain/draw/direction.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

/// One character with the marks that stand on it.
struct Cluster {
  uint32_t code = 0;
  std::string text, marks;
};

uint32_t decode(std::string_view piece) {
  const auto lead = static_cast<unsigned char>(piece[0]);
  if (lead < 0x80) return lead;
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint32_t code = lead & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i)
    code = code << 6 | (static_cast<unsigned char>(piece[i]) & 0x3Fu);
  return code;
}

std::string encode_three_bytes(uint32_t code) {
  return {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

std::vector<Cluster> clusters_of(std::string_view text) {
  std::vector<Cluster> clusters;
  for (const std::string& character : characters(text)) {
    const auto lead = static_cast<unsigned char>(character[0]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    clusters.push_back({decode(character), character.substr(0, length), character.substr(length)});
  }
  return clusters;
}

bool is_digit(uint32_t code) {
  return (code >= '0' && code <= '9') || (code >= 0x660 && code <= 0x669) ||
         (code >= 0x6F0 && code <= 0x6F9);
}

bool is_right_to_left(uint32_t code) {
  return !is_digit(code) &&
         ((code >= 0x590 && code <= 0x8FF) || (code >= 0xFB1D && code <= 0xFDFF) ||
          (code >= 0xFE70 && code <= 0xFEFC));
}

/// Neither direction of its own: blanks, punctuation.
bool is_neutral(uint32_t code) {
  const bool is_letter = (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z');
  return (code < 0xC0 && !is_letter) || (code >= 0x2000 && code <= 0x2BFF);
}

/// The forms of a letter stand together in Unicode: isolated, final, initial, medial. A letter with
/// two forms joins only what comes before it.
struct Forms {
  uint32_t first = 0;
  int count = 0;  // 0: does not join
};

Forms forms_of(uint32_t code) {
  constexpr uint32_t kFirst = 0x621, kSecond = 0x641, kForms = 0xFE80;
  static constexpr std::string_view kToGhain = "12222424244444222244444444";
  static constexpr std::string_view kFromFeh = "4444444224";
  static constexpr std::pair<uint32_t, Forms> kPersian[] = {
      {0x67E, {0xFB56, 4}}, {0x686, {0xFB7A, 4}}, {0x698, {0xFB8A, 2}},
      {0x6A9, {0xFB8E, 4}}, {0x6AF, {0xFB92, 4}}, {0x6CC, {0xFBFC, 4}}};
  for (const auto& [letter, forms] : kPersian)
    if (letter == code) return forms;
  const bool is_second = code >= kSecond && code < kSecond + kFromFeh.size();
  if (!is_second && !(code >= kFirst && code < kFirst + kToGhain.size())) return {};
  uint32_t first = kForms;
  auto skip = [&first](std::string_view counts) {
    for (const char count : counts) first += static_cast<uint32_t>(count - '0');
  };
  if (is_second) skip(kToGhain);
  const std::string_view part = is_second ? kFromFeh : kToGhain;
  const size_t place = code - (is_second ? kSecond : kFirst);
  skip(part.substr(0, place));
  return {first, part[place] - '0'};
}

constexpr uint32_t kTatweel = 0x640, kLam = 0x644;

bool joins_next(uint32_t code) {
  return code == kTatweel || forms_of(code).count == 4;
}
bool joins_previous(uint32_t code) {
  return code == kTatweel || forms_of(code).count >= 2;
}

/// Lam and alef are always written as one; 0 for any other letter after a lam.
uint32_t lam_alef(uint32_t alef) {
  return alef == 0x622   ? 0xFEF5
         : alef == 0x623 ? 0xFEF7
         : alef == 0x625 ? 0xFEF9
         : alef == 0x627 ? 0xFEFB
                         : 0;
}

std::vector<Cluster> joined(const std::vector<Cluster>& clusters) {
  std::vector<Cluster> result;
  for (size_t i = 0; i < clusters.size(); ++i) {
    Cluster cluster = clusters[i];
    const bool has_next = i + 1 < clusters.size();
    const bool before = i > 0 && joins_next(clusters[i - 1].code) && joins_previous(cluster.code);
    if (cluster.code == kLam && has_next && lam_alef(clusters[i + 1].code) != 0) {
      cluster.text = encode_three_bytes(lam_alef(clusters[i + 1].code) + (before ? 1 : 0));
      cluster.marks += clusters[i + 1].marks;
      ++i;
    } else if (const Forms forms = forms_of(cluster.code); forms.count > 0) {
      const bool after =
          has_next && joins_next(cluster.code) && joins_previous(clusters[i + 1].code);
      cluster.text = encode_three_bytes(forms.first + (before ? 1u : 0u) + (after ? 2u : 0u));
    }
    result.push_back(std::move(cluster));
  }
  return result;
}

void mirror(Cluster& cluster) {
  static constexpr std::string_view kPairs = "()[]{}<>";
  const size_t at = cluster.text.size() == 1 ? kPairs.find(cluster.text[0]) : kPairs.npos;
  if (at != kPairs.npos) cluster.text = kPairs[at ^ 1];
}

using Place = std::vector<Cluster>::iterator;

/// Turns a run round, and its numbers back.
void turn(Place begin, Place end) {
  std::reverse(begin, end);
  for (Place at = begin; at != end;) {
    mirror(*at);
    if (!is_digit(at->code)) {
      ++at;
      continue;
    }
    Place last = at + 1;
    auto is_separator = [&](Place place) {
      return (place->code == '.' || place->code == ',' || place->code == ':') && place + 1 != end &&
             is_digit((place + 1)->code);
    };
    while (last != end && (is_digit(last->code) || is_separator(last))) ++last;
    std::reverse(at, last);
    at = last;
  }
}

}  // namespace

std::string visual_order(std::string_view text) {
  std::vector<Cluster> clusters = clusters_of(text);
  auto turns = [](const Cluster& cluster) { return is_right_to_left(cluster.code); };
  if (std::none_of(clusters.begin(), clusters.end(), turns)) return std::string(text);
  clusters = joined(clusters);
  for (Place at = clusters.begin(); at != clusters.end();) {
    if (!turns(*at)) {
      ++at;
      continue;
    }
    // The run goes on to the last such letter or number before a letter of the other direction.
    Place end = at + 1;
    for (Place next = end; next != clusters.end(); ++next) {
      if (turns(*next) || is_digit(next->code)) {
        end = next + 1;
      } else if (!is_neutral(next->code)) {
        break;
      }
    }
    turn(at, end);
    at = end;
  }
  std::string result;
  for (const Cluster& cluster : clusters) result += cluster.text + cluster.marks;
  return result;
}

}  // namespace fovea
