// CSV (RFC 4180): quoting of fields, with formulas of spreadsheets kept as text.

/** A line of CSV with its end. A field that begins like a formula gets a `'` in front, so that no spreadsheet runs it. */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map(quoteField).join(',')}\r\n`;
}

function quoteField(text: string): string {
  const inert = /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replace(/"/g, '""')}"` : inert;
}
