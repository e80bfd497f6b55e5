// Starts the file of embeddings that fovea embeddings --out writes.
import {Projector} from "fovea/embeddings/projector.js";

new Projector(document.getElementById("projector"), JSON.parse(document.getElementById("embeddings").textContent));
