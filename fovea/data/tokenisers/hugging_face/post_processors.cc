// What is put around the tokens of a text or of a pair.
#include <algorithm>
#include <map>

#include "fovea/data/tokenisers/hugging_face/components.h"
#include "fovea/data/tokenisers/kinds.h"

namespace fovea::hugging_face {

namespace {

constexpr int64_t kMostIds = int64_t{1} << 31;

void set_type(Tokens& tokens, int64_t type_id) {
  for (EncodedToken& token : tokens) token.type_id = type_id;
}

EncodedToken special_token(int64_t id, const std::string& text, int64_t type_id) {
  EncodedToken token;
  token.id = id;
  token.text = text;
  token.type_id = type_id;
  return token;
}

/// Takes the blanks that belong to a byte-level token out of its offsets. The blank that was put in
/// front of the text has no place to be taken from.
void trim_offsets(Tokens& tokens, bool add_prefix_space) {
  const auto is_blank = [](char32_t code) {
    return code == byte_character(' ') || is_white_space(code);
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    Offsets& offsets = tokens[i].offsets;
    const std::string& text = tokens[i].text;
    int64_t leading = 0, trailing = 0;
    for (size_t at = 0; at < text.size() && is_blank(next_code_point(text, at));) ++leading;
    for (size_t at = 0; at < text.size();)
      trailing = is_blank(next_code_point(text, at)) ? trailing + 1 : 0;
    const bool first = i == 0 || offsets.begin == 0;
    if (first && add_prefix_space && leading == 1) leading = 0;
    offsets.begin = std::min(offsets.begin + leading, offsets.end);
    if (trailing > 0 && offsets.end >= trailing)
      offsets.end = std::max(offsets.end - trailing, offsets.begin);
  }
}

PostProcessor make_byte_level_processor(const Field& component) {
  const bool trim = component.mark_or("trim_offsets", true);
  const bool prefix = component.mark_or("add_prefix_space", true);
  PostProcessor made;
  made.process = [=](std::vector<Tokens>& sequences, bool) {
    if (!trim) return;
    for (Tokens& tokens : sequences) trim_offsets(tokens, prefix);
  };
  return made;
}

/// ["[SEP]", 102]
struct NamedToken {
  explicit NamedToken(const Field& field) {
    const Json& value = field.value();
    field.expect(value.is_array() && value.size() == 2 && value[0].is_string(),
                 "a list of a token and its id");
    text = value[0].get<std::string>();
    id = Field(value[1], field.place() + "[1]").integer(0, kMostIds);
  }
  std::string text;
  int64_t id = 0;
};

void surround(Tokens& tokens, const NamedToken& before, const NamedToken& after, int64_t type_id) {
  tokens.insert(tokens.begin(), special_token(before.id, before.text, type_id));
  tokens.push_back(special_token(after.id, after.text, type_id));
}

PostProcessor make_bert_processing(const Field& component) {
  const NamedToken sep(component.at("sep")), cls(component.at("cls"));
  PostProcessor made;
  made.added_to_one = 2;
  made.added_to_pair = 3;
  made.process = [=](std::vector<Tokens>& sequences, bool add_special_tokens) {
    if (!add_special_tokens) return;
    for (size_t i = 0; i < sequences.size(); ++i) {
      if (i == 0)
        surround(sequences[i], cls, sep, 0);
      else
        sequences[i].push_back(special_token(sep.id, sep.text, 1));
    }
  };
  return made;
}

PostProcessor make_roberta_processing(const Field& component) {
  const NamedToken sep(component.at("sep")), cls(component.at("cls"));
  const bool trim = component.mark_or("trim_offsets", true);
  const bool prefix = component.mark_or("add_prefix_space", true);
  PostProcessor made;
  made.added_to_one = 2;
  made.added_to_pair = 4;
  made.process = [=](std::vector<Tokens>& sequences, bool add_special_tokens) {
    for (size_t i = 0; i < sequences.size(); ++i) {
      if (trim) trim_offsets(sequences[i], prefix);
      set_type(sequences[i], 0);  // RoBERTa has one segment
      if (add_special_tokens) surround(sequences[i], i == 0 ? cls : sep, sep, 0);
    }
  };
  return made;
}

/// One entry of a template: the text number `sequence`, or special tokens.
struct TemplatePiece {
  size_t sequence = 0;
  Tokens special;  // not empty: these
  int64_t type_id = 0;
};

using SpecialTokens = std::map<std::string, Tokens>;

SpecialTokens read_special_tokens(const Field& component) {
  SpecialTokens all;
  const auto given = component.find("special_tokens");
  if (!given) return all;
  given->each_member([&](const std::string& name, const Field& member) {
    const std::vector<int64_t> ids = member.at("ids").integers(0, kMostIds);
    const std::vector<std::string> texts = member.at("tokens").texts();
    require(!ids.empty() && ids.size() == texts.size(), ErrorKind::BadData, member.place(),
            ": has ", ids.size(), " ids and ", texts.size(),
            " tokens; expected as many of both, at least 1");
    for (size_t i = 0; i < ids.size(); ++i) all[name].push_back(special_token(ids[i], texts[i], 0));
  });
  return all;
}

std::vector<TemplatePiece> read_template(const Field& list, const SpecialTokens& special) {
  std::vector<TemplatePiece> pieces;
  list.each({}, [&](const Field& entry) {
    TemplatePiece piece;
    if (const auto sequence = entry.find("Sequence")) {
      const std::string id = sequence->at("id").text();
      sequence->at("id").expect(id == "A" || id == "B", "\"A\" or \"B\"");
      piece.sequence = id == "A" ? 0 : 1;
      piece.type_id = sequence->integer_or("type_id", 0, 0, kMostIds);
    } else {
      const Field token = entry.at("SpecialToken");
      const auto found = special.find(token.at("id").text());
      require(found != special.end(), ErrorKind::BadData, token.place(), ": the special token '",
              shorten_bytes(token.at("id").text(), 64), "' is not among special_tokens");
      piece.special = found->second;
      piece.type_id = token.integer_or("type_id", 0, 0, kMostIds);
      set_type(piece.special, piece.type_id);
    }
    pieces.push_back(std::move(piece));
  });
  return pieces;
}

size_t count_special(const std::vector<TemplatePiece>& pieces) {
  size_t count = 0;
  for (const TemplatePiece& piece : pieces) count += piece.special.size();
  return count;
}

PostProcessor make_template_processing(const Field& component) {
  const SpecialTokens special = read_special_tokens(component);
  const std::vector<TemplatePiece> single = read_template(component.at("single"), special);
  const auto pair_field = component.find("pair");
  const std::vector<TemplatePiece> pair = pair_field
                                              ? read_template(*pair_field, special)
                                              : std::vector<TemplatePiece>{{0, {}, 0}, {1, {}, 1}};
  for (const TemplatePiece& piece : single)
    require(piece.sequence == 0, ErrorKind::BadData, component.place(),
            ".single: names the second text, \"B\"; expected \"A\" alone");
  PostProcessor made;
  made.added_to_one = count_special(single);
  made.added_to_pair = count_special(pair);
  made.process = [=](std::vector<Tokens>& sequences, bool add_special_tokens) {
    require(
        sequences.size() <= 2, ErrorKind::BadData,
        "tokenizer.json: post_processor: a TemplateProcessing stands behind another component that "
        "adds special tokens; expected one of them");
    const std::vector<TemplatePiece>& pieces = sequences.size() == 1 ? single : pair;
    std::vector<Tokens> written;
    for (auto piece = pieces.begin(); piece != pieces.end(); ++piece) {
      if (!piece->special.empty()) {
        if (add_special_tokens) written.push_back(piece->special);
        continue;
      }
      Tokens& tokens = sequences[piece->sequence];
      const bool again = std::any_of(piece + 1, pieces.end(), [&](const TemplatePiece& later) {
        return later.special.empty() && later.sequence == piece->sequence;
      });
      written.push_back(again ? tokens : std::move(tokens));
      set_type(written.back(), piece->type_id);
    }
    sequences = std::move(written);
  };
  return made;
}

PostProcessor make_processor_sequence(const Field& component) {
  std::vector<PostProcessor> steps;
  PostProcessor made;
  component.at("processors").each({}, [&](const Field& each) {
    steps.push_back(post_processor_table().make(each));
    made.added_to_one += steps.back().added_to_one;
    made.added_to_pair += steps.back().added_to_pair;
  });
  made.process = [steps](std::vector<Tokens>& sequences, bool add_special_tokens) {
    for (const PostProcessor& each : steps) each.process(sequences, add_special_tokens);
  };
  return made;
}

constexpr ComponentKind<PostProcessor> kPostProcessors[] = {
    {"BertProcessing", make_bert_processing}, {"RobertaProcessing", make_roberta_processing},
    {"ByteLevel", make_byte_level_processor}, {"TemplateProcessing", make_template_processing},
    {"Sequence", make_processor_sequence},
};

}  // namespace

const ComponentTable<PostProcessor>& post_processor_table() {
  static const ComponentTable<PostProcessor> table{"post_processor", "processors", kPostProcessors};
  return table;
}

}  // namespace fovea::hugging_face
