// Lines of the log as people read them in a terminal: when, how bad, what, and the fields behind it. Elsewhere lines are JSON.

import pc from 'picocolors';

type Paint = (text: string) => string;

/** By pino's numbers; the highest that is not above the line's. */
const LEVELS: readonly { readonly least: number; readonly sign: string; readonly paint: Paint }[] = [
  { least: 50, sign: '✘', paint: pc.red },
  { least: 40, sign: '!', paint: pc.yellow },
  { least: 30, sign: '·', paint: (text) => text },
  { least: 0, sign: ' ', paint: pc.dim },
];

type LogFields = { readonly [field: string]: unknown };

interface LogLine {
  readonly level: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

/** A JSON line of the log as lines for people, with the end of a line; what is no JSON as it is. */
export function readableLine(json: string): string {
  let line: LogLine;
  try {
    line = JSON.parse(json) as LogLine;
  } catch {
    return json;
  }
  const { level, time, msg, ...fields } = line;
  const { sign, paint } = LEVELS.find(({ least }) => level >= least)!;
  const at = pc.dim(new Date(time).toTimeString().slice(0, 8));
  const [first = '', ...rest] = (msg ?? describeRequest(fields) ?? '').split('\n');
  const shown = msg === undefined && describeRequest(fields) !== undefined ? {} : fields;
  const details = Object.entries(shown).map(([name, value]) => pc.dim(`${name}=${formatValue(value)}`));
  const head = [at, paint(sign), paint(first), ...details].join(' ');
  return `${[head, ...rest.map(paintDifference)].join('\n')}\n`;
}

// Of a request that was answered, or of a turn of a phone.
function describeRequest({ method, route, status, ms, turn, from, to, outcome }: LogFields): string | undefined {
  if (turn !== undefined) return `${turn} ${from ?? 'dial'} → ${to}${outcome === 'end' ? ', end' : ''} ${ms} ms`;
  return method === undefined || status === undefined ? undefined : `${method} ${route} ${status} ${ms} ms`;
}

function formatValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { name, code, message } = value as { name?: unknown; code?: unknown; message?: unknown };
  if (name === undefined) return JSON.stringify(value);
  return [name, code, message].filter((part) => part !== undefined).join(' ');
}

// Tests that differ: what was expected, and what came.
function paintDifference(line: string): string {
  if (/^\s*\+ /.test(line)) return pc.green(line);
  return /^\s*- /.test(line) ? pc.red(line) : line;
}
