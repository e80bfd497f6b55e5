#include "fovea/tasks/processes.h"

#include <sys/wait.h>
#include <unistd.h>
#if __has_include(<sys/prctl.h>)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <list>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {

namespace {

constexpr useconds_t kBetweenLooks = 20'000;  // microseconds

/// The calling process is killed when its parent has gone, by a signal that nobody can catch, too.
void end_with(pid_t parent) {
#ifdef PR_SET_PDEATHSIG
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (::getppid() != parent) ::_exit(1);  // it was quicker
}

/// Work in a process of its own; its result comes back through a file without a name.
class Child {
 public:
  Child(size_t index, const std::function<Json()>& work) : index_(index), file_(std::tmpfile()) {
    require(file_ != nullptr, ErrorKind::Io, "no temporary file can be made");
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0) std::fclose(std::exchange(file_, nullptr));
    require(process_ >= 0, ErrorKind::Io, "no further process can be started");
    if (process_ > 0) return;
    end_with(parent);
    Json result;
    try {
      result = {{"result", work()}};
    } catch (const std::exception& error) {
      result = {{"error", std::string(error.what()).substr(0, 2000)}};
    }
    const std::string text = result.dump();
    const bool written =
        std::fwrite(text.data(), 1, text.size(), file_) == text.size() && std::fflush(file_) == 0;
    ::_exit(written ? 0 : 1);
  }
  Child(Child&& other) noexcept
      : index_(other.index_),
        process_(other.process_),
        file_(std::exchange(other.file_, nullptr)),
        ended_(other.ended_) {}
  /// One that still runs when it is no longer wanted is ended, and at once: it writes nothing that
  /// could be left half-done.
  ~Child() {
    if (!file_) return;
    std::fclose(file_);
    if (ended_) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  size_t index() const { return index_; }

  /// Whether it has ended.
  bool look() {
    if (!ended_) ended_ = ::waitpid(process_, nullptr, WNOHANG) == process_;
    return ended_;
  }

  /// After it has ended.
  Json result() {
    std::string text;
    std::rewind(file_);
    for (int byte = std::fgetc(file_); byte != EOF; byte = std::fgetc(file_))
      text += static_cast<char>(byte);
    require(!text.empty(), ErrorKind::Io,
            "a process ended without a result; perhaps it ran out of memory");
    const Json json = parse_json(text, "result of a process");
    require(!json.contains("error"), ErrorKind::BadData, json.value("error", ""));
    return json.at("result");
  }

 private:
  size_t index_;
  pid_t process_ = 0;
  std::FILE* file_;
  bool ended_ = false;
};

}  // namespace

std::vector<Json> run_in_processes(size_t count, size_t jobs,
                                   const std::function<Json(size_t)>& work,
                                   const std::function<void(size_t done)>& progress,
                                   const std::function<bool()>& should_stop) {
  std::vector<Json> results(count);
  std::list<Child> running;
  size_t next = 0, done = 0;
  while (done < count) {
    while (next < count && running.size() < jobs) {
      const size_t index = next++;
      running.emplace_back(index, [&] { return work(index); });
    }
    const auto ended =
        std::find_if(running.begin(), running.end(), [](Child& one) { return one.look(); });
    require(!should_stop || !should_stop(), ErrorKind::InvalidArgument,
            "interrupted; nothing was written");
    if (ended == running.end()) {
      ::usleep(kBetweenLooks);
      continue;
    }
    Child finished = std::move(*ended);
    running.erase(ended);
    results[finished.index()] = finished.result();
    progress(++done);
  }
  return results;
}

}  // namespace fovea
