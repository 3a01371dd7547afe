import type { Position } from "./position.ts";

/** Cells from one number up to another one, both included. */
export interface CellRange {
  readonly low: number;
  readonly high: number;
}

/** A square of the grid at some level: 0 is the whole map, each next one halves both sides. */
interface Cell {
  readonly level: number;
  readonly column: number;
  readonly row: number;
}

/** Degrees; west is less than east. */
interface Box {
  readonly south: number;
  readonly north: number;
  readonly west: number;
  readonly east: number;
}

/** Bits of one side: cells of the last level are 0.6 m wide with exact numbers. */
const cellBits = 26;
const halfBits = 13;
/** With more ranges an engine searches its index longer than it saves. */
const maxRanges = 32;
const cellDegrees = 180 / Math.PI;
/** Radians, about 6 mm: more than rounding can do. */
const rangeSlack = 1e-9;

/**
 * Returns the number of the cell that a place is in. Cells are numbered along a Z-order curve: near
 * ones mostly have near numbers, and every square is a range of them.
 */
export function cellOf({ latitude, longitude }: Position): number {
  const [column, row] = [gridOf((longitude + 180) / 360), gridOf((latitude + 90) / 180)];
  return numberOf(column, row);
}

/**
 * Returns ranges of cells that hold every place within an angle of one, and others; `undefined`
 * when they would hold most of the earth.
 */
export function cellsAround(
  { latitude, longitude }: Position,
  angle: number,
): readonly CellRange[] | undefined {
  const reach = angle + rangeSlack;
  if (!(reach < Math.PI / 4)) return undefined;
  const boxes = boxesAround({ latitude, longitude }, reach);
  let cells: readonly Cell[] = [{ level: 0, column: 0, row: 0 }];
  for (let level = 1; level <= cellBits; level += 1) {
    const next = cells.flatMap((cell) =>
      boxes.some((box) => isWithin(cell, box)) ? [cell] : partsOf(cell, boxes),
    );
    if (next.length > maxRanges) break;
    cells = next;
  }
  return joined(cells.map(rangeOf).toSorted((one, other) => one.low - other.low));
}

function boxesAround({ latitude, longitude }: Position, reach: number): readonly Box[] {
  const south = latitude - reach * cellDegrees;
  const north = latitude + reach * cellDegrees;
  if (south <= -90 || north >= 90) return [{ south, north, west: -180, east: 180 }];
  // The meridians that touch the circle (Bronshtein: sin Δλ = sin r / cos φ).
  const spread = Math.asin(Math.min(1, Math.sin(reach) / Math.cos(latitude / cellDegrees)));
  const [west, east] = [longitude - spread * cellDegrees, longitude + spread * cellDegrees];
  const boxes: Box[] = [{ south, north, west: Math.max(west, -180), east: Math.min(east, 180) }];
  // One place has two longitudes where the map ends, so what touches one end has the other as well.
  if (west <= -180) boxes.push({ south, north, west: Math.min(180, west + 360), east: 180 });
  if (east >= 180) boxes.push({ south, north, west: -180, east: Math.max(-180, east - 360) });
  return boxes;
}

function partsOf({ level, column, row }: Cell, boxes: readonly Box[]): readonly Cell[] {
  const parts: Cell[] = [];
  for (const north of [0, 1]) {
    for (const east of [0, 1]) {
      const part = { level: level + 1, column: column * 2 + east, row: row * 2 + north };
      if (boxes.some((box) => meets(part, box))) parts.push(part);
    }
  }
  return parts;
}

function boxOf({ level, column, row }: Cell): Box {
  const count = 2 ** level;
  return {
    west: (column / count) * 360 - 180,
    east: ((column + 1) / count) * 360 - 180,
    south: (row / count) * 180 - 90,
    north: ((row + 1) / count) * 180 - 90,
  };
}

function meets(cell: Cell, box: Box): boolean {
  const { west, east, south, north } = boxOf(cell);
  return west <= box.east && east >= box.west && south <= box.north && north >= box.south;
}

function isWithin(cell: Cell, box: Box): boolean {
  const { west, east, south, north } = boxOf(cell);
  return west >= box.west && east <= box.east && south >= box.south && north <= box.north;
}

function rangeOf({ level, column, row }: Cell): CellRange {
  const side = 2 ** (cellBits - level);
  const low = numberOf(column * side, row * side);
  return { low, high: low + side * side - 1 };
}

/** Joins ranges that follow one another. */
function joined(ranges: readonly CellRange[]): readonly CellRange[] {
  const result: CellRange[] = [];
  for (const range of ranges) {
    const last = result.at(-1);
    if (last !== undefined && last.high + 1 === range.low) {
      result[result.length - 1] = { low: last.low, high: range.high };
    } else result.push(range);
  }
  return result;
}

function gridOf(part: number): number {
  return Math.min(2 ** cellBits - 1, Math.floor(part * 2 ** cellBits));
}

/** Interleaves the bits of both numbers, in two halves: bitwise operators know 32 bits only. */
function numberOf(column: number, row: number): number {
  const low = 2 ** halfBits - 1;
  const upper = spread(column >> halfBits) | (spread(row >> halfBits) << 1);
  const lower = spread(column & low) | (spread(row & low) << 1);
  return upper * 2 ** cellBits + lower;
}

/** Puts a zero between every two bits of a number of 13 bits. */
function spread(bits: number): number {
  let wide = bits;
  wide = (wide | (wide << 8)) & 0x00ff00ff;
  wide = (wide | (wide << 4)) & 0x0f0f0f0f;
  wide = (wide | (wide << 2)) & 0x33333333;
  return (wide | (wide << 1)) & 0x55555555;
}
