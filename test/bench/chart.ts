// The chart of the page on performance: a bar for each server, as long as its CPU time per request. Pages show it in the colour
// of their text.

export interface Bar {
  readonly name: string;
  readonly us: number;
  /** What the chart is about, rather than what it is compared with. */
  readonly isOurs?: boolean;
}

const CHART = /(<!-- chart: npm run bench -- ([a-z]+) -->\n\n)(?:<svg[\s\S]*?<\/svg>\n)?/g;
const ROW = 24;
const BAR_AT = 190;
const BAR_MOST = 360;
const WIDTH = 640;

/** The page with the chart of each benchmark that has bars; the others stay as they are. */
export function writtenCharts(page: string, bars: ReadonlyMap<string, readonly Bar[]>): string {
  return page.replace(CHART, (whole, comment: string, name: string) => {
    const chosen = bars.get(name);
    return chosen?.length ? `${comment}${barChart(chosen)}` : whole;
  });
}

/** One line of text for each bar, so that a change of a number changes one line. */
export function barChart(bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ us }) => us));
  const height = bars.length * ROW + 8;
  const label = `CPU per request: ${bars.map(({ name, us }) => `${name} ${us.toFixed(1)} µs`).join(', ')}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${label}" font-family="sans-serif" font-size="13" fill="currentColor">`,
    ...bars.map((bar, at) => drawBar(bar, { y: at * ROW + 4, width: Math.max(1, (bar.us / most) * BAR_MOST) })),
    '</svg>',
    '',
  ].join('\n');
}

function drawBar({ name, us, isOurs = false }: Bar, { y, width }: { y: number; width: number }): string {
  const text = y + ROW / 2 + 3;
  const rect = `<rect x="${BAR_AT}" y="${y}" width="${width.toFixed(0)}" height="${ROW - 6}" rx="2" opacity="${isOurs ? 0.85 : 0.35}"/>`;
  const number = `<text x="${(BAR_AT + width + 6).toFixed(0)}" y="${text}">${us.toFixed(1)} µs</text>`;
  return `<g><text x="${BAR_AT - 8}" y="${text}" text-anchor="end">${name}</text>${rect}${number}</g>`;
}
