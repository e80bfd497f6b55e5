#include "fovea/core/file.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

using Names = std::vector<std::string>;

/// Runs `work` in a process of its own; true when it returned true.
bool child_says(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    bool good = false;
    try {
      good = work();
    } catch (...) {
    }
    _exit(good ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ReadFile, GivesEveryByte) {
  const TemporaryFolder folder;
  std::string content(200'000, 'x');
  content[0] = '\0';
  content[199'999] = '\n';
  write_file(folder / "f", content);
  EXPECT_EQ(read_file(folder / "f"), content);
  write_file(folder / "f", "");
  EXPECT_EQ(read_file(folder / "f"), "");
}

TEST(ReadFile, SaysWhatIsInTheWay) {
  const TemporaryFolder folder;
  write_file(folder / "f", "x");
  expect_error(ErrorKind::NotFound, {"none"}, [&] { read_file(folder / "none"); });
  expect_error(ErrorKind::NotFound, {"f/below"}, [&] { read_file(folder / "f/below"); });
  expect_error(ErrorKind::InvalidArgument, {"is a folder"}, [&] { read_file(folder.path()); });
}

TEST(AtomicFile, AppearsOnlyWithCommit) {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder / "f");
    file.write("new");
    EXPECT_FALSE(std::filesystem::exists(folder / "f"));
  }
  EXPECT_EQ(folder.names(), Names{}) << "an abandoned file leaves nothing behind";
  {
    AtomicFile file(folder / "f");
    file.write("new");
    file.write(" content");
    file.commit();
  }
  EXPECT_EQ(read_file(folder / "f"), "new content");
  EXPECT_EQ(folder.names(), Names{"f"});
}

TEST(AtomicFile, KeepsThePreviousContentUntilCommit) {
  const TemporaryFolder folder;
  write_file(folder / "f", "old");
  {
    AtomicFile file(folder / "f");
    file.write("new");
    EXPECT_EQ(read_file(folder / "f"), "old");
  }
  EXPECT_EQ(read_file(folder / "f"), "old");
  write_file(folder / "f", "new");
  EXPECT_EQ(read_file(folder / "f"), "new");
}

TEST(AtomicFile, SurvivesAFullDisk) {
  const TemporaryFolder folder;
  write_file(folder / "f", "old");
  EXPECT_TRUE(child_says([&] {
    signal(SIGXFSZ, SIG_IGN);  // so that write() fails as it does on a full disk
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_file(folder / "f", std::string(5000, 'x'));
    } catch (const Error& error) {
      const std::string message = error.what();
      return error.kind() == ErrorKind::Io && message.find("unharmed") != std::string::npos &&
             message.find((folder / "f").string()) != std::string::npos;
    }
    return false;
  }));
  EXPECT_EQ(read_file(folder / "f"), "old");
  EXPECT_EQ(folder.names(), Names{"f"}) << "no temporary file is left";
}

TEST(AtomicFile, SaysWhyItCannotBeWritten) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::Io, {"none/f", "No such file"},
               [&] { write_file(folder / "none/f", "x"); });
  make_folder(folder / "taken");
  expect_error(ErrorKind::Io, {"taken"}, [&] { write_file(folder / "taken", "x"); });
  EXPECT_EQ(folder.names(), Names{"taken"}) << "no temporary file is left";
  AtomicFile file(folder / "once");
  file.commit();
  expect_error(ErrorKind::Io, {"once"}, [&] { file.commit(); });
  EXPECT_EQ(folder.names(), (Names{"once", "taken"}));
}

TEST(AtomicFile, WorksWithoutAFolderInItsName) {
  const TemporaryFolder folder;
  EXPECT_TRUE(child_says([&] {
    std::filesystem::current_path(folder.path());
    write_file("plain", "x");
    return read_file("plain") == "x";
  }));
}

TEST(MakeFolder, MakesParentsAndMindsFilesInTheWay) {
  const TemporaryFolder folder;
  make_folder(folder / "a/b/c");
  make_folder(folder / "a/b/c");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b/c"));
  write_file(folder / "f", "x");
  expect_error(ErrorKind::Io, {"f"}, [&] { make_folder(folder / "f"); });
  expect_error(ErrorKind::Io, {"f/below"}, [&] { make_folder(folder / "f/below"); });
}

TEST(FileLock, ExcludesASecondHolderUntilItIsGone) {
  const TemporaryFolder folder;
  const auto path = folder / "lock";
  const auto can_lock = [&] {
    const FileLock lock(path, "busy");
    return true;
  };
  {
    const FileLock lock(path, "busy");
    EXPECT_FALSE(child_says(can_lock));
    expect_error(ErrorKind::InvalidArgument, {"run is in use"},
                 [&] { FileLock(path, "run is in use"); });
  }
  EXPECT_TRUE(child_says(can_lock));
  EXPECT_TRUE(can_lock());
  expect_error(ErrorKind::Io, {"none/lock"}, [&] { FileLock(folder / "none/lock", "busy"); });
}

TEST(FileLock, EndsWithAKilledHolder) {
  const TemporaryFolder folder;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const FileLock lock(folder / "lock", "busy");
    const ssize_t sent = write(ready[1], "x", 1);
    for (; sent == 1;) pause();
    _exit(1);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  expect_error(ErrorKind::InvalidArgument, {"busy"}, [&] { FileLock(folder / "lock", "busy"); });
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  EXPECT_NO_THROW(FileLock(folder / "lock", "busy"));
  close(ready[0]);
  close(ready[1]);
}

TEST(ContentHash, IsFnv1a) {
  // Known answers of 64-bit FNV-1a.
  EXPECT_EQ(ContentHash().text(), "fnv1a64:cbf29ce484222325");
  ContentHash a, foobar;
  a.add("a");
  EXPECT_EQ(a.text(), "fnv1a64:af63dc4c8601ec8c");
  foobar.add("foo");
  foobar.add("bar");
  EXPECT_EQ(foobar.text(), "fnv1a64:85944171f73967e8");
}

TEST(ContentHash, ChangesWithEveryByteOfAFile) {
  const TemporaryFolder folder;
  std::string content(70'000, 'x');
  write_file(folder / "f", content);
  const std::string before = hash_of_file(folder / "f");
  EXPECT_EQ(before, hash_of_file(folder / "f"));
  content[69'999] = 'y';
  write_file(folder / "f", content);
  EXPECT_NE(before, hash_of_file(folder / "f"));
  write_file(folder / "f", content + "y");
  EXPECT_NE(before, hash_of_file(folder / "f"));
  expect_error(ErrorKind::NotFound, {"none"}, [&] { hash_of_file(folder / "none"); });
}

}  // namespace
}  // namespace fovea
