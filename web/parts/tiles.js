// The cells of a matrix as small pictures, one pixel per cell, of the level that suits the zoom. They are
// made when they come into view and kept; until one is there a coarser one stands in for it.

const side = 256;
const keptTiles = 192;
const keptBandBytes = 64 * 2 ** 20;
const frameBudget = 8;  // ms for new tiles in one frame

/** `changed()` is called when a tile that was asked for has arrived. */
export class Tiles {
  constructor(matrix, changed) {
    Object.assign(this, {matrix, changed, scale: null, error: null});
    this.keptBands = Math.max(6, keptBandBytes / (4 * side * Math.max(1, matrix.columns)));
    this.tiles = new Map();  // in order of last use, as the bands
    this.bands = new Map();
    this.loading = new Set();
  }

  /** Colours change: all tiles are made anew from the numbers at hand. */
  setScale(scale) {
    this.scale = scale;
    this.tiles.clear();
  }

  /** What is drawn for cells of this size: the finest level whose cells are at least one device pixel. Levels
      shrink rows and columns alike; where cells are not square the shorter direction is shrunk further, by
      stepX or stepY. */
  gridFor(cellWidth, cellHeight) {
    const ratio = window.devicePixelRatio || 1;
    const wanted = 0.999 / (ratio * Math.sqrt(cellWidth * cellHeight));
    const found = this.matrix.levels.findIndex(({factor}) => factor >= wanted);
    const level = found < 0 ? this.matrix.levels.length - 1 : found;
    const step = (cell) => Math.max(1, Math.ceil(0.999 / (cell * ratio * this.matrix.levels[level].factor)));
    return this.#grid(level, step(cellWidth), step(cellHeight));
  }

  /** Draws the cells of `view`: {left, top, width, height, cellWidth, cellHeight, offsetX, offsetY} in CSS
      pixels. */
  draw(canvas, view) {
    const started = performance.now();
    const isLate = () => performance.now() - started > frameBudget;
    const grid = this.gridFor(view.cellWidth, view.cellHeight);
    canvas.save();
    canvas.beginPath();
    canvas.rect(view.left, view.top, view.width, view.height);
    canvas.clip();
    canvas.imageSmoothingEnabled = false;
    const missing = [];
    for (const place of placesIn(grid, view)) {
      const tile = this.#tile(grid, place, isLate());
      if (tile) drawTile(canvas, tile, grid, place, view);
      else missing.push(place);
    }
    for (const place of missing) this.#drawCoarser(canvas, grid, place, view);
    canvas.restore();
    if (missing.length > 0 && isLate()) this.changed();
  }

  /** What the cell of a grid that holds (query, key) shows; undefined while it is not at hand. */
  shown(grid, query, key) {
    const row = Math.floor(query / grid.factorY);
    const column = Math.floor(key / grid.factorX);
    const band = this.bands.get(bandName(grid, Math.floor(row / side)));
    if (!band) return undefined;
    return largestOf(band, grid, row % side, column);
  }

  #grid(level, stepX = 1, stepY = 1) {
    const {factor, rows, columns} = this.matrix.levels[level];
    return {
      level, stepX, stepY, factorX: factor * stepX, factorY: factor * stepY,
      levelRows: rows, levelColumns: columns,
      rows: Math.ceil(rows / stepY), columns: Math.ceil(columns / stepX),
    };
  }

  #drawCoarser(canvas, grid, place, view) {
    const coarsest = this.matrix.levels.length - 1;
    for (let level = grid.level + 1; level <= coarsest; ++level) {
      const coarser = this.#grid(level);
      const coarserPlace = {
        row: Math.floor((place.row * grid.factorY) / coarser.factorY),
        column: Math.floor((place.column * grid.factorX) / coarser.factorX),
      };
      const tile = this.#tile(coarser, coarserPlace, level < coarsest);
      if (!tile) continue;
      canvas.save();
      clipTo(canvas, grid, place, view);
      drawTile(canvas, tile, coarser, coarserPlace, view);
      canvas.restore();
      return;
    }
  }

  // Undefined while its numbers are not at hand, or when the frame has no time left to make it.
  #tile(grid, place, onlyMade) {
    const name = `${bandName(grid, place.row)} ${grid.stepX} ${place.column}`;
    const known = refreshed(this.tiles, name);
    if (known || onlyMade) return known;
    const band = refreshed(this.bands, bandName(grid, place.row));
    if (!band) this.#load(grid, place.row);
    if (!band || !this.scale) return undefined;
    const tile = this.#make(grid, place, band);
    keep(this.tiles, name, tile, keptTiles);
    return tile;
  }

  async #load(grid, row) {
    const name = bandName(grid, row);
    if (this.loading.has(name)) return;
    this.loading.add(name);
    const height = side * grid.stepY;
    const end = Math.min((row + 1) * height, grid.levelRows);
    try {
      keep(this.bands, name, await this.matrix.band(grid.level, row * height, end), this.keptBands);
      this.loading.delete(name);
    } catch (error) {
      this.error = error;  // and stays in `loading`: what failed once would fail for ever
    }
    this.changed();
  }

  #make(grid, {row, column}, band) {
    const width = Math.min(side, grid.columns - column * side);
    const height = Math.min(side, grid.rows - row * side);
    const tile = new OffscreenCanvas(width, height);
    const canvas = tile.getContext("2d");
    const image = canvas.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let y = 0; y < height; ++y) {
      const cells = cellsOf(band, grid, y, column * side, width);
      this.scale.paint(cells, pixels.subarray(y * width, (y + 1) * width));
    }
    canvas.putImageData(image, 0, 0);
    return tile;
  }
}

