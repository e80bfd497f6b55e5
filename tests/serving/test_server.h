// A server on any free port of this machine, with one fake model called "echo".
#pragma once

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "fovea/serving/server.h"
#include "tests/serving/client.h"
#include "tests/serving/fake_model.h"

namespace fovea::testing {

inline serving::ServerOptions test_options() {
  serving::ServerOptions options;
  options.transport.port = 0;
  options.log = "none";
  options.timeout_seconds = 10;
  return options;
}

class TestServer {
 public:
  explicit TestServer(const serving::ServerOptions& options = test_options()) {
    auto made = std::make_unique<FakeModel>();
    model_ = made.get();
    auto shared = std::make_shared<std::unique_ptr<FakeModel>>(std::move(made));
    std::vector<serving::ModelSource> sources{
        {"echo", "echo", [shared] { return std::move(*shared); }}};
    server_ = std::make_unique<serving::Server>(options, std::move(sources));
    while (!server_->host().all_are(serving::ModelStatus::Ready)) std::this_thread::yield();
  }
  ~TestServer() { model_->release(); }

  int port() const { return server_->port(); }
  FakeModel& model() { return *model_; }
  serving::Server& server() { return *server_; }
  Answer get(const std::string& path, const std::string& headers = "") const {
    return testing::get(port(), path, headers);
  }
  Answer post(const std::string& path, const std::string& body,
              const std::string& headers = "") const {
    return testing::post(port(), path, body, headers);
  }
  /// Asks in the background.
  std::thread later(const std::string& path, const std::string& body, Answer& answer) const {
    return std::thread([=, this, &answer] { answer = post(path, body); });
  }
  void wait_for_queue(int64_t inputs) const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (server_->host().models()[0]->waiting() != inputs &&
           std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  FakeModel* model_ = nullptr;
  std::unique_ptr<serving::Server> server_;
};

}  // namespace fovea::testing
