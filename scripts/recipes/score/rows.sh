add_row fovea/attention/score.cc FOVEA_SCORES
