// What people wait for: `import 'twinline'` in a process, its time and memory against a process that imports nothing; and `npm start`
// where nothing has changed.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { median, type Row } from './measure.ts';

const ENGINE = pathToFileURL(join(process.cwd(), 'dist/lib/index.js')).href;
const ROUNDS = 15;
const START_ROUNDS = 5;
const SOURCES = { nothing: '', engine: `import ${JSON.stringify(ENGINE)};` };
const TELL = 'console.log(JSON.stringify([process.resourceUsage(), process.memoryUsage.rss()]));';

interface Cost {
  /** From the start of the process to its end. */
  readonly ms: number;
  readonly cpuMs: number;
  readonly megabytes: number;
}

export async function loadingRows(): Promise<Row[]> {
  const samples: { readonly [name in keyof typeof SOURCES]: Cost[] } = { nothing: [], engine: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const name of ['nothing', 'engine'] as const) samples[name].push(costOf(SOURCES[name]));
  const middle = (name: keyof typeof SOURCES, what: keyof Cost) => median(samples[name].map((cost) => cost[what]));
  const bareMs = middle('nothing', 'ms');
  const starts: number[] = [];
  for (let round = 0; round < START_ROUNDS; round++) starts.push(await timeStart());
  const row = (what: keyof Cost, rest: Omit<Row, 'measured' | 'ratio'>, unit: string): Row => {
    const [engine, nothing] = [middle('engine', what), middle('nothing', what)];
    return {
      ...rest,
      measured: `${engine.toFixed(0)} ${unit} · ${nothing.toFixed(0)} ${unit}`,
      ratio: engine / nothing,
    };
  };
  const against = 'of a process that imports the engine, against one that imports nothing';
  return [
    row('ms', { what: `time ${against}`, target: { atMost: 3 }, before: '5.6' }, 'ms'),
    row('cpuMs', { what: `CPU ${against}`, target: { atMost: 3 } }, 'ms'),
    row('megabytes', { what: `memory ${against}`, target: { atMost: 1.25 }, before: '1.53' }, 'MB'),
    {
      what: 'npm start, nothing changed, until it listens, against a process that does nothing',
      measured: `${median(starts).toFixed(0)} ms · ${bareMs.toFixed(0)} ms`,
      ratio: median(starts) / bareMs,
      target: { atMost: 75 },
      before: '320',
    },
  ];
}

/** Milliseconds from `npm start` to the line that says where it listens. */
async function timeStart(): Promise<number> {
  const begun = performance.now();
  const env = { ...process.env, PORT: '0', DATA_DIR: ':memory:', NODE_ENV: 'development' };
  const child = spawn('npm', ['start'], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const over = once(child, 'exit');
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const listen = (chunk: Buffer) => {
      said += chunk;
      if (/http:\/\/127\.0\.0\.1:\d+/.test(said)) resolve();
    };
    child.stdout!.on('data', listen);
    child.stderr!.on('data', listen);
    void over.then(() => reject(new Error(`npm start ended:\n${said}`)));
  });
  const ms = performance.now() - begun;
  process.kill(-child.pid!, 'SIGTERM');
  await over;
  return ms;
}

function costOf(source: string): Cost {
  const begun = performance.now();
  const args = ['--input-type=module', '-e', `${source}\n${TELL}`];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const [{ userCPUTime, systemCPUTime }, rss] = JSON.parse(stdout) as [NodeJS.ResourceUsage, number];
  return { ms: performance.now() - begun, cpuMs: (userCPUTime + systemCPUTime) / 1_000, megabytes: rss / 1e6 };
}
