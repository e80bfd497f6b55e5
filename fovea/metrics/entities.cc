#include "fovea/metrics/entities.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>

#include "fovea/base/error.h"

namespace fovea {

namespace {

double ratio(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : double(part) / double(whole);
}

void check_tag(const std::string& tag) {
  const bool valid =
      tag == "O" || (tag.size() > 2 && tag[1] == '-' &&
                     std::string_view("BIES").find(tag[0]) != std::string_view::npos);
  require(valid, ErrorKind::InvalidArgument, "the tag '", tag,
          "' is neither O nor B-, I-, E- or S- with a type");
}

void count(std::span<const Entity> entities, int64_t EntityScore::*field, EntityScores& scores) {
  for (const Entity& entity : entities) {
    ++(scores.all.*field);
    ++(scores.by_type[entity.type].*field);
  }
}

}  // namespace

std::vector<Entity> to_entities(std::span<const std::string> tags) {
  std::vector<Entity> entities;
  bool open = false;  // the last entity may go on
  for (size_t i = 0; i < tags.size(); ++i) {
    check_tag(tags[i]);
    const char mark = tags[i][0];
    if (mark == 'O') {
      open = false;
      continue;
    }
    const std::string_view type = std::string_view(tags[i]).substr(2);
    const bool begins = mark == 'B' || mark == 'S' || !open || entities.back().type != type;
    if (begins) entities.push_back({std::string(type), int64_t(i), int64_t(i)});
    entities.back().end = int64_t(i) + 1;
    open = mark == 'B' || mark == 'I';
  }
  return entities;
}

double EntityScore::precision() const {
  return ratio(right, found);
}

double EntityScore::recall() const {
  return ratio(right, wanted);
}

double EntityScore::f1() const {
  return ratio(2 * right, found + wanted);
}

EntityScores score_entities(std::span<const Tags> outputs, std::span<const Tags> targets) {
  require(outputs.size() == targets.size(), ErrorKind::InvalidArgument, "there are ",
          outputs.size(), " tagged sentences but ", targets.size(), " targets");
  EntityScores scores;
  int64_t tokens = 0, right_tokens = 0;
  for (size_t row = 0; row < outputs.size(); ++row) {
    const Tags &output = outputs[row], &target = targets[row];
    require(output.size() == target.size(), ErrorKind::InvalidArgument, "sentence ", row + 1,
            " has ", output.size(), " tags but ", target.size(), " targets");
    const std::vector<Entity> found = to_entities(output), wanted = to_entities(target);
    count(found, &EntityScore::found, scores);
    count(wanted, &EntityScore::wanted, scores);
    std::vector<Entity> right;  // both lists run in the order of their begins
    std::set_intersection(found.begin(), found.end(), wanted.begin(), wanted.end(),
                          std::back_inserter(right), [](const Entity& a, const Entity& b) {
                            return std::tie(a.begin, a.end, a.type) <
                                   std::tie(b.begin, b.end, b.type);
                          });
    count(right, &EntityScore::right, scores);
    tokens += int64_t(target.size());
    for (size_t i = 0; i < target.size(); ++i) right_tokens += output[i] == target[i];
  }
  require(tokens > 0, ErrorKind::InvalidArgument, "a score needs at least one token, found none");
  scores.token_accuracy = ratio(right_tokens, tokens);
  return scores;
}

}  // namespace fovea
