// The lines of each patient put together: visits in the order of time, one label, one split.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fovea/data/visits/reader.h"

namespace fovea {

/// What one line says; nothing where the file does not have the column or key.
struct VisitLine {
  enum Role : size_t { Patient, Time, Codes, Label, Split };
  std::vector<std::optional<std::string>> fields;  // by role
  std::vector<std::string> codes;
  VisitLabel answer;
};

class GatheredPatients {
 public:
  explicit GatheredPatients(const VisitsOptions& options) : options_(options) {}

  /// BadData, beginning with `place`, for a time that is none and for a patient in two splits.
  void add(VisitLine line, const std::string& place);
  /// In the order of their first lines. BadData for labels of one patient that must not differ.
  FileRows<PatientRecord> take(const std::string& path, const std::string& hash,
                               const RowSink<PatientRecord>& sink);

 private:
  struct Row {
    Visit visit;
    VisitLabel answer;
    std::string place;
  };
  struct Entry {
    std::string name;
    std::vector<Row> lines;
    std::optional<Split> split;
  };

  Entry& entry_of(const std::string& name);
  PatientRecord record_of(Entry& patient);
  /// Whether there is something to learn from: an answer, at some visit.
  bool is_answered(const PatientRecord& record) const;
  void take_label(const Row& row, PatientRecord& record, bool& disagree) const;
  bool is_left_out(const PatientRecord& record);
  void add_notes(const std::string& path, std::vector<std::string>& notes) const;

  const VisitsOptions& options_;
  std::vector<Entry> patients_;
  std::unordered_map<std::string, size_t> numbers_;
  int64_t without_patient_ = 0, without_code_ = 0, without_label_ = 0;
  int64_t out_of_order_ = 0, same_time_ = 0, disagreeing_ = 0;
};

}  // namespace fovea
