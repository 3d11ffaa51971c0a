// What the worker of the watchdog runs, as text: it must start within milliseconds, and without a loader.

/** Without a test that ends, however much it computes. */
const MOST_MS = 15 * 60_000;
/** Of the time watched: whoever uses less of one core does nothing. */
const IDLE_SHARE = 0.1;

export const WATCH = `
const { parentPort, workerData: { label, counts } } = require('node:worker_threads');
const { readdirSync, readFileSync, writeSync } = require('node:fs');
const TICKS_MS = 10;
let ticking;
parentPort.on('message', (watch) => {
  clearInterval(ticking);
  if (!watch) return;
  const { words, stallMs } = watch;
  let [progress, beats] = counts;
  let [progressAt, work, own] = [Date.now(), { at: Date.now(), cpuMs: treeCpuMs() }, ownCpuMs()];
  ticking = setInterval(() => {
    const now = Date.now();
    const tree = treeCpuMs();
    if (counts[1] !== beats) [beats, own] = [counts[1], ownCpuMs()];
    else if (ownCpuMs() - own > stallMs) endProcess(words);
    if (counts[0] !== progress) {
      [progress, progressAt, work] = [counts[0], now, { at: now, cpuMs: tree }];
    } else if (tree < work.cpuMs || tree - work.cpuMs > stallMs * ${IDLE_SHARE}) {
      work = { at: now, cpuMs: tree };
    }
    if (now - work.at > stallMs) stall('hangs: for ' + stallMs / 1000 + ' s no test ended and the processor was idle');
    else if (now - progressAt > ${MOST_MS}) stall('hangs: no test ended for ${MOST_MS / 60_000} minutes');
  }, Math.min(5_000, stallMs / 10));
});
parentPort.postMessage('ready');
function stall(stalled) {
  clearInterval(ticking);
  parentPort.postMessage({ stalled });
}
function endProcess(words) {
  const name = Buffer.from(label).toString('utf8').replace(/\\0+$/, '');
  writeSync(1, words.before + (name || 'the file') + words.after);
  process.kill(process.pid, 'SIGKILL');
}
function ownCpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
// Of this process and all that descend from it, where /proc tells, with the time in which they waited for the processor: on a busy
// machine a test that computes gets little of it. Else of this process alone.
function treeCpuMs() {
  const [children, cpu] = [new Map(), new Map()];
  let names = [];
  try {
    names = readdirSync('/proc').filter((name) => /^\\d+$/.test(name));
  } catch {}
  for (const name of names) {
    let fields;
    try {
      const stat = readFileSync('/proc/' + name + '/stat', 'utf8');
      fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    } catch {
      continue;
    }
    const parent = fields[1];
    children.set(parent, [...(children.get(parent) ?? []), name]);
    cpu.set(name, fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICKS_MS + waitedMs(name));
  }
  if (!cpu.has(String(process.pid))) return ownCpuMs();
  const sum = (name) => (children.get(name) ?? []).reduce((total, child) => total + sum(child), cpu.get(name) ?? 0);
  return sum(String(process.pid));
}
function waitedMs(name) {
  try {
    return Number(readFileSync('/proc/' + name + '/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}`;
