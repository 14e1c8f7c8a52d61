import { displayWidth, truncateToWidth } from './display-width.js';

/** A cell's text must already be free of control characters; `paint` colours it and changes no width. */
export type Cell = string | { text: string; paint: (text: string) => string };
export interface Column {
  header: string;
  align?: 'right';
  /** May be cut when the table is wider than the terminal. */
  shrinks?: boolean;
}

const gap = '  ';
const narrowest = 8;
const textOf = (cell: Cell | undefined): string => (typeof cell === 'object' ? cell.text : (cell ?? ''));

function fitWidths(columns: readonly Column[], natural: readonly number[], available: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1)) - available;
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

/**
 * Lines of an aligned table with a header, without a newline at the end. Columns are aligned by what a terminal draws;
 * where `availableColumns` is given, columns that may shrink are cut to it. A column without a single value is left out.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: { availableColumns?: number | undefined; paintHeader?: (text: string) => string } = {},
): string {
  const shown = columns.map((_, index) => index).filter((index) => rows.some((row) => textOf(row[index]) !== ''));
  const shownColumns = shown.flatMap((index) => columns[index] ?? []);
  const natural = shown.map((index, at) =>
    Math.max(displayWidth(shownColumns[at]?.header ?? ''), ...rows.map((row) => displayWidth(textOf(row[index])))),
  );
  const widths = fitWidths(shownColumns, natural, options.availableColumns ?? Number.POSITIVE_INFINITY);

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
