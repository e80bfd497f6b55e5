// From tokens back to a text.
#include <algorithm>

#include "fovea/data/tokenisers/hugging_face/components.h"

namespace fovea::hugging_face {

namespace {

std::string replaced_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string written;
  size_t begin = 0;
  for (size_t at = 0; !from.empty() && (at = text.find(from, begin)) != text.npos;) {
    written += text.substr(begin, at - begin);
    written += to;
    begin = at + from.size();
  }
  written += text.substr(begin);
  return written;
}

constexpr std::string_view kReplacementCharacter = "\uFFFD";

/// How many bytes at the front of `bytes` begin a character that is never finished, at least 1.
size_t broken_bytes(std::string_view bytes) {
  const auto byte = [&](size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
  };
  const unsigned lead = byte(0);
  if (lead < 0xC2 || lead > 0xF4) return 1;
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 1;
  return lead >= 0xF0 && (byte(2) & 0xC0) == 0x80 ? 3 : 2;
}

/// Bytes as text; what is no UTF-8 becomes U+FFFD.
std::string lossy_utf8(std::string_view bytes) {
  std::string text;
  while (true) {
    const size_t valid = valid_utf8_prefix(bytes);
    text += bytes.substr(0, valid);
    if (valid == bytes.size()) return text;
    bytes.remove_prefix(valid);
    bytes.remove_prefix(std::min(bytes.size(), broken_bytes(bytes)));
    text += kReplacementCharacter;
  }
}

Decoder make_byte_level_decoder(const Field&) {
  return [](std::vector<std::string>& tokens) {
    std::string bytes, own;
    for (const std::string& token : tokens) {
      own.clear();
      for (size_t at = 0; at < token.size();) {
        const int byte = character_byte(next_code_point(token, at));
        if (byte < 0) {
          own = token;  // an added token, as it is
          break;
        }
        own.push_back(char(byte));
      }
      bytes += own;
    }
    tokens = {lossy_utf8(bytes)};
  };
}

Decoder make_wordpiece_decoder(const Field& component) {
  const auto given = component.find("prefix");
  const std::string prefix = given ? given->text() : "##";
  const bool cleanup = component.mark_or("cleanup", true);
  return [=](std::vector<std::string>& tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i].starts_with(prefix))
        tokens[i].erase(0, prefix.size());
      else if (i > 0)
        tokens[i].insert(0, " ");
      if (cleanup) tokens[i] = clean_up_spaces(tokens[i]);
    }
  };
}

Decoder make_metaspace_decoder(const Field& component) {
  const Field field = component.at("replacement");
  read_character(field);
  const std::string mark = field.text();
  const bool added = component.mark_or("add_prefix_space", true) &&
                     component.text_or_empty("prepend_scheme") != "never";
  return [=](std::vector<std::string>& tokens) {
    for (size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = replaced_all(tokens[i], mark, i == 0 && added ? "" : " ");
  };
}

Decoder make_bpe_decoder(const Field& component) {
  const auto given = component.find("suffix");
  const std::string suffix = given ? given->text() : "</w>";
  return [suffix](std::vector<std::string>& tokens) {
    for (size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = replaced_all(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
  };
}

/// The byte of "<0x41>", or -1.
int fallback_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return -1;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  const int high = digit(token[3]), low = digit(token[4]);
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

Decoder make_byte_fallback(const Field&) {
  return [](std::vector<std::string>& tokens) {
    std::vector<std::string> written;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) return;
      if (valid_utf8_prefix(bytes) == bytes.size())
        written.push_back(bytes);
      else
        written.insert(written.end(), bytes.size(), std::string(kReplacementCharacter));
      bytes.clear();
    };
    for (std::string& token : tokens) {
      const int byte = fallback_byte(token);
      if (byte >= 0) {
        bytes.push_back(char(byte));
        continue;
      }
      flush();
      written.push_back(std::move(token));
    }
    flush();
    tokens = std::move(written);
  };
}

Decoder make_fuse(const Field&) {
  return [](std::vector<std::string>& tokens) { tokens = {join(tokens, "")}; };
}

Decoder make_replace_decoder(const Field& component) {
  return [pattern = read_pattern(component.at("pattern")),
          content = component.at("content").text()](std::vector<std::string>& tokens) {
    for (std::string& token : tokens) {
      std::string written;
      for (const Match& match : pattern(token))
        written += match.is_match ? content : token.substr(match.begin, match.end - match.begin);
      token = std::move(written);
    }
  };
}

Decoder make_strip_decoder(const Field& component) {
  const Field field = component.at("content");
  read_character(field);
  const std::string content = field.text();
  const int64_t start = component.integer_or("start", 0, 0, INT32_MAX);
  const int64_t stop = component.integer_or("stop", 0, 0, INT32_MAX);
  return [=](std::vector<std::string>& tokens) {
    for (std::string& token : tokens) {
      std::string_view rest = token;
      for (int64_t i = 0; i < start && rest.starts_with(content); ++i)
        rest.remove_prefix(content.size());
      for (int64_t i = 0; i < stop && rest.ends_with(content); ++i)
        rest.remove_suffix(content.size());
      token = std::string(rest);
    }
  };
}

Decoder make_ctc(const Field& component) {
  const auto text_or = [&](const char* key, const char* other) {
    const auto found = component.find(key);
    return found ? found->text() : std::string(other);
  };
  const std::string pad = text_or("pad_token", "<pad>");
  const std::string delimiter = text_or("word_delimiter_token", "|");
  const bool cleanup = component.mark_or("cleanup", true);
  return [=](std::vector<std::string>& tokens) {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) {
      token = replaced_all(token, pad, "");
      if (cleanup) token = replaced_all(clean_up_spaces(token), delimiter, " ");
    }
    std::erase(tokens, "");
  };
}

Decoder make_decoder_sequence(const Field& component) {
  std::vector<Decoder> steps;
  component.at("decoders").each({}, [&](const Field& each) {
    steps.push_back(decoder_table().make(each));
  });
  return [steps](std::vector<std::string>& tokens) {
    for (const Decoder& each : steps) each(tokens);
  };
}

constexpr ComponentKind<Decoder> kDecoders[] = {
    {"ByteLevel", make_byte_level_decoder},
    {"WordPiece", make_wordpiece_decoder},
    {"Metaspace", make_metaspace_decoder},
    {"BPEDecoder", make_bpe_decoder},
    {"ByteFallback", make_byte_fallback},
    {"Fuse", make_fuse},
    {"Replace", make_replace_decoder},
    {"Strip", make_strip_decoder},
    {"CTC", make_ctc},
    {"Sequence", make_decoder_sequence},
};

}  // namespace

std::string clean_up_spaces(std::string text) {
  constexpr std::pair<const char*, const char*> kRules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kRules) text = replaced_all(text, from, to);
  return text;
}

const ComponentTable<Decoder>& decoder_table() {
  static const ComponentTable<Decoder> table{"decoder", "decoders", kDecoders};
  return table;
}

}  // namespace fovea::hugging_face
