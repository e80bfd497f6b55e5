#include "fovea/base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::file_test {
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

TEST(AtomicFile, NeverReplacesWhatIsNoPlainFile) {
  const TemporaryFolder folder;
  write_file(folder / "target", "precious");
  make_folder(folder / "folder");
  std::filesystem::create_symlink(folder / "target", folder / "link");
  std::filesystem::create_symlink(folder / "nowhere", folder / "dangling");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (folder / "socket").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const Names before = folder.names();
  for (const auto& [name, what] :
       std::vector<std::pair<std::string, std::string>>{{"folder", "a folder"},
                                                        {"link", "a link"},
                                                        {"dangling", "a link"},
                                                        {"pipe", "a pipe"},
                                                        {"socket", "a socket"}}) {
    expect_error(ErrorKind::Io, {name, what}, [&] { write_file(folder / name, "x"); });
    expect_error(ErrorKind::Io, {name, what}, [&] { check_output_file(folder / name); });
  }
  expect_error(ErrorKind::Io, {"/dev/null", "a device"}, [&] { write_file("/dev/null", "x"); });
  EXPECT_EQ(folder.names(), before);
  EXPECT_EQ(read_file(folder / "target"), "precious");
  close(listener);
}

TEST(AtomicFile, TakesTheLongestNameThatAFileMayHave) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  write_file(folder / name, "x");
  EXPECT_EQ(read_file(folder / name), "x");
}

/// A process that holds what `make` returns until it is killed; returns when it does.
template <class Make>
pid_t holder_of(const Make& make) {
  int ready[2];
  if (pipe(ready) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const auto held = make();
    const ssize_t sent = write(ready[1], "x", 1);
    for (; sent == 1;) pause();
    _exit(1);
  }
  char byte;
  const ssize_t got = read(ready[0], &byte, 1);
  close(ready[0]);
  close(ready[1]);
  return got == 1 ? child : -1;
}

