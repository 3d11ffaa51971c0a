// Offers requests to a server: as many as it takes, or so many a second whether it takes them or not.

import { openWire, type RequestBytes, type Wire } from './wire.ts';

export interface Offered {
  readonly port: number;
  readonly seconds: number;
  readonly connections: number;
  /** Requests a second; undefined: each connection asks again as soon as it has its answer. */
  readonly rate?: number;
  /** Milliseconds within which an answer counts. */
  readonly deadlineMs: number;
  /** The next request. */
  readonly next: () => RequestBytes;
  /** Told about once a second how many good answers there were so far. */
  readonly onSecond?: (good: number, seconds: number) => void;
}

/** How many requests ended how. */
export interface Outcome {
  /** Answers that are no refusals, in time, a second. */
  goodput: number;
  good: number;
  late: number;
  /** 503 with Retry-After, or the words of the USSD door. */
  refused: number;
  /** Found no free connection. */
  unsent: number;
  cut: number;
  /** Anything else: status → how often. */
  readonly others: Map<number, number>;
  /** Milliseconds of the good ones, 99th percentile. */
  p99Ms: number;
}

/** Offers load for the time, after all connections are open. */
export async function offer(load: Offered): Promise<Outcome> {
  const { port, seconds, connections, rate, deadlineMs, next, onSecond } = load;
  const outcome = { goodput: 0, good: 0, late: 0, refused: 0, unsent: 0, cut: 0, p99Ms: 0, others: new Map() };
  const times: number[] = [];
  const free: Wire[] = [];
  // One that was cut while it was free is ready again before it is taken.
  const known = new Set<Wire>();
  let isRunning = false;

  function ask(wire: Wire): void {
    const begun = performance.now();
    wire.send(next(), ({ status, retryAfter, refusedInWords }) => {
      if (!isRunning) return;
      const ms = performance.now() - begun;
      if (status === 0) outcome.cut++;
      else if (refusedInWords || (status === 503 && retryAfter)) outcome.refused++;
      else if (status < 200 || status > 299) outcome.others.set(status, (outcome.others.get(status) ?? 0) + 1);
      else if (ms > deadlineMs) outcome.late++;
      else {
        outcome.good++;
        times.push(ms);
      }
    });
  }
  const onReady = (wire: Wire) => {
    if (isRunning && rate === undefined) ask(wire);
    else if (!known.has(wire)) {
      known.add(wire);
      free.push(wire);
    }
  };
  const wires: Wire[] = [];
  for (let at = 0; at < connections; at++) {
    wires.push(openWire(port, onReady));
    // More at once than the system's queue of connections would wait for seconds.
    if (at % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  while (free.length < connections) await new Promise((resolve) => setTimeout(resolve, 10));

  isRunning = true;
  const begun = performance.now();
  const elapsed = () => (performance.now() - begun) / 1_000;
  let [due, told] = [0, 0];
  if (rate === undefined) for (const wire of free.splice(0)) ask(wire);
  while (elapsed() < seconds) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (elapsed() - told >= 1) {
      told = elapsed();
      onSecond?.(outcome.good, told);
    }
    if (rate === undefined) continue;
    const now = Math.floor(elapsed() * rate);
    // The connection that was free last is asked first, as pools do; what finds none is lost.
    while (due < now) {
      const wire = free.pop();
      if (wire) known.delete(wire);
      if (wire && !wire.isOpen) continue;
      if (wire) ask(wire);
      else outcome.unsent += now - due;
      due = wire ? due + 1 : now;
    }
  }
  outcome.goodput = outcome.good / elapsed();
  isRunning = false;
  for (const wire of wires) wire.destroy();
  times.sort((a, b) => a - b);
  outcome.p99Ms = times[Math.floor(times.length * 0.99)] ?? 0;
  return outcome;
}
