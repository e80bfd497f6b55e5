add_row cli/program.h FOVEA_COMMANDS
