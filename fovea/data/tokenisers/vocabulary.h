// The symbols of one side of a text task and their numbers. The first four are the same in every
// vocabulary that is learned here: padding, unknown, begin, end. One that comes with weights from
// elsewhere has them in places of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

class Vocabulary {
 public:
  static constexpr int64_t kPadding = 0, kUnknown = 1, kBegin = 2, kEnd = 3, kSpecial = 4;

  struct Special {
    int64_t padding = kPadding, unknown = kUnknown, begin = kBegin, end = kEnd;
    bool operator==(const Special&) const = default;
  };

  Vocabulary();  // the special symbols alone
  /// The special symbols, then `tokens` in that order. InvalidArgument for a token given twice.
  explicit Vocabulary(const std::vector<std::string>& tokens);
  /// By falling count, ties alphabetically; those seen less than `minimum_count` times, and those
  /// beyond `maximum_size` (special symbols included; 0: no limit), are left out.
  static Vocabulary from_counts(const std::map<std::string, int64_t>& counts, int64_t minimum_count,
                                int64_t maximum_size);

  /// From elsewhere: all tokens by their numbers, the special ones among them. Of a token that is
  /// there twice the first counts.
  Vocabulary(std::vector<std::string> tokens, const Special& special);

  int64_t size() const { return static_cast<int64_t>(tokens_.size()); }
  int64_t id(std::string_view token) const;    // the unknown one when it is not there
  const std::string& token(int64_t id) const;  // InvalidArgument when out of range
  const Special& special() const { return special_; }
  static bool is_special(int64_t id) { return id < kSpecial; }

  Json to_json() const;  // the list of tokens, special ones left out
  static Vocabulary from_json(const Json& json, const std::string& where);

 private:
  std::vector<std::string> tokens_;
  Special special_;
  std::unordered_map<std::string, int64_t> ids_;
};

}  // namespace fovea
