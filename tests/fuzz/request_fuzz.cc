// What a client sends: whole requests, bodies of both requests, chunks, headers. The first byte
// says as what the rest is taken. Only a refusal may come out of it.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "fovea/serving/codec.h"
#include "fovea/serving/http_error.h"
#include "fovea/serving/request_reader.h"

namespace {

using namespace fovea::serving;

/// A connection on which `text` has come, and its end.
Connection connection_with(const std::string& text) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  [[maybe_unused]] const ssize_t sent = ::send(ends[1], text.data(), text.size(), MSG_DONTWAIT);
  ::close(ends[1]);
  return {ends[0], "fuzz"};
}

void read_chunked(const std::string& text) {
  Connection connection = connection_with(text);
  BodyFraming framing;
  framing.chunked = true;
  read_body(connection, framing, 1000);
}

void read_request(const std::string& text) {
  Connection connection = connection_with(text);
  while (const std::optional<HttpRequest> request = read_head(connection, 1000))
    if (const BodyFraming framing = framing_of(request->headers); !framing.empty())
      read_body(connection, framing, 1000);
}

void read_headers(const std::string& text) {
  const size_t middle = text.size() / 2;
  framing_of(
      {{"content-length", text.substr(0, middle)}, {"transfer-encoding", text.substr(middle)}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    switch (bytes[0]) {
      case 'c':
        read_chunked(text);
        break;
      case 'r':
        read_request(text);
        break;
      case 'h':
        accepts(text, "gzip");
        read_headers(text);
        break;
      case 'e':
        parse_explain(text);
        break;
      default:
        parse_predict(text);
    }
  } catch (const HttpError& error) {
    text_of(error.to_json());
  }
  return 0;
}
