// The real program: its first line, its environment, its signals.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "fovea/base/file.h"
#include "fovea/tasks/train.h"
#include "tests/serving/client.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_run.h"
#include "tests/support/unfinished_run.h"

namespace fovea::serve_test {
namespace {

using namespace testing;

/// `fovea serve` as a child whose output goes to files.
class Program {
 public:
  Program(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
          const std::vector<std::string>& environment = {})
      : out_(folder / "out"), err_(folder / "err") {
    child_ = ::fork();
    if (child_ != 0) return;
    ::dup2(::open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
    ::dup2(::open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    for (const std::string& variable : environment) ::putenv(const_cast<char*>(variable.c_str()));
    std::vector<char*> argv{const_cast<char*>("fovea"), const_cast<char*>("serve")};
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(FOVEA_PROGRAM, argv.data());
    ::_exit(127);
  }
  ~Program() {
    if (child_ > 0) ::kill(child_, SIGKILL), wait();
  }

  void signal(int number) const { ::kill(child_, number); }
  /// Its exit status, or minus the signal that ended it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(child_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  std::string err() const { return read_file(err_); }
  /// Once it listens and its models are loaded.
  int port() const {
    for (int i = 0; i < 600; ++i, ::usleep(50000)) {
      const std::string out = std::filesystem::exists(out_) ? read_file(out_) : "";
      if (!out.starts_with("listening on http://127.0.0.1:") || !out.ends_with('\n')) continue;
      const int port = std::stoi(out.substr(out.rfind(':') + 1));
      if (testing::get(port, "/health").status == 200) return port;
    }
    ADD_FAILURE() << "the server does not start: " << err();
    return 0;
  }

 private:
  std::filesystem::path out_, err_;
  pid_t child_;
};

class Serve : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    train_run(setup_of("features", {"model.name=attention", "data.rows=500", "training.epochs=1"}),
              *folder_ / "table");
  }
  static void TearDownTestSuite() { folder_.reset(); }
  static std::string run() { return (*folder_ / "table").string(); }
  static std::unique_ptr<TemporaryFolder> folder_;
};

std::unique_ptr<TemporaryFolder> Serve::folder_;

const std::string kRow = R"({"input":"0.1,-0.2,0.3,0.4,-0.5,0.6,0.7,-0.8,0.9,0"})";

TEST_F(Serve, AnswersAndEndsOnSigterm) {
  for (const int number : {SIGTERM, SIGINT}) {
    Program program(folder_->path(), {run(), "--port", "0", "--log", "none"});
    const int port = program.port();
    EXPECT_EQ(testing::post(port, "/v1/predict", kRow).status, 200);
    program.signal(number);
    EXPECT_EQ(program.wait(), 0);
    EXPECT_FALSE(Client(port).connected());
  }
}

TEST_F(Serve, SaysThatATrainingDidNotFinish) {
  const std::filesystem::path copy = *folder_ / "half";
  copy_unfinished(run(), copy);
  Program program(folder_->path(), {copy.string(), "--port", "0", "--log", "none"});
  const std::string note = testing::get(program.port(), "/health").json()["notes"]["half"];
  EXPECT_NE(note.find("did not finish"), std::string::npos) << note;
  const auto is_said = [&] { return program.err().find("did not finish") != std::string::npos; };
  for (int i = 0; i < 200 && !is_said(); ++i) ::usleep(50000);  // it looks ten times a second
  EXPECT_TRUE(is_said()) << program.err();
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), 0);
}

TEST_F(Serve, TakesItsFlagsFromTheEnvironment) {
  Program program(folder_->path(), {},
                  {"FOVEA_MODEL=one=" + run() + ",two=" + run(), "FOVEA_PORT=0", "FOVEA_LOG=none",
                   "FOVEA_API_KEY=sesame", "FOVEA_BODY_LIMIT=100"});
  const int port = program.port();
  EXPECT_EQ(testing::get(port, "/v1/models").status, 401);
  const Answer models = testing::get(port, "/v1/models", "X-API-Key: sesame\r\n");
  EXPECT_EQ(models.json()["models"][1]["name"], "two");
  EXPECT_EQ(
      testing::post(port, "/v1/predict", std::string(101, ' '), "X-API-Key: sesame\r\n").status,
      413);
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), 0);
}

TEST_F(Serve, RefusesToStartWithNothingToServe) {
  const auto outcome = [&](const std::vector<std::string>& arguments) {
    Program program(folder_->path(), arguments);
    const int status = program.wait();
    return std::make_pair(status, program.err());
  };
  EXPECT_EQ(outcome({}).first, 1);
  EXPECT_NE(outcome({"/nowhere"}).second.find("error: "), std::string::npos);
  EXPECT_EQ(outcome({"/nowhere"}).first, 1);
  EXPECT_EQ(outcome({run(), run(), "--port", "0"}).first, 1);
  EXPECT_EQ(outcome({run(), "--port", "70000"}).first, 2);
  EXPECT_EQ(outcome({run(), "--api-key", "a b"}).first, 1);
  EXPECT_EQ(outcome({"--model", "nameless"}).first, 1);
  const auto [status, told] = outcome({run(), "--set", "decoding.beam=2"});
  EXPECT_EQ(status, 1);
  EXPECT_NE(told.find("none of these runs has such an option"), std::string::npos) << told;
}

TEST_F(Serve, GivesEachRunTheOptionsItsTaskHas) {
  train_run(setup_of("dates", {"data.rows=200", "training.epochs=1"}), *folder_ / "dates");
  Program program(folder_->path(), {run(), (*folder_ / "dates").string(), "--port", "0", "--log",
                                    "none", "--set", "decoding.method=beam"});
  const int port = program.port();
  EXPECT_EQ(testing::post(port, "/v1/predict", R"({"model":"dates","input":"Saturday 9 May 2018"})")
                .status,
            200);
  EXPECT_EQ(testing::get(port, "/health").json()["status"], "ready");
}

TEST_F(Serve, EndsWhenNoModelCanBeLoaded) {
  const std::filesystem::path damaged = *folder_ / "damaged";
  std::filesystem::copy(run(), damaged, std::filesystem::copy_options::recursive);
  write_file(damaged / "model.safetensors", "damaged");
  Program program(folder_->path(), {damaged.string(), "--port", "0"});
  EXPECT_EQ(program.wait(), 1);
  EXPECT_NE(program.err().find("no model could be loaded"), std::string::npos) << program.err();
}

TEST_F(Serve, SigtermUnderLoadLosesNothing) {
  Program program(folder_->path(), {run(), "--port", "0", "--log", "none"});
  const int port = program.port();
  std::atomic<int> answered{0}, lost{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 16; ++i)
    clients.emplace_back([&] {
      for (;;) {
        Client client(port);
        if (!client.connected()) return;
        for (bool open = true; open;) {
          const Answer answer = client.post("/v1/predict", kRow);
          answered += answer.status == 200;
          lost += answer.status != 200;
          open = answer.status == 200 && !answer.closes();
        }
      }
    });
  while (answered < 500 && lost == 0) ::usleep(1000);
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), 0);
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(lost, 0);
}

}  // namespace
}  // namespace fovea::serve_test
