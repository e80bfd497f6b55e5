#pragma once

#include "fovea/base/code_points.h"
