// What `import 'twinline'` costs a process: its CPU time and memory against a process that imports nothing.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { median, type Row } from './measure.ts';

const ENGINE = pathToFileURL(join(process.cwd(), 'dist/lib/index.js')).href;
const ROUNDS = 15;
const SOURCES = { nothing: '', engine: `import ${JSON.stringify(ENGINE)};` };
const TELL = 'console.log(JSON.stringify([process.resourceUsage(), process.memoryUsage.rss()]));';

interface Cost {
  readonly cpuMs: number;
  readonly megabytes: number;
}

export async function loadingRows(): Promise<Row[]> {
  const samples: { readonly [name in keyof typeof SOURCES]: Cost[] } = { nothing: [], engine: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const name of ['nothing', 'engine'] as const) samples[name].push(costOf(SOURCES[name]));
  const middle = (name: keyof typeof SOURCES, what: keyof Cost) => median(samples[name].map((cost) => cost[what]));
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
    row('cpuMs', { what: `CPU ${against}`, target: { atMost: 3 } }, 'ms'),
    row('megabytes', { what: `memory ${against}`, target: { atMost: 1.4 } }, 'MB'),
  ];
}

function costOf(source: string): Cost {
  const args = ['--input-type=module', '-e', `${source}\n${TELL}`];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const [{ userCPUTime, systemCPUTime }, rss] = JSON.parse(stdout) as [NodeJS.ResourceUsage, number];
  return { cpuMs: (userCPUTime + systemCPUTime) / 1_000, megabytes: rss / 1e6 };
}
