// Where the parts of a matrix picture go: labels left and above, square cells where possible, the whole map
// at zoom 1.

const largestCell = 48;
const readableCell = 15;
const readableRows = 100;  // up to here rows are never lower than a line of text: the page scrolls instead
const thinnest = 200;  // pixels that a map of few rows or columns gets at least, where its cells are tiny
const narrowWidth = 560;

/** Sizes in CSS pixels. `queryWidth` and `keyWidth` are what labels need: see labelWidths. */
export function matrixLayout({width, height, rows, columns, queryWidth, keyWidth}) {
  const narrow = width < narrowWidth;
  const gutter = queryWidth + 16;
  const slanted = !narrow && keyWidth > largestCell - 8;
  const room = (margin) => cellSizes(Math.max(40, width - gutter - margin), height, rows, columns);
  const flat = keyWidth <= room(0).cellWidth - 6;
  const margin = flat || !slanted ? 1 : Math.round(keyWidth * Math.SQRT1_2) + 8;
  const {cellWidth, cellHeight} = room(margin);
  const angle = flat ? 0 : slanted ? Math.PI / 4 : Math.PI / 2;
  const header = 24 + Math.round(angle === 0 ? 14 : keyWidth * Math.sin(angle) + 8);
  const plotWidth = Math.min(columns * cellWidth, width - gutter - margin);
  const least = rows <= readableRows ? rows * readableCell : 0;
  const plotHeight = Math.min(rows * cellHeight, Math.max(height, least));
  return {
    gutter, header, angle, keyWidth, cellWidth, cellHeight, plotWidth, plotHeight,
    width: Math.min(width, Math.ceil(gutter + plotWidth + margin + 2)),
    height: Math.ceil(header + plotHeight + 2),
  };
}

/** The most room that labels of rows and columns may take. */
export function labelWidths(width) {
  return width < narrowWidth ? {query: 92, key: 84} : {query: 170, key: 130};
}

function cellSizes(width, height, rows, columns) {
  const fitHeight = Math.max(height / rows, rows <= readableRows ? readableCell : 0);
  const square = Math.min(width / columns, fitHeight, largestCell);
  const stretched = (cells, fit) => {
    const isThin = cells * square < thinnest && square < readableCell;
    return isThin ? Math.max(square, Math.min(fit, 22, thinnest / cells)) : square;
  };
  return {cellWidth: stretched(columns, width / columns), cellHeight: stretched(rows, fitHeight)};
}
