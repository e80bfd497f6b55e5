// The data of the task `images`, from wherever it comes, in splits: idx files, a folder of
// pictures by class, a table of pictures, or synthetic digits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fovea/data/images/encoder.h"
#include "fovea/data/images/image_folder.h"
#include "fovea/data/images/synthetic.h"
#include "fovea/data/source.h"

namespace fovea {

/// Everything under data. for this task.
struct ImageDataOptions {
  SyntheticImagesOptions generator;
  ViewOptions views;
  ImageFileOptions files;
  double validation_fraction = 0.1;
  void describe(OptionList& list);
};

/// What is learned from the data and kept in the run.
struct ImageCoding {
  std::vector<std::string> classes;  // numbers by value, else by name
  PictureShape shape;                // what the network sees
  PictureShape pictures;             // the same before a view is made of it (ViewOptions)

  bool fitted() const { return !classes.empty(); }
  Json to_json() const;
  /// BadData, beginning with `where`.
  static ImageCoding from_json(const Json& json, const std::string& where);
};

/// Reads or draws. A first call finds the classes and the pictures' size; later ones must fit them.
/// `encoder` says what the network's examples are like. The seed chooses the rows to hold out, and
/// the views that validation and test rows keep.
using MakePictureEncoder = std::function<PictureEncoder(const PictureShape&)>;
Splits load_images(const DataSource& source, const ImageDataOptions& options, ImageCoding& coding,
                   const MakePictureEncoder& encoder, uint64_t seed);

/// Writes the synthetic digits as idx files and dataset.json: loading the folder gives the same
/// rows.
void write_image_data(const std::filesystem::path& folder, const ImageDataOptions& options);

}  // namespace fovea
