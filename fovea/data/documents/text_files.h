// Labelled texts that lie in no table:
//   fastText      __label__pos a fine film
//   lines         a label and a text with a tab between them, in either order and without a header
//   class folder  pos/1.txt, neg/2.txt: a text each (data/class_folders.h)
// docs/formats/labelled-text.md states the rules and what is refused.
#pragma once

#include "fovea/data/documents/reader.h"

namespace fovea {

/// The first line that is not blank, without a byte order mark; "" where there is none, and where
/// the file cannot be read: who reads all of it says why.
std::string first_line(const std::filesystem::path& path);

/// Whether that line begins with __label__.
bool is_fasttext(const std::filesystem::path& path);
/// BadData with path:line for a text without a label, or with several.
FileRows<LabelledText> read_fasttext(const std::filesystem::path& path, int64_t max_bytes,
                                     const RowSink<LabelledText>& sink = {});

/// The label is the column with fewer different values; a note says which.
FileRows<LabelledText> read_labelled_lines(const std::filesystem::path& path, int64_t max_bytes,
                                           const RowSink<LabelledText>& sink = {});

bool holds_text_folders(const std::filesystem::path& path);
/// BadData for a folder of classes with more pictures than texts.
void refuse_pictures(const std::filesystem::path& folder);
/// A file that is not UTF-8 is read as ISO-8859-1, and a note says how many are.
FileRows<LabelledText> read_text_folders(const std::filesystem::path& folder, int64_t max_bytes,
                                         const RowSink<LabelledText>& sink = {});

}  // namespace fovea
