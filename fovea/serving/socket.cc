#include "fovea/serving/socket.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "fovea/base/error.h"

namespace fovea::serving {

namespace {

constexpr int kBacklog = 512;

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolve(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  require(status == 0, ErrorKind::InvalidArgument, "--host ", host, ": ", ::gai_strerror(status),
          "; try 127.0.0.1, or 0.0.0.0 for all addresses of this machine");
  return {found, &::freeaddrinfo};
}

std::string address_text(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const void* bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  if (address.ss_family == AF_INET6)
    bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  ::inet_ntop(address.ss_family, bytes, text, sizeof text);
  return text;
}

}  // namespace

void Descriptor::close() {
  if (value_ >= 0) ::close(value_);
  value_ = -1;
}

WakeUp::WakeUp() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  require(descriptor_.get() >= 0, ErrorKind::Io, "no eventfd: ", std::strerror(errno));
}

void WakeUp::signal() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(descriptor_.get(), &one, sizeof one);
}

void WakeUp::clear() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t taken = ::read(descriptor_.get(), &count, sizeof count);
}

int listen_on(const std::string& host, int port) {
  const Addresses addresses = resolve(host, port);
  std::string reason = "no address";
  for (const addrinfo* address = addresses.get(); address; address = address->ai_next) {
    const int socket = ::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket < 0) {
      reason = std::strerror(errno);
      continue;
    }
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(socket, address->ai_addr, address->ai_addrlen) == 0 &&
        ::listen(socket, kBacklog) == 0)
      return socket;
    reason = std::strerror(errno);
    ::close(socket);
  }
  fail(ErrorKind::Io, "cannot listen on ", host, ":", port, ": ", reason,
       "; choose another with --port, 0 takes any free one");
}

int port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

int accept_from(int socket, std::string& remote) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  int client = -1;
  do
    client = ::accept4(socket, reinterpret_cast<sockaddr*>(&address), &size,
                       SOCK_NONBLOCK | SOCK_CLOEXEC);
  while (client < 0 && (errno == EINTR || errno == ECONNABORTED));
  if (client < 0) return -1;
  const int yes = 1;
  ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  remote = address_text(address);
  return client;
}

void ignore_new_connections(int socket) {
  constexpr uint32_t kFlags = 13, kSyn = 2;  // of the TCP header: the byte, and the bit in it
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kFlags),
                        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kSyn, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, 0),            // dropped
                        BPF_STMT(BPF_RET | BPF_K, 0xffffffff)};  // kept whole
  const sock_fprog program{std::size(code), code};
  // Where the system has no filters, those who connect in the last moment are reset.
  ::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

bool is_loopback(const std::string& host) {
  const Addresses addresses = resolve(host, 0);
  for (const addrinfo* address = addresses.get(); address; address = address->ai_next) {
    sockaddr_storage storage{};
    std::memcpy(&storage, address->ai_addr, address->ai_addrlen);
    const std::string text = address_text(storage);
    if (!text.starts_with("127.") && text != "::1") return false;
  }
  return true;
}

}  // namespace fovea::serving
