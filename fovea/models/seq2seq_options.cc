#include "fovea/models/seq2seq.h"

namespace fovea {

void Seq2SeqOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"seq2seq"});
  list.add("cell", cell, "recurrent cell of encoder and decoder").choices({"rnn", "gru", "lstm"});
  list.add("hidden", hidden, "units of the decoder, and numbers per encoded source position")
      .at_least(1);
  list.add("encoder_hidden", encoder_hidden,
           "units of each direction of the encoder; 0: model.hidden, halved for two directions")
      .at_least(0);
  list.add("layers", layers, "stacked layers of encoder and decoder").within(1, 64);
  list.add("embedding", embedding, "numbers per symbol").at_least(1);
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
  list.add("bridge", bridge,
           "the decoder's first state: dense, tanh of a layer over the encoder's last states; "
           "backward, the same over the backward direction alone; copy, as they are")
      .choices({"dense", "backward", "copy"});
  list.add("readout", readout, "what the output layer sees: tanh(W [c ; s]), maxout, or linear")
      .choices({"tanh", "maxout", "linear"});
  list.add("readout_from", readout_from, "bahdanau: state in the readout, s_t or s_(t-1)")
      .choices({"new", "previous"});
  list.add("readout_size", readout_size,
           "numbers in a tanh or maxout readout; 0: model.hidden (tied: model.embedding)")
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