void kill_and_wait(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(Temporaries, AreRemovedWhenTheirWriterIsDeadAndNotBefore) {
  const TemporaryFolder folder;
  write_file(folder / "kept", "x");
  folder.write(".mine.fovea-tmp", "not a name of ours");
  const pid_t file = holder_of([&] {
    auto writer = std::make_unique<AtomicFile>(folder / "f");
    writer->write("half");
    return writer;
  });
  const pid_t whole = holder_of([&] {
    auto writer = std::make_unique<AtomicFolder>(folder / "d");
    write_file(writer->path() / "part", "half");
    return writer;
  });
  ASSERT_GT(file, 0);
  ASSERT_GT(whole, 0);
  EXPECT_EQ(folder.names().size(), 4u);
  remove_stale_temporaries(folder.path());
  EXPECT_EQ(folder.names().size(), 4u) << "both writers live";
  kill_and_wait(file);
  remove_stale_temporaries(folder.path(), "d");
  EXPECT_EQ(folder.names().size(), 4u) << "the one of d lives, the one of f was not asked for";
  remove_stale_temporaries(folder.path());
  EXPECT_EQ(folder.names().size(), 3u);
  kill_and_wait(whole);
  AtomicFolder again(folder / "d");  // the next writer clears up
  write_file(again.path() / "part", "whole");
  again.commit();
  EXPECT_EQ(folder.names(), (Names{".mine.fovea-tmp", "d", "kept"}));
}

TEST(Temporaries, AreNeverFollowedElsewhere) {
  const TemporaryFolder folder, other;
  write_file(other / "precious", "x");
  std::filesystem::create_directory_symlink(other.path(), folder / ".a.0123456789abcdef.fovea-tmp");
  ASSERT_EQ(mkfifo((folder / ".b.0123456789abcdef.fovea-tmp").c_str(), 0600), 0);
  remove_stale_temporaries(folder.path());  // and does not wait for the pipe's writer
  EXPECT_EQ(other.names(), Names{"precious"});
}

TEST(AtomicFolder, AppearsWholeOrNotAtAll) {
  const TemporaryFolder folder;
  {
    AtomicFolder whole(folder / "a/b/data/");
    write_file(whole.path() / "part", "x");
    EXPECT_FALSE(std::filesystem::exists(folder / "a/b/data"));
  }
  EXPECT_EQ(folder.names(), Names{}) << "an abandoned folder leaves nothing behind";
  make_folder(folder / "data");
  std::filesystem::permissions(folder / "data", std::filesystem::perms::owner_all);
  {
    AtomicFolder whole(folder / "data");  // an empty one is replaced
    make_folder(whole.path() / "deep");
    write_file(whole.path() / "deep/part", "x");
    whole.commit();
  }
  EXPECT_EQ(folder.names(), Names{"data"});
  EXPECT_EQ(read_file(folder / "data/deep/part"), "x");
  EXPECT_EQ(std::filesystem::status(folder / "data").permissions(),
            std::filesystem::perms::owner_all);
  expect_error(ErrorKind::InvalidArgument, {"data", "not an empty folder"},
               [&] { AtomicFolder(folder / "data"); });
  write_file(folder / "file", "x");
  expect_error(ErrorKind::InvalidArgument, {"file", "not an empty folder"},
               [&] { AtomicFolder(folder / "file"); });
  EXPECT_TRUE(child_says([&] {
    make_folder(folder / "here");
    std::filesystem::current_path(folder / "here");
    try {
      AtomicFolder whole(".");
    } catch (const Error& error) {
      return std::string(error.what()).find("the folder you are in") != std::string::npos;
    }
    return false;
  }));
}

TEST(AtomicFolder, LosesToWhoeverWasQuicker) {
  const TemporaryFolder folder;
  AtomicFolder first(folder / "data"), second(folder / "data");
  write_file(first.path() / "part", "first");
  write_file(second.path() / "part", "second");
  first.commit();
  expect_error(ErrorKind::Io, {"data"}, [&] { second.commit(); });
  EXPECT_EQ(read_file(folder / "data/part"), "first");
}

TEST(WriteTogether, NeverLeavesAnOldFileBesideANewOne) {
  const TemporaryFolder folder;
  write_together({{folder / "a", "old"}, {folder / "b", "old"}});
  EXPECT_EQ(read_file(folder / "a") + read_file(folder / "b"), "oldold");
  // A full disk is noticed before anything is replaced.
  EXPECT_TRUE(child_says([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_together({{folder / "a", "new"}, {folder / "b", std::string(5000, 'x')}});
    } catch (const Error&) {
      return true;
    }
    return false;
  }));
  EXPECT_EQ(read_file(folder / "a") + read_file(folder / "b"), "oldold");
  EXPECT_EQ(folder.names(), (Names{"a", "b"}));
  // Killed at any moment: what is there is of one kind.
  for (int attempt = 0; attempt < 40; ++attempt) {
    const std::string generation = std::to_string(attempt);
    const pid_t child = fork();
    if (child == 0) {
      for (;;)
        for (const char* half : {"x", "y"})
          write_together({{folder / "a", generation + half}, {folder / "b", generation + half}});
    }
    usleep(static_cast<useconds_t>(500 + 700 * attempt));
    kill_and_wait(child);
    if (std::filesystem::exists(folder / "a") && std::filesystem::exists(folder / "b")) {
      EXPECT_EQ(read_file(folder / "a"), read_file(folder / "b")) << attempt;
    }
  }
  remove_stale_temporaries(folder.path());
  for (const std::string& name : folder.names()) EXPECT_TRUE(name == "a" || name == "b") << name;
}

TEST(AppendToFile, AddsAndSaysWhatIsInTheWay) {
  const TemporaryFolder folder;
  append_to_file(folder / "f", "one\n");
  append_to_file(folder / "f", "two\n");
  EXPECT_EQ(read_file(folder / "f"), "one\ntwo\n");
  std::filesystem::create_symlink(folder / "f", folder / "link");
  expect_error(ErrorKind::Io, {"link"}, [&] { append_to_file(folder / "link", "x"); });
  expect_error(ErrorKind::Io, {"none/f"}, [&] { append_to_file(folder / "none/f", "x"); });
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

TEST(FileLock, KnowsWhetherItsFileIsStillThere) {
  const TemporaryFolder folder;
  FileLock lock(folder / "lock", "busy");
  EXPECT_TRUE(lock.made());
  EXPECT_TRUE(lock.still_there());
  lock.write("a note");
  EXPECT_EQ(read_file(folder / "lock"), "a note");
  lock.write("");
  EXPECT_EQ(read_file(folder / "lock"), "");
  std::filesystem::remove(folder / "lock");
  EXPECT_FALSE(lock.still_there());
  folder.write("lock", "another");
  EXPECT_FALSE(lock.still_there());
  lock.remove();
  EXPECT_EQ(read_file(folder / "lock"), "another") << "not ours";
  EXPECT_FALSE(FileLock(folder / "lock", "busy").made());
  std::filesystem::create_symlink(folder / "lock", folder / "link");
  expect_error(ErrorKind::Io, {"link"}, [&] { FileLock(folder / "link", "busy"); });
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
}  // namespace fovea::file_test
