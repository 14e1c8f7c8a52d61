import { displayWidth, rowsOf, truncateToWidth } from './display-width.js';

/** A cell's text must already be free of control characters; `paint` colours it and changes no width. */
export type Cell = string | { text: string; paint: (text: string) => string };
export interface Column {
  header: string;
  align?: 'right';
  /** May be cut when the table is wider than the terminal. What a person has to type never does. */
  shrinks?: boolean;
  /** Names the row: stands in its first line where a row takes several. */
  leads?: boolean;
}

const gap = '  ';
const narrowest = 8;
const textOf = (cell: Cell | undefined): string => (typeof cell === 'object' ? cell.text : (cell ?? ''));

const totalWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));

function fitWidths(columns: readonly Column[], natural: readonly number[], available: number): number[] {
  const widths = [...natural];
  let excess = totalWidth(widths) - available;
  while (excess > 0) {
    // The widest column that may shrink gives first.
    let widest = -1;
    columns.forEach((column, index) => {
      const width = widths[index] ?? 0;
      if (column.shrinks === true && width > narrowest && width > (widths[widest] ?? 0)) widest = index;
    });
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

interface TableOptions {
  availableColumns?: number | undefined;
  paintHeader?: (text: string) => string;
}

/**
 * Lines of an aligned table with a header, without a newline at the end. Columns are aligned by what a terminal draws;
 * where `availableColumns` is given, columns that may shrink are cut to it, and where that is not enough each row takes
 * several lines, in which nothing is cut. A column without a single value is left out.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions = {},
): string {
  const shown = columns.map((_, index) => index).filter((index) => rows.some((row) => textOf(row[index]) !== ''));
  const shownColumns = shown.flatMap((index) => columns[index] ?? []);
  const natural = shown.map((index, at) =>
    Math.max(displayWidth(shownColumns[at]?.header ?? ''), ...rows.map((row) => displayWidth(textOf(row[index])))),
  );
  const available = options.availableColumns ?? Number.POSITIVE_INFINITY;
  const widths = fitWidths(shownColumns, natural, available);
  if (totalWidth(widths) > available) {
    const cells = rows.map((row) => shown.map((index) => row[index] ?? ''));
    return cells.flatMap((row) => severalLines(shownColumns, row, { ...options, available })).join('\n');
  }

  const line = (cells: readonly (Cell | undefined)[]): string => {
    const parts = shownColumns.map((column, at) => {
      const cell = cells[at];
      const width = widths[at] ?? 0;
      const text = truncateToWidth(textOf(cell), width);
      const padding = ' '.repeat(width - displayWidth(text));
      const painted = typeof cell === 'object' ? cell.paint(text) : text;
      if (column.align === 'right') return padding + painted;
      return at === shownColumns.length - 1 ? painted : painted + padding;
    });
    return parts.join(gap).trimEnd();
  };
  const paint = options.paintHeader ?? ((text: string): string => text);
  const header = line(shownColumns.map(({ header: text }) => ({ text, paint })));
  return [header, ...rows.map((row) => line(shown.map((index) => row[index])))].join('\n');
}

const separator = ' · ';

/** A row whose names stand in one line, with what else is known of it below, indented. */
function severalLines(
  columns: readonly Column[],
  row: readonly Cell[],
  { available, paintHeader = String }: TableOptions & { available: number },
): string[] {
  const named = row.flatMap((cell, at) => {
    const column = columns[at];
    return column === undefined || textOf(cell) === '' ? [] : [{ column, cell }];
  });
  const painted = (cell: Cell): string => (typeof cell === 'object' ? cell.paint(cell.text) : cell);
  const lines = [named.flatMap(({ column, cell }) => (column.leads === true ? [painted(cell)] : [])).join(gap)];
  const room = Math.max(narrowest, available - gap.length);
  let line = '';
  let width = 0;
  const end = (): void => {
    if (line !== '') lines.push(gap + line);
    [line, width] = ['', 0];
  };
  for (const { column, cell } of named) {
    if (column.leads === true) continue;
    const label = `${column.header.toLowerCase()}: `;
    const wide = displayWidth(label + textOf(cell));
    if (width > 0 && width + separator.length + wide > room) end();
    if (wide > room && column.shrinks !== true) {
      // Broken by the terminal alone: what is copied is whole.
      lines.push(`${gap}${paintHeader(label)}${painted(cell)}`);
      continue;
    }
    if (wide > room) {
      // Continued further in, so that no part of a value passes for a line of its own.
      lines.push(
        ...rowsOf(label + textOf(cell), room - gap.length).map((part, at) => gap.repeat(at === 0 ? 1 : 2) + part),
      );
      continue;
    }
    line += `${width > 0 ? separator : ''}${paintHeader(label)}${painted(cell)}`;
    width += (width > 0 ? separator.length : 0) + wide;
  }
  end();
  return lines;
}
