#include "fovea/base/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <thread>

#include "fovea/base/text.h"

namespace fovea::progress_test {
namespace {

bool mentions(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Progress, RendersShareRateTimeLeftAndMetrics) {
  const std::string bar = Progress::render("epoch 1", 500, 2000, "rows", 2, "loss 0.5", 100);
  EXPECT_TRUE(bar.starts_with("epoch 1 ━")) << bar;
  EXPECT_TRUE(mentions(bar, " 25%  250 rows/s  6.0 s left  loss 0.5")) << bar;
  EXPECT_TRUE(
      mentions(Progress::render("t", 3'000'000, 6'000'000, "rows", 2, "", 90), "1.5M rows/s"));
  EXPECT_TRUE(mentions(Progress::render("t", 3'000, 6'000, "rows", 2, "", 90), "1.5k rows/s"));
}

TEST(Progress, TheBarGrowsWithTheShare) {
  const auto cells = [](int64_t done) {
    const std::string bar = Progress::render("t", done, 100, "rows", 0, "", 80);
    size_t count = 0;
    for (size_t at = bar.find("━"); at != std::string::npos; at = bar.find("━", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(cells(0), 0u);
  EXPECT_EQ(cells(50), 20u);
  EXPECT_EQ(cells(100), 40u);
}

TEST(Progress, FitsEveryWidthWithWholeCharacters) {
  for (const char* title : {"", "epoch 1", "größe 日本語 🙂"})
    for (int width = 0; width <= 120; ++width) {
      const std::string bar =
          Progress::render(title, 123, 1000, "rows", 1.5, "loss 0.25 größe", width);
      EXPECT_LE(display_width(bar), static_cast<size_t>(std::max(0, width - 1))) << width;
      EXPECT_EQ(valid_utf8_prefix(bar), bar.size()) << "a character was cut at width " << width;
    }
  EXPECT_EQ(Progress::render("t", 1, 2, "rows", 1, "", -5), "");
}

TEST(Progress, NothingIsDividedByZero) {
  for (const auto& [done, total, seconds] : {std::tuple<int64_t, int64_t, double>{0, 0, 0},
                                             {5, 0, 1},
                                             {0, 10, 0},
                                             {0, 10, 5},
                                             {5, 10, 0}}) {
    const std::string bar = Progress::render("t", done, total, "rows", seconds, "", 80);
    EXPECT_FALSE(mentions(bar, "inf") || mentions(bar, "nan")) << bar;
  }
  EXPECT_FALSE(mentions(Progress::render("t", 0, 10, "rows", 5, "", 80), "left"));
}

TEST(Progress, MoreThanAllIsAll) {
  const std::string bar = Progress::render("t", 20, 10, "rows", 1, "", 80);
  EXPECT_TRUE(mentions(bar, "100%")) << bar;
  EXPECT_TRUE(mentions(bar, " 0.0 s left")) << bar;
}

/// Standard error goes to a pseudo terminal, or to a file, while this lives.
class Redirected {
 public:
  explicit Redirected(int to) : before_(dup(STDERR_FILENO)) { dup2(to, STDERR_FILENO); }
  ~Redirected() {
    dup2(before_, STDERR_FILENO);
    close(before_);
  }

 private:
  int before_;
};

/// What arrives until `last` has; a pseudo terminal hands it over a little later.
std::string read_until(int terminal, const std::string& last) {
  std::string seen;
  char piece[1024];
  for (pollfd ready{terminal, POLLIN, 0}; !mentions(seen, last) && poll(&ready, 1, 5000) > 0;) {
    const ssize_t count = read(terminal, piece, sizeof piece);
    if (count <= 0) break;
    seen.append(piece, static_cast<size_t>(count));
  }
  return seen;
}

TEST(Progress, ATerminalSeesTheRateOfThisProcessOnly) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
    GTEST_SKIP() << "no pseudo terminal here";
  const int user = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  const winsize size{24, 100, 0, 0};
  ioctl(user, TIOCSWINSZ, &size);
  {
    const Redirected redirected(user);
    Progress progress("epoch 7", 2'000'000, "rows");
    progress.update(1'000'000);  // a training goes on where it stopped
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    progress.update(1'000'010, "loss 1");
    progress.line("a lasting line");
  }
  const std::string seen = read_until(terminal, "a lasting line");
  EXPECT_TRUE(mentions(seen, "epoch 7 ━") && mentions(seen, "50%  ")) << seen;
  EXPECT_FALSE(mentions(seen, "M rows/s") || mentions(seen, "k rows/s"))
      << "the first million was done by an earlier process: " << seen;
  EXPECT_TRUE(mentions(seen, "\r\033[Ka lasting line")) << seen;
  close(user);
  close(terminal);
}

TEST(Progress, ElsewhereOnlyLastingLinesAppear) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress("epoch 1", 10, "rows");
    progress.update(5, "loss 1");
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    progress.update(6, "loss 1");
    progress.line("a lasting line");
    progress.finish();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "a lasting line\n");
}

TEST(Progress, QuietMeansNothing) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress("epoch 1", 10, "rows", /*quiet=*/true);
    progress.update(5);
    progress.line("not said");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace fovea::progress_test
