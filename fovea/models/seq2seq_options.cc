#include "fovea/models/seq2seq.h"

namespace fovea {

void Seq2SeqOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"seq2seq"});
  list.add("cell", cell, "recurrent cell of encoder and decoder").choices({"rnn", "gru", "lstm"});
  list.add("encoder_cell", encoder_cell, "recurrent cell of the encoder; same: model.cell")
      .choices({"same", "rnn", "gru", "lstm"});
  list.add(
          "reset", reset,
          "gru: where the reset gate stands: after, r * (U h), as PyTorch and the kernels have it; "
          "before, U (r * h), as Cho 2014 and Bahdanau 2015 write it, without kernels and slower")
      .choices({"after", "before"});
  list.add("hidden", hidden, "units of the decoder, and numbers per encoded source position")
      .at_least(1);
  list.add("encoder_hidden", encoder_hidden,
           "units of each direction of the encoder; 0: model.hidden, halved for two directions")
      .at_least(0);
  list.add("layers", layers, "stacked layers of encoder and decoder").within(1, 64);
  list.add("embedding", embedding, "numbers per symbol").at_least(1);
  list.add("one_hot", one_hot,
           "symbols enter as one-hot vectors instead of embeddings, and nothing before the first");
  list.add("bidirectional", bidirectional, "the encoder reads the source from both ends");
  list.add("reverse_source", reverse_source, "the encoder reads from the last symbol to the first");
  list.add("dropout", dropout, "of embeddings, between layers and of the readout").rate();
  list.add("tie_embeddings", tie_embeddings, "the output matrix is the target's embedding");
  list.add("attention", attention,
           "soft: each step looks back at the source; none: the source is one vector")
      .choices({"soft", "none"});
  list.add(
          "decoder", decoder,
          "bahdanau: look with the old state, then step; luong: step, then look with the new state")
      .choices({"luong", "bahdanau"});
  list.add("input_feeding", input_feeding, "luong: the last readout is part of the next input");
  list.add("summary", summary,
           "attention=none: every step sees the source's summary (Cho 2014); no: only the first "
           "state does (Sutskever 2014)");
  list.add("summary_gated", summary_gated,
           "gru: the decoder's reset gate scales the summary too, tanh(W x + r * (U h + C c)) (Cho "
           "2014); model.reset is then the encoder's, and there are no kernels");
  list.add("bridge", bridge,
           "the decoder's first state: dense, tanh of a layer over the encoder's last states; "
           "backward, the same over the backward direction alone; summary, the same over the "
           "summary (Cho 2014); first, the same over the first encoded position, without bias; "
           "copy, "
           "as they are")
      .choices({"dense", "backward", "summary", "first", "copy"});
  list.add("readout", readout,
           "what the output layer sees: tanh(W [c ; s]); maxout; linear, [s ; x ; c]; or state, s "
           "alone (Sutskever 2014)")
      .choices({"tanh", "maxout", "linear", "state"});
  list.add("readout_from", readout_from, "bahdanau: state in the readout, s_t or s_(t-1)")
      .choices({"new", "previous"});
  list.add("readout_size", readout_size,
           "numbers in a tanh or maxout readout; 0: model.hidden (tied: model.embedding)")
      .at_least(0);
  list.add("output_rank", output_rank,
           "rank of the output matrix, which is then a product of two (Cho 2014); 0: one matrix")
      .at_least(0);
  list.add(
          "feedback", feedback,
          "what training feeds back: the right symbol (teacher), the model's own softmax (own), or "
          "ever more of its own choices (scheduled)")
      .choices({"teacher", "own", "scheduled"});
  list.add("scheduled_k", scheduled_k, "scheduled: the teacher's share is k / (k + exp(step / k))")
      .above(0);
  list.add("coverage", coverage, "penalty for looking twice at one place (See 2017); 0: off")
      .at_least(0);
  list.add("label_smoothing", label_smoothing, "share of the target spread over all symbols")
      .rate();
  score.describe(list);
  normaliser.describe(list);
  alignment.describe(list);
}

}  // namespace fovea
