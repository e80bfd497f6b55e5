#include "fovea/tasks/processes.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <list>
#include <utility>

#include "fovea/core/error.h"

namespace fovea {

namespace {

/// Work in a process of its own; its result comes back through a file without a name.
class Child {
 public:
  Child(size_t index, const std::function<Json()>& work) : index_(index), file_(std::tmpfile()) {
    require(file_ != nullptr, ErrorKind::Io, "no temporary file can be made");
    std::cout << std::flush;
    process_ = ::fork();
    require(process_ >= 0, ErrorKind::Io, "no further process can be started");
    if (process_ > 0) return;
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
  /// One that still runs when it is no longer wanted is ended.
  ~Child() {
    if (!file_) return;
    std::fclose(file_);
    if (ended_) return;
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
  }

  size_t index() const { return index_; }
  pid_t process() const { return process_; }

  /// After it has ended.
  Json result() {
    ended_ = true;
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
                                   const std::function<void(size_t done)>& progress) {
  std::vector<Json> results(count);
  std::list<Child> running;
  size_t next = 0, done = 0;
  while (done < count) {
    while (next < count && running.size() < jobs) {
      const size_t index = next++;
      running.emplace_back(index, [&] { return work(index); });
    }
    int status = 0;
    const pid_t ended = ::wait(&status);
    const auto child = std::find_if(running.begin(), running.end(),
                                    [&](const Child& one) { return one.process() == ended; });
    if (child == running.end()) continue;  // interrupted by a signal, or somebody else's child
    Child finished = std::move(*child);
    running.erase(child);
    results[finished.index()] = finished.result();
    progress(++done);
  }
  return results;
}

}  // namespace fovea