function bandName({level, stepY}, row) {
  return `${level} ${stepY} ${row}`;
}

// One row of a tile's weights.
function cellsOf(band, grid, row, first, width) {
  if (grid.stepX === 1 && grid.stepY === 1) {
    return band.subarray(row * grid.levelColumns + first, row * grid.levelColumns + first + width);
  }
  return Float32Array.from({length: width}, (_, i) => largestOf(band, grid, row, first + i));
}

// The weight of largest magnitude among those that a cell of the grid stands for; NaN where all are gaps.
function largestOf(band, {levelColumns, stepX, stepY}, row, column) {
  const rows = Math.min((row + 1) * stepY, band.length / levelColumns);
  const columns = Math.min((column + 1) * stepX, levelColumns);
  let largest = NaN;
  for (let y = row * stepY; y < rows; ++y) {
    for (let x = column * stepX; x < columns; ++x) {
      const value = band[y * levelColumns + x];
      if (!(Math.abs(value) <= Math.abs(largest)) && value === value) largest = value;
    }
  }
  return largest;
}

// The tiles of a grid that the view touches.
function* placesIn({factorX, factorY, rows, columns}, view) {
  const range = (offset, span, size, cells) => [
    Math.max(0, Math.floor(-offset / span)),
    Math.min(Math.ceil(cells / side), Math.ceil((size - offset) / span)),
  ];
  const [top, bottom] = range(view.offsetY, view.cellHeight * factorY * side, view.height, rows);
  const [left, right] = range(view.offsetX, view.cellWidth * factorX * side, view.width, columns);
  for (let row = top; row < bottom; ++row) {
    for (let column = left; column < right; ++column) yield {row, column};
  }
}

function drawTile(canvas, tile, grid, place, view) {
  const {left, top, right, bottom} = edges(grid, place, tile.width, tile.height, view);
  canvas.drawImage(tile, left, top, right - left, bottom - top);
}

function clipTo(canvas, grid, place, view) {
  const {left, top, right, bottom} = edges(grid, place, side, side, view);
  canvas.beginPath();
  canvas.rect(left, top, right - left, bottom - top);
  canvas.clip();
}

// Whole device pixels, so that neighbours leave no seam.
function edges({factorX, factorY}, {row, column}, width, height, view) {
  const ratio = window.devicePixelRatio || 1;
  const snapped = (value) => Math.round(value * ratio) / ratio;
  const x = (cell) => snapped(view.left + view.offsetX + cell * factorX * view.cellWidth);
  const y = (cell) => snapped(view.top + view.offsetY + cell * factorY * view.cellHeight);
  return {
    left: x(column * side), right: x(column * side + width),
    top: y(row * side), bottom: y(row * side + height),
  };
}

function refreshed(cache, name) {
  const value = cache.get(name);
  if (value !== undefined) {
    cache.delete(name);
    cache.set(name, value);
  }
  return value;
}

function keep(cache, name, value, most) {
  cache.set(name, value);
  if (cache.size > most) cache.delete(cache.keys().next().value);
}
