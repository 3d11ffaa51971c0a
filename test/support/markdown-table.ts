// A table of Markdown as the formatter writes it: every cell as wide as the widest of its column.

/** The lines of a table; a `|` in a cell is escaped, and so is `<` outside of code. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = [head, ...rows].map((row) => row.map(escaped));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => [...row[column]!].length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => padded(cell, widths[column]!)).join(' | ')} |`;
  const [first, ...rest] = cells;
  return [line(first!), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)];
}

function escaped(cell: string): string {
  const isCode = cell.startsWith('`') && cell.endsWith('`');
  const piped = cell.replace(/\|/g, '\\|');
  return isCode ? piped : piped.replace(/</g, '&lt;');
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(width - [...cell].length);
}
