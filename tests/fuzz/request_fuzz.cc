// What a client sends: bodies of both requests, chunks, headers. The first byte says as what the
// rest is taken. Only a refusal may come out of it.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "fovea/serving/body_reader.h"
#include "fovea/serving/codec.h"
#include "fovea/serving/http_error.h"

namespace {

using namespace fovea::serving;

void read_chunked(const std::string& text) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  Connection connection(ends[0], "fuzz");
  [[maybe_unused]] const ssize_t sent = ::send(ends[1], text.data(), text.size(), MSG_DONTWAIT);
  ::close(ends[1]);
  connection.begin(Connection::Clock::now() + std::chrono::seconds(1), 1000);
  BodyFraming framing;
  framing.chunked = true;
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
