#include "fovea/data/traces/synthetic.h"

#include "fovea/base/error.h"
#include "fovea/tensor/random.h"

namespace fovea {

namespace {

// Where a program's parts usually lie.
constexpr uint64_t kCode = 0x109200, kHeap = 0x4a31000, kTable = 0x7f2a40000000;
constexpr uint64_t kInstruction = 4;  // bytes
constexpr uint64_t kLineBytes = uint64_t{1} << kLineBits;
constexpr uint64_t kNumber = 8, kTuple = 16;  // bytes

uint64_t pc(int64_t index) {
  return kCode + uint64_t(index) * kInstruction;
}

/// Adds accesses until there are enough.
class Program {
 public:
  Program(SyntheticTrace& draw, int64_t accesses) : draw_(draw), wanted_(accesses) {
    draw_.accesses.reserve(size_t(accesses));
  }
  bool runs() const { return int64_t(draw_.accesses.size()) < wanted_; }
  void load(uint64_t address, int64_t instruction) {
    if (runs()) draw_.accesses.push_back({'L', address, pc(instruction)});
  }
  /// What the instruction loads is decided by the access that many before.
  void decided(int64_t instruction, int64_t before) { draw_.causes[pc(instruction)] = before; }

 private:
  SyntheticTrace& draw_;
  int64_t wanted_;
};

void chase_pointers(const SyntheticTraceOptions& options, const Random& random, Program& program) {
  require(options.nodes >= options.lists, ErrorKind::InvalidArgument, "data.nodes=", options.nodes,
          " leaves some of the ", options.lists, " lists without a node; at least ", options.lists,
          " are needed");
  int64_t nodes = 0;
  for (int64_t list = 0; list < options.lists; ++list) nodes += options.nodes - list;
  const std::vector<int64_t> places = random.split("places").permutation(nodes);  // of all lists
  for (int64_t list = 0; list < options.lists; ++list) program.decided(list, options.lists);
  for (int64_t step = 0; program.runs(); ++step)
    for (int64_t list = 0, first = 0; list < options.lists; ++list) {
      const int64_t length = options.nodes - list;
      program.load(kHeap + uint64_t(places[size_t(first + step % length)]) * kLineBytes, list);
      first += length;
    }
}

void walk_matrix(const SyntheticTraceOptions& options, Program& program) {
  program.decided(0, 1);
  while (program.runs())
    for (int64_t column = 0; column < options.columns; ++column)
      for (int64_t row = 0; row < options.rows && program.runs(); ++row)
        program.load(kHeap + uint64_t(row * options.columns + column) * kNumber, 0);
}

void join_tables(const SyntheticTraceOptions& options, const Random& random, Program& program) {
  enum { kScan, kBucket, kEntry, kLoads };
  const std::vector<int64_t> entries = random.split("entries").permutation(options.buckets);
  const Random keys = random.split("keys");
  const uint64_t bucket_table = kTable, entry_table = kTable + (uint64_t{1} << 30);
  program.decided(kScan, kLoads);
  program.decided(kEntry, 1);
  for (uint64_t row = 0; program.runs(); ++row) {
    const uint64_t bucket = keys.below(row, uint64_t(options.buckets));
    program.load(kHeap + row * kTuple, kScan);
    program.load(bucket_table + bucket * kLineBytes, kBucket);
    program.load(entry_table + uint64_t(entries[size_t(bucket)]) * kLineBytes, kEntry);
  }
}

}  // namespace

void SyntheticTraceOptions::describe(OptionList& list) {
  list.add("pattern", pattern, "of the built-in trace: which program was traced")
      .choices({"pointer_chase", "matrix_walk", "hash_join"});
  list.add("accesses", accesses, "of the built-in trace").within(8, 1e9);
  list.add("lists", lists, "pointer_chase: lists that are walked in turn").within(1, 64);
  list.add("nodes", nodes, "pointer_chase: of the first list; each further one has one less")
      .within(2, 1e8);
  list.add("rows", rows, "matrix_walk: of the matrix").within(2, 1e6);
  list.add("columns", columns, "matrix_walk: of the matrix").within(1, 1e6);
  list.add("buckets", buckets, "hash_join: of the hash table").within(2, 1e8);
  list.add("seed", seed, "of the built-in trace");
}

SyntheticTrace draw_trace(const SyntheticTraceOptions& options) {
  SyntheticTrace draw;
  const Random random = Random(uint64_t(options.seed)).split("access patterns");
  Program program(draw, options.accesses);
  if (options.pattern == "pointer_chase") chase_pointers(options, random, program);
  if (options.pattern == "matrix_walk") walk_matrix(options, program);
  if (options.pattern == "hash_join") join_tables(options, random, program);
  return draw;
}

}  // namespace fovea
