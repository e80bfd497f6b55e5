add_row fovea/data/formats/table.cc FOVEA_TABLE_FORMATS
