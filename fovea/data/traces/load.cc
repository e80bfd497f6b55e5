#include "fovea/data/traces/load.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/load.h"
#include "fovea/data/traces/prefetchers.h"

namespace fovea {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kTraceEndings = {".trace", ".txt", ".lackey"};
constexpr const char* kTraceFiles[kSplitCount] = {"train.trace", "val.trace", "test.trace"};

/// A trace as a prefetcher sees it, and where its splits end.
struct OpenedTrace {
  explicit OpenedTrace(const TracesDataOptions& options)
      : store(std::make_shared<TraceStore>(options.scratch)), filter(options.filter) {}

  void add(const TraceAccess& access) {
    ++given;
    if (!filter.sees(access)) return;
    store->push_back({to_line(access.address), access.pc});
    ++seen;
  }

  std::shared_ptr<TraceStore> store;
  TraceFilter filter;
  int64_t given = 0, seen = 0;
  TimeSplit split;  // accesses of each
  AccessCauses causes;
  std::string hash;
  std::vector<std::string> notes;
};

void add_file(OpenedTrace& opened, const fs::path& path, const TracesDataOptions& options) {
  TraceReader reader(path, options.cut_trace());
  TraceAccess access;
  while (reader.next(access)) opened.add(access);
  opened.notes.insert(opened.notes.end(), reader.notes().begin(), reader.notes().end());
}

void split_whole(OpenedTrace& opened, const TracesDataOptions& options, const std::string& where) {
  require(opened.seen > 1, ErrorKind::BadData, where, ": has ", opened.seen,
          opened.seen == 1 ? " access" : " accesses", " for a prefetcher to see",
          opened.given > opened.seen ? concat(" (", format_count(opened.given), " in all)") : "",
          "; at least 2 are needed");
  opened.split = split_in_time(opened.seen, options.validation_fraction, options.test_fraction);
}

AccessCauses causes_in(const Json& description, const std::string& where) {
  AccessCauses causes;
  if (!description.is_object() || !description.contains("truth")) return causes;
  const Json& truth = description["truth"];
  const std::string expected = concat(
      where, ": \"truth\" must be {\"causes\": {PC in hexadecimal digits: accesses before, at ",
      "least 1, …}}");
  require(truth.is_object() && truth.contains("causes") && truth["causes"].is_object(),
          ErrorKind::BadData, expected);
  for (const auto& [text, before] : truth["causes"].items()) {
    uint64_t pc = 0;
    const char* last = text.data() + text.size();
    const auto [end, problem] = std::from_chars(text.data(), last, pc, 16);
    require(!text.empty() && problem == std::errc() && end == last && before.is_number_integer() &&
                before.get<int64_t>() >= 1,
            ErrorKind::BadData, expected);
    causes[pc] = before.get<int64_t>();
  }
  return causes;
}

void add_folder(OpenedTrace& opened, const fs::path& folder, const TracesDataOptions& options,
                bool needs_training) {
  const SplitFiles files = find_split_files(folder, kTraceEndings);
  const bool any = std::any_of(files.begin(), files.end(), [](auto& file) { return bool(file); });
  require(needs_training ? files[kTrain].has_value() : any, ErrorKind::NotFound, folder.string(),
          ": the folder has no ", needs_training ? "train" : "train, val or test", " file (",
          join(kTraceEndings), ", each perhaps with .gz)");
  ContentHash hash;
  for (int split = 0; split < kSplitCount; ++split) {
    const auto& file = files[size_t(split)];
    if (!file) continue;
    const int64_t before = opened.seen;
    add_file(opened, *file, options);
    opened.split[split] = opened.seen - before;
    hash.add(concat(kSplitNames[split], "=", hash_of_file(*file), "\n"));
  }
  if (!files[kValidation] && files[kTrain]) {
    TimeSplit& split = opened.split;
    split.validation = std::llround(double(split.train) * options.validation_fraction);
    split.train -= split.validation;
  }
  const fs::path description = folder / "dataset.json";
  if (fs::exists(description)) {
    opened.causes = causes_in(read_description(description, "prefetch"), description.string());
    hash.add(hash_of_file(description));
  }
  opened.hash = hash.text();
}

/// What decides the synthetic trace and its splits.
Json describe_trace(const TracesDataOptions& options) {
  Json json = options_json(options.generator);
  json["kinds"] = options.filter.kinds;
  json["cache_lines"] = options.filter.cache_lines;
  json["validation_fraction"] = options.validation_fraction;
  json["test_fraction"] = options.test_fraction;
  return json;
}

OpenedTrace open_trace(const DataSource& source, const TracesDataOptions& options,
                       bool needs_training) {
  check_roles(source, {});
  OpenedTrace opened(options);
  if (source.path.empty()) {
    SyntheticTrace draw = draw_trace(options.generator);
    for (const TraceAccess& access : draw.accesses) opened.add(access);
    opened.causes = std::move(draw.causes);
    opened.hash = hash_of_built_in("prefetch", describe_trace(options));
    opened.notes.push_back(concat("built-in synthetic trace, ", options.generator.pattern,
                                  ", seed ", options.generator.seed));
    split_whole(opened, options, "the built-in trace");
  } else {
    const std::string where = source.path.string();
    require(fs::exists(source.path), ErrorKind::NotFound, where, ": no such file or folder");
    if (fs::is_directory(source.path)) {
      add_folder(opened, source.path, options, needs_training && !source.whole);
    } else {
      add_file(opened, source.path, options);
      opened.hash = hash_of_file(source.path);
      split_whole(opened, options, where);
      if (source.whole) opened.split = {0, 0, opened.seen};
    }
  }
  opened.store->finish();
  if (opened.given != opened.seen) opened.causes.clear();  // accesses were counted before filtering
  opened.notes.push_back(concat(format_count(opened.given),
                                " accesses, of which a prefetcher sees ", format_count(opened.seen),
                                ": ", format_count(opened.split.train), " for training, ",
                                format_count(opened.split.validation), " for validation, ",
                                format_count(opened.split.test), " for the test, in time order"));
  return opened;
}

void learn_coding(const OpenedTrace& opened, const TracesDataOptions& options, KnownTrace& known,
                  std::vector<std::string>& notes) {
  TraceVocabulary vocabulary =
      learn_vocabulary(*opened.store, opened.split.train, options.vocabulary);
  notes.push_back(concat("vocabulary: ", format_count(int64_t(vocabulary.pages.size())), " pages, ",
                         format_count(int64_t(vocabulary.steps.size())), " steps to other pages, ",
                         format_count(int64_t(vocabulary.pcs.size())), " instructions"));
  known.coding = std::make_shared<const TraceCoding>(std::move(vocabulary));
}

/// Runs the prefetcher over the whole trace. One that begins at the beginning of its training split
/// has learned nothing yet.
NamedLines name_lines(const OpenedTrace& opened, const TracesDataOptions& options,
                      const TraceUse& use, bool is_own, bool is_first, KnownTrace& known) {
  const auto prefetcher =
      make_prefetcher(use.prefetcher, is_own ? NamedTensors{} : known.learned, "the run");
  auto lines = std::make_shared<ScratchArray<int64_t>>(options.scratch);
  std::vector<int64_t> named(size_t(use.degree));
  for (int64_t i = 0; i < opened.seen; ++i) {
    prefetcher->see((*opened.store)[i], !use.frozen || i < opened.split.train);
    prefetcher->name(named);
    for (const int64_t line : named) lines->push_back(line);
    if (is_first && i + 1 == opened.split.train) known.learned = prefetcher->learned();
  }
  lines->finish();
  return {lines, use.degree};
}

/// The rows whose next access is one of begin … end-1.
TraceRows rows_between(int64_t begin, int64_t end) {
  const int64_t first = std::max<int64_t>(begin, 1) - 1;
  return {first, 1, std::max<int64_t>(0, end - 1 - first)};
}

/// Training windows have all their accesses, where there are as many, and overlap by `stride`.
TraceRows training_rows(int64_t end, int64_t window, int64_t stride) {
  const int64_t first = std::min(window - 1, end - 2);
  return {first, stride, (end - 2 - first) / stride + 1};
}

}  // namespace

