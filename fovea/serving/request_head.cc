#include "fovea/serving/request_head.h"

#include <algorithm>

namespace fovea::serving {

namespace {

[[noreturn]] void refuse_head(const std::string& message) {
  throw HttpError(400, "bad_request", message);
}

[[noreturn]] void end_of_head(const Connection& connection) {
  if (connection.problem() == Connection::Problem::TimedOut)
    throw HttpError(408, "timeout", "the request did not arrive in time");
  if (connection.problem() == Connection::Problem::TooLarge)
    throw HttpError(431, "too_large", "the request line and the headers are too long");
  refuse_head("the request ends within its head");
}

/// RFC 9110: what a header's name and a method are made of.
bool is_token_character(char character) {
  const auto c = static_cast<unsigned char>(character);
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         (c != 0 && std::string_view("!#$%&'*+-.^_`|~").find(character) != std::string_view::npos);
}

bool is_control(char character) {
  const auto c = static_cast<unsigned char>(character);
  return (c < 0x20 && c != '\t') || c == 0x7f;
}

bool is_blank(char character) {
  return character == ' ' || character == '\t';
}

/// A line without its end; its first byte may have been read already.
std::string read_head_line(Connection& connection, std::string line = "") {
  for (char character = 0;;) {
    if (!line.empty() && is_control(line.back()))
      refuse_head(line.back() == '\n' ? "a line of the head ends in a line feed alone, not CR LF"
                                      : "the head has a control character");
    if (connection.read(&character, 1) != 1) end_of_head(connection);
    if (character != '\r') {
      line += character;
      continue;
    }
    if (connection.read(&character, 1) != 1) end_of_head(connection);
    if (character != '\n') refuse_head("a carriage return stands alone in the head");
    return line;
  }
}

std::pair<std::string, std::string> header_of(std::string_view line) {
  if (is_blank(line.front())) refuse_head("a header is folded over several lines");
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) refuse_head("a header has no colon");
  const std::string_view name = line.substr(0, colon);
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_token_character))
    refuse_head("a header's name is empty or has a character that no name has, such as a space");
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && is_blank(value.front())) value.remove_prefix(1);
  while (!value.empty() && is_blank(value.back())) value.remove_suffix(1);
  return {lower_case(name), std::string(value)};
}

}  // namespace

std::optional<RequestHead> read_head(Connection& connection) {
  char first = 0;
  const ssize_t count = connection.read(&first, 1);
  if (count == 0 || (count < 0 && connection.problem() == Connection::Problem::Broken)) return {};
  if (count < 0) end_of_head(connection);
  if (first == '\r' || first == '\n') refuse_head("the request begins with an empty line");
  RequestHead head;
  head.line = read_head_line(connection, std::string(1, first));
  if (head.line.find('\t') != std::string::npos) refuse_head("the first line has a tab");
  for (std::string line; !(line = read_head_line(connection)).empty();)
    head.headers.push_back(header_of(line));
  return head;
}

}  // namespace fovea::serving
