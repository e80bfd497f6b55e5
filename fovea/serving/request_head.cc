#include "fovea/serving/request_head.h"

#include <algorithm>

#include "fovea/base/data_url.h"
#include "fovea/serving/line_reader.h"

namespace fovea::serving {

namespace {

constexpr size_t kLongestAddress = 8192;
constexpr std::string_view kMethods[] = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                         "CONNECT", "OPTIONS", "TRACE", "PATCH"};

HttpRequest parse_request_line(std::string_view line) {
  if (line.empty()) refuse_request("the request begins with an empty line");
  const size_t first = line.find(' '), last = line.rfind(' ');
  const std::string_view method = line.substr(0, first);
  const std::string_view version = line.substr(last + 1);
  const std::string_view address =
      first < last ? line.substr(first + 1, last - first - 1) : std::string_view();
  if (address.size() > kLongestAddress)
    throw HttpError(414, "too_large", "the address is too long");
  if (std::find(std::begin(kMethods), std::end(kMethods), method) == std::end(kMethods) ||
      address.empty() || address.find_first_of(" \t") != std::string_view::npos ||
      (version != "HTTP/1.1" && version != "HTTP/1.0"))
    refuse_request("this is not an HTTP/1.1 request");
  HttpRequest request;
  request.method = method;
  request.path = percent_decode(address.substr(0, address.find_first_of("?#")));
  request.is_http_10 = version == "HTTP/1.0";
  return request;
}

/// RFC 9110: what a header's name is made of.
bool is_token_character(char character) {
  const auto c = static_cast<unsigned char>(character);
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(character) != std::string_view::npos;
}

std::pair<std::string, std::string> parse_header(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t')
    refuse_request("a header is folded over several lines");
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) refuse_request("a header has no colon");
  const std::string_view name = line.substr(0, colon);
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_token_character))
    refuse_request("a header's name is empty or has a character that no name has, such as a space");
  return {lower_case(name), std::string(trim(line.substr(colon + 1)))};
}

/// RFC 9112: a request has one Host; only HTTP/1.0 may leave it out.
void check_host_count(const HttpRequest& request) {
  const auto hosts = std::count_if(request.headers.begin(), request.headers.end(),
                                   [](const auto& header) { return header.first == "host"; });
  if (hosts > 1) refuse_request("there are two Host headers");
  if (hosts == 0 && !request.is_http_10) refuse_request("the request has no Host header");
}

}  // namespace

std::optional<HttpRequest> read_head(Connection& connection, size_t limit) {
  static const HttpError too_long(431, "too_large",
                                  "the request line and the headers are too long");
  std::optional<std::string> line = read_line(connection, limit, too_long);
  if (!line) return std::nullopt;
  HttpRequest request = parse_request_line(*line);
  request.remote = connection.remote();
  while ((line = read_line(connection, limit, too_long)) && !line->empty())
    request.headers.push_back(parse_header(*line));
  if (!line) refuse_request("the request ends within its head");
  check_host_count(request);
  return request;
}

}  // namespace fovea::serving