void TracesDataOptions::describe(OptionList& list) {
  generator.describe(list);
  list.add("kinds", filter.kinds,
           "accesses that count: all; loads, which are L and M; stores, which are S and M")
      .choices({"all", "loads", "stores"});
  list.add("cache_lines", filter.cache_lines,
           "accesses to the lines that were used last do not count, so many of them; 0: all count; "
           "512: as behind a cache of 32 KiB")
      .within(0, 1e9);
  list.add("window", window, "accesses that are looked at").within(1, 4096);
  list.add("stride", stride, "accesses from one training window to the next").at_least(1);
  describe_share(list, "validation_fraction", validation_fraction,
                 "share of the accesses, behind those for training, that is for validation");
  describe_share(list, "test_fraction", test_fraction,
                 "share of the accesses, the last ones, for the test");
  list.add("minimum_count", vocabulary.minimum_count,
           "training accesses that a page, a step or an instruction needs to have a number")
      .at_least(1);
  list.add("pages", vocabulary.pages, "pages with a number, at most").within(0, 1e7);
  list.add("steps", vocabulary.steps,
           "steps from the page before to a page without a number that have one, at most")
      .within(0, 1e6);
  list.add("pcs", vocabulary.pcs, "instructions with a number, at most").within(0, 1e7);
  list.add("cut", cut,
           "a trace that ends in mid-line: refuse it, or leave_out what is not whole and say so")
      .choices({"refuse", "leave_out"});
  list.add("scratch", scratch,
           "folder with room for 16 bytes an access while the program runs; empty: the system's "
           "for temporary files");
}

