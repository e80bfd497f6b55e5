// A client that can do what browsers cannot: stop in the middle, send garbage, close one side.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <string>

#include "fovea/base/json.h"
#include "fovea/base/text.h"
#include "fovea/serving/http_message.h"

namespace fovea::testing {

struct Answer {
  int status = 0;                              // 0: the connection ended without one
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  Json json() const { return parse_json(body, "answer"); }
  std::string kind() const { return json()["error"]["kind"]; }
  bool closes() const {
    return headers.count("connection") > 0 && headers.at("connection") == "close";
  }
};

class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }

  /// False when the server does not take all of it.
  bool send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  void end_sending() { ::shutdown(socket_, SHUT_WR); }

  Answer receive(const std::string& method = "GET", double seconds = 10) {
    until_ = std::chrono::steady_clock::now() +
             std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
    Answer answer;
    size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
      if (!more()) return answer;
    const std::vector<std::string> lines = split(buffer_.substr(0, end), '\n');
    buffer_.erase(0, end + 4);
    answer.status = std::stoi(lines[0].substr(9, 3));
    for (size_t i = 1; i < lines.size(); ++i) {
      const size_t colon = lines[i].find(':');
      answer.headers[serving::lower_case(lines[i].substr(0, colon))] =
          trim(lines[i].substr(colon + 1));
    }
    if (answer.status == 100) return receive(method, seconds);
    if (method != "HEAD" && answer.headers.count("transfer-encoding") > 0)
      return receive_chunks(std::move(answer));
    if (method == "HEAD" || answer.headers.count("content-length") == 0) return answer;
    const size_t length = std::stoul(answer.headers["content-length"]);
    while (buffer_.size() < length)
      if (!more()) return {};
    answer.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return answer;
  }

  Answer request(const std::string& method, const std::string& path, const std::string& body = "",
                 const std::string& headers = "") {
    const auto has = [&](const char* name) {
      return serving::lower_case(headers).find(name) != std::string::npos;
    };
    std::string text = concat(method, " ", path, " HTTP/1.1\r\n", headers);
    if (!has("host:")) text += "Host: localhost\r\n";
    if (method == "POST") text += concat("Content-Length: ", body.size(), "\r\n");
    if (method == "POST" && !has("content-type:")) text += "Content-Type: application/json\r\n";
    send(text + "\r\n" + body);
    return receive(method);
  }
  Answer get(const std::string& path, const std::string& headers = "") {
    return request("GET", path, "", headers);
  }
  Answer post(const std::string& path, const std::string& body, const std::string& headers = "") {
    return request("POST", path, body, headers);
  }

  /// Whether the server closes the connection within that time.
  bool ends_within(double seconds) {
    until_ = std::chrono::steady_clock::now() +
             std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
    while (more()) {
    }
    return ended_;
  }

 private:
  /// Until the chunk without bytes, or as far as they come.
  Answer receive_chunks(Answer answer) {
    for (;;) {
      size_t end = 0;
      while ((end = buffer_.find("\r\n")) == std::string::npos)
        if (!more()) return answer;
      const size_t size = std::stoul(buffer_.substr(0, end), nullptr, 16);
      while (buffer_.size() < end + 2 + size + 2)
        if (!more()) return answer;
      answer.body += buffer_.substr(end + 2, size);
      buffer_.erase(0, end + 2 + size + 2);
      if (size == 0) return answer;
    }
  }
  bool more() {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until_ - std::chrono::steady_clock::now());
    pollfd watched{socket_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&watched, 1, static_cast<int>(left.count())) <= 0) return false;
    char bytes[65536];
    const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
    ended_ = count <= 0;
    if (count > 0) buffer_.append(bytes, static_cast<size_t>(count));
    return count > 0;
  }

  int socket_;
  bool connected_ = false, ended_ = false;
  std::string buffer_;
  std::chrono::steady_clock::time_point until_;
};

/// One request on a connection of its own.
inline Answer get(int port, const std::string& path, const std::string& headers = "") {
  return Client(port).get(path, headers);
}
inline Answer post(int port, const std::string& path, const std::string& body,
                   const std::string& headers = "") {
  return Client(port).post(path, body, headers);
}

}  // namespace fovea::testing
