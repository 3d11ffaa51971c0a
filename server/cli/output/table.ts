// Rows and columns for the terminal.

/** The rows below their headings, each column as wide as its widest cell; lines do not end in spaces. */
export function tableOf(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [headings, ...rows];
  const widths = headings.map((_heading, at) => Math.max(...all.map((row) => row[at]!.length)));
  return all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  );
}
