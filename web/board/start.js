// Starts the page of trainings: of a server that is asked again and again, or of a file that holds them.
import {Board} from "fovea/board/board.js";
import {HeldRuns, ServedRuns} from "fovea/board/source.js";

const held = document.getElementById("runs");
const board = new Board(document.body);
const source = held ? new HeldRuns(document) : new ServedRuns();
source.start(board);
