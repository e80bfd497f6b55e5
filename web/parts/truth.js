// The right answer in words: for the heading of an explanation, and for pictures that are saved.
import {visible} from "fovea/parts/format.js";

const words = {true: "Right", false: "Wrong"};

/** {word: "Right", "Wrong" or undefined, name: what stands before the right answer, text, remark}. */
export function truthWords({right, text, remark}) {
  const name = right === true ? "That is the right answer: " : "The right answer: ";
  return {word: words[right], name, text: visible(text), remark: remark ? `; ${remark}` : ""};
}

/** "Wrong. The right answer: 7 May". */
export function truthSentence(truth) {
  const {word, name, text, remark} = truthWords(truth);
  return `${word ? `${word}. ` : ""}${name}${text}${remark}`;
}
