#include "fovea/nn/recurrent/recurrent_fused.h"

#include "fovea/nn/recurrent/recurrent_passes.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

class LayerFunction : public torch::autograd::Function<LayerFunction> {
 public:
  /// `list` as in RecurrentInputs. Saved are `list`, its entries, and what each direction saves.
  static tensor_list forward(AutogradContext* context, at::TensorList list,
                             const std::shared_ptr<RecurrentPlan>& plan) {
    const RecurrentInputs in{list, *plan};
    const Tensor entries = without_padding(in.x(), *plan->layout);
    const RecurrentPass pass = recurrent_forward_pass(in, entries, /*keep=*/true);
    tensor_list saved = list.vec();
    saved.push_back(entries);
    for (const SavedForBackward& direction : pass.saved) {
      saved.insert(saved.end(), {direction.gates, direction.hidden_before});
      if (plan->has_cell()) saved.push_back(direction.cell_before);
    }
    context->set_materialize_grads(false);
    context->save_for_backward(saved);
    context->saved_data["plan"] = c10::IValue::make_capsule(c10::make_intrusive<Holder>(plan));
    return pass.results;
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& arrived) {
    const tensor_list saved = context->get_saved_variables();
    const auto holder =
        c10::static_intrusive_pointer_cast<Holder>(context->saved_data["plan"].toCapsule());
    const RecurrentPlan& plan = *holder->plan;
    const size_t each = plan.has_cell() ? 3 : 2;
    const size_t inputs = saved.size() - 1 - each * static_cast<size_t>(plan.directions);
    const RecurrentInputs in{at::TensorList(saved).slice(0, inputs), plan};
    if (at::GradMode::is_enabled()) return differentiable(in, arrived);
    std::vector<SavedForBackward> directions;
    for (size_t i = inputs + 1; i < saved.size(); i += each)
      directions.push_back({saved[i], saved[i + 1], plan.has_cell() ? saved[i + 2] : Tensor()});
    tensor_list gradients = recurrent_backward_pass(
        in, saved[inputs], directions,
        {arrived, [&](size_t input) { return context->needs_input_grad(input); }});
    gradients.emplace_back();  // the plan's
    return gradients;
  }

 private:
  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<RecurrentPlan> p) : plan(std::move(p)) {}
    std::shared_ptr<RecurrentPlan> plan;
  };

  /// The gradients by LibTorch, for those who differentiate them again.
  static tensor_list differentiable(const RecurrentInputs& in, const tensor_list& arrived) {
    const RecurrentOutput again =
        run_library_layer(in.layer(), in.x(), *in.plan.layout, in.start());
    tensor_list results{again.outputs};
    for (const auto* states : {&again.state.hidden, &again.state.cell})
      results.insert(results.end(), states->begin(), states->end());
    tensor_list reached, there, wanted;
    for (size_t i = 0; i < results.size(); ++i)
      if (arrived[i].defined()) reached.push_back(results[i]), there.push_back(arrived[i]);
    for (const Tensor& input : in.list)
      if (input.requires_grad()) wanted.push_back(input);
    const tensor_list found = torch::autograd::grad(reached, wanted, there, /*retain_graph=*/true,
                                                    /*create_graph=*/true, /*allow_unused=*/true);
    tensor_list gradients;
    size_t next = 0;
    for (const Tensor& input : in.list)
      gradients.push_back(input.requires_grad() ? found[next++] : Tensor());
    gradients.emplace_back();  // the plan's
    return gradients;
  }
};

}  // namespace

RecurrentOutput run_fused_layer(const RecurrentLayer& layer, const Tensor& x,
                                const std::shared_ptr<const SequenceLayout>& layout,
                                const RecurrentState& start) {
  const auto plan = std::make_shared<RecurrentPlan>(
      RecurrentPlan{layer.cell, layout, layer.directions(), x.size(2), layer.hidden_size(),
                    !start.hidden.empty()});
  tensor_list list{x};
  for (const auto* tensors : {&layer.weights, &start.hidden, &start.cell})
    for (const Tensor& tensor : *tensors) list.push_back(tensor.contiguous());
  tensor_list results;
  if (torch::GradMode::is_enabled() && torch::autograd::any_variable_requires_grad(list)) {
    results = LayerFunction::apply(at::TensorList(list), plan);
  } else {
    const RecurrentInputs in{list, *plan};
    results = recurrent_forward_pass(in, without_padding(x, *layout), /*keep=*/false).results;
  }
  const auto cells = results.begin() + 1 + layer.directions();
  return {results[0], {{results.begin() + 1, cells}, {cells, results.end()}}};
}

}  // namespace fovea
