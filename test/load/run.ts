// `npm run load [-- USSD gateway] [-- --seconds 8]`: a built server with production settings under five times the load that it can
// carry, through all doors, and under clients that hold its connections. Exit code 1 when it does worse than promised.

import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { SERVER_LIMITS } from '../../server/config/limits.ts';
import { builtFile } from '../support/build.ts';
import { clear, count, show } from '../support/command-line.ts';
import { LOADED_DOORS } from './doors.ts';
import { offer } from './generator.ts';
import { type Place, withLoadedServer } from './place.ts';
import { DRIPS, dripUntilCut, idleCost } from './slow.ts';
import { idleSocketCost } from './sockets.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '6' }, idle: { type: 'string', default: '10000' } },
});
const seconds = count('seconds', values.seconds);
const idle = count('idle', values.idle);

const OVERLOAD = 5;
const OVERLOAD_CONNECTIONS = 6_000;
/** The load under which a server does most differs from door to door. */
const PEAK_CONNECTIONS = [64, 256, 1_000];
const DEADLINE_MS = 2_000;
const PROBE_MS = 50;
const ROUNDS = 3;
/** What is promised. */
const LEAST_GOODPUT = 0.8;
const PROBE_MOST_MS = 100;
const DRIP_MOST_MS = 6_000;
const IDLE_MOST_BYTES = 15_000;
/** Of which about 13,000 are objects of ws, engine.io and socket.io. */
const IDLE_SOCKET_MOST_BYTES = 20_000;

let isBroken = false;

const isChosen = (name: string) => positionals.length === 0 || positionals.some((word) => name.includes(word));

await withLoadedServer(async (place) => {
  for (const name of Object.keys(LOADED_DOORS)) if (isChosen(name)) await overload(place, name);
});
// A server that has carried load gives memory back meanwhile: what connections cost is seen on a fresh one.
await withLoadedServer(async (place) => {
  if (isChosen('drips'))
    for (const what of Object.keys(DRIPS)) {
      show(`${what}, on 200 connections`);
      const ms = await dripUntilCut(place.port, { what, connections: 200, mostMs: 20_000 });
      judge(ms <= DRIP_MOST_MS, `${what}: the last of 200 connections ended after ${(ms / 1_000).toFixed(1)} s`);
    }
  if (isChosen('idle')) {
    show(`${idle} idle connections`);
    const bytes = await idleCost(place, idle);
    judge(bytes <= IDLE_MOST_BYTES, `${idle} idle connections: ${(bytes / 1_000).toFixed(1)} kB each`);
  }
});
await withLoadedServer(async (place) => {
  if (!isChosen('sockets')) return;
  const count = Math.min(idle, SERVER_LIMITS.sockets - 200);
  show(`${count} idle sockets`);
  const bytes = await idleSocketCost(place, count);
  judge(bytes <= IDLE_SOCKET_MOST_BYTES, `${count} idle WebSockets: ${(bytes / 1_000).toFixed(1)} kB each`);
});
clear();
console.log(isBroken ? 'worse than promised' : 'as promised');
if (isBroken) process.exitCode = 1;

/** Peak and overload in turns, for the machine may be another one from minute to minute; the middle round counts. */
async function overload(place: Place, name: string): Promise<void> {
  const next = await LOADED_DOORS[name]!(place.url);
  const base = (what: string, length: number) => ({
    ...{ port: place.port, deadlineMs: DEADLINE_MS, next, seconds: length },
    onSecond: (good: number, done: number) =>
      show(`${name}, ${what}: ${Math.round(good / done)} a second, ${Math.max(0, Math.round(length - done))} s left`),
  });
  await offer({ ...base('warming up', seconds), connections: PEAK_CONNECTIONS[1]! });
  const rounds = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const peaks = [];
    for (const connections of PEAK_CONNECTIONS)
      peaks.push(await offer({ ...base(`peak ${round} of ${ROUNDS}`, seconds / 2), connections }));
    const peak = peaks.reduce((best, one) => (one.goodput > best.goodput ? one : best));
    const rate = peak.goodput * OVERLOAD;
    const load = { ...base(`overload ${round} of ${ROUNDS}`, seconds), connections: OVERLOAD_CONNECTIONS, rate };
    const { result, probe } = await probed(place.url, () => offer(load));
    rounds.push({ peak, over: result, probe, share: result.goodput / peak.goodput });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
  const { peak, over, share } = rounds.sort((a, b) => a.share - b.share)[Math.floor(ROUNDS / 2)]!;
  const others = [...over.others].map(([status, times]) => `, ${times} × ${status}`).join('');
  judge(
    share >= LEAST_GOODPUT,
    `${name}: peak ${Math.round(peak.goodput)} a second; at ${OVERLOAD} × that, ${Math.round(over.goodput)} (${Math.round(share * 100)} %), in ${Math.round(over.p99Ms)} ms (99th percentile); ${over.refused} turned away, ${over.late} late, ${over.cut} cut${others}`,
  );
  const probes = rounds.map((round) => round.probe).sort((a, b) => a.p99Ms - b.p99Ms);
  const [middle, last] = [probes[Math.floor(ROUNDS / 2)]!, probes.at(-1)!];
  const failed = probes.reduce((sum, probe) => sum + probe.failed, 0);
  const worstMs = Math.max(...probes.map((probe) => probe.worstMs));
  judge(
    middle.p99Ms <= PROBE_MOST_MS && failed === 0,
    `${name}: /livez meanwhile in ${Math.round(middle.p99Ms)} ms (99th percentile of the middle round; ${Math.round(last.p99Ms)} ms of the worst one, longest ${Math.round(worstMs)} ms, ${failed} failed)`,
  );
}

interface Probe {
  readonly failed: number;
  readonly p99Ms: number;
  readonly worstMs: number;
}

async function probed<T>(url: string, work: () => Promise<T>): Promise<{ result: T; probe: Probe }> {
  const thread = new Worker(await builtFile('test/load/probe.ts'), { workerData: { url, everyMs: PROBE_MS } });
  const result = await work();
  const probe = await new Promise<Probe>((resolve, reject) => {
    thread.once('message', resolve).once('error', reject);
    thread.postMessage('end');
  });
  await thread.terminate();
  return { result, probe };
}

function judge(isKept: boolean, words: string): void {
  clear();
  console.log(`${isKept ? '✓' : '✘'} ${words}`);
  isBroken ||= !isKept;
}
