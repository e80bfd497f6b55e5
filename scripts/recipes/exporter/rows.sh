add_row fovea/export/exporters.cc FOVEA_EXPORTERS
