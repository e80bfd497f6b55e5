// LibTorch, as much as this project uses in most places: tensors, autograd, modules. torch/torch.h
// brings three times as much, and every file that includes it pays for that even when it comes
// precompiled (an empty file compiles in 3.2 s with this one, in 5.7 with that). Networks of
// LibTorch's own come one by one: <torch/nn/modules/linear.h>.
#pragma once

#include <torch/autograd.h>
#include <torch/nn/module.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>