Splits load_traces(const DataSource& source, const TracesDataOptions& options, const TraceUse& use,
                   KnownTrace& known) {
  const bool is_first = !known.fitted(), is_own = !source.whole;
  const OpenedTrace opened = open_trace(source, options, is_first);
  Splits splits;
  splits.hash = opened.hash;
  splits.notes = opened.notes;
  require(!is_first || opened.split.train > 1, ErrorKind::BadData,
          place_of(source, kTrain, "the built-in trace"), ": ", opened.split.train,
          " accesses for training; at least 2 are needed");
  if (is_first) learn_coding(opened, options, known, splits.notes);
  NamedLines named;
  if (!use.prefetcher.empty()) named = name_lines(opened, options, use, is_own, is_first, known);
  const TraceEncoder encoder(known.coding, {options.window, use.experts});
  const auto causes = std::make_shared<const AccessCauses>(opened.causes);
  const TimeSplit& count = opened.split;
  int64_t begin = 0;
  for (int split = 0; split < kSplitCount; begin += count[split++]) {
    if (count[split] <= (split == kTrain ? 1 : 0)) continue;
    const int64_t end = begin + count[split];
    TraceRows rows = split == kTrain ? training_rows(end, options.window, options.stride)
                                     : rows_between(begin, end);
    rows.kind = options.filter.kinds == "stores" ? 'S' : 'L';
    if (rows.count > 0)
      splits[split] = std::make_shared<TraceDataset>(opened.store, encoder, rows, named, causes);
    else
      splits.notes.push_back(concat("the ", kSplitNames[split], " split has no access to predict"));
  }
  return splits;
}

void write_traces_data(const fs::path& folder, const TracesDataOptions& options) {
  const SyntheticTrace draw = draw_trace(options.generator);
  OpenedTrace opened(options);
  std::vector<int64_t> seen_after;  // of each access
  for (const TraceAccess& access : draw.accesses) {
    opened.add(access);
    seen_after.push_back(opened.seen);
  }
  split_whole(opened, options, "the built-in trace");
  const int64_t train = opened.split.train, validation = train + opened.split.validation;
  std::string texts[kSplitCount];
  for (size_t i = 0; i < draw.accesses.size(); ++i) {
    const TraceAccess& access = draw.accesses[i];
    const int split = seen_after[i] <= train        ? kTrain
                      : seen_after[i] <= validation ? kValidation
                                                    : kTest;
    texts[split] +=
        concat(access.kind, " ", hexadecimal(access.address), " 8 ", hexadecimal(access.pc), "\n");
  }
  make_folder(folder);
  for (int split = 0; split < kSplitCount; ++split)
    if (!texts[split].empty()) write_file(folder / kTraceFiles[split], texts[split]);
  Json causes = Json::object();
  for (const auto& [pc, before] : draw.causes) causes[hexadecimal(pc)] = before;
  write_description(folder, "prefetch", describe_trace(options), {{"truth", {{"causes", causes}}}});
}

}  // namespace fovea
