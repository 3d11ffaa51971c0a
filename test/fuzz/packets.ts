// Packets at random for each parser and each door that takes bytes of strangers: good ones, spoilt. Whatever comes, it ends in one
// of the outcomes that are known, soon, and tells no secret; what does not is made smaller and kept.

import fc, { type Arbitrary } from 'fast-check';

/** What reads packets. */
export interface Reader {
  /** Good packets, from which others are made. */
  readonly seeds: readonly Buffer[];
  /** Pieces that packets of this kind are made of. */
  readonly pieces: readonly string[];
  /** How much work one packet is: so many fewer are sent. @default 1 */
  readonly cost?: number;
  /**
   * Milliseconds that one may take: of the processor, as fast as it was when PACE_MS was measured, or of time where the
   * reader waits for a network.
   */
  readonly mostMs: number;
  readonly waits?: boolean;
  /** Reads one; gives the outcome in a word. Rejects when a promise is broken. */
  read(packet: Buffer): Promise<string> | string;
}

/** A packet that broke a promise, as it is kept in the corpus. */
export interface KeptPacket {
  readonly reader: string;
  readonly base64: string;
}

export interface PacketFinding extends KeptPacket {
  readonly problem: string;
}

export interface PacketRun {
  readonly packets: number;
  readonly seed: number;
  readonly onPacket?: (sent: number, reader: string) => void;
}

export interface PacketResult {
  readonly sent: number;
  readonly findings: readonly PacketFinding[];
  /** Outcomes that were seen, by reader. */
  readonly outcomes: ReadonlyMap<string, ReadonlySet<string>>;
}

const EDITS_MOST = 6;
const REPEATS = [2, 40, 3_000];

type Edit = (packet: Buffer) => Buffer;

const at = (packet: Buffer, place: number) => Math.floor(place * (packet.length + 1));

/** Changes of any kind at any place. */
function editsOf({ seeds, pieces }: Reader): Arbitrary<Edit> {
  const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
  const put =
    (from: number, length: number, bytes: Uint8Array): Edit =>
    (packet) =>
      Buffer.concat([packet.subarray(0, at(packet, from)), bytes, packet.subarray(at(packet, from) + length)]);
  const piece = fc.oneof(
    fc.constantFrom(...pieces).map((text) => Buffer.from(text)),
    fc.uint8Array({ minLength: 1, maxLength: 8 }),
    fc.string({ unit: 'binary', maxLength: 4 }).map((text) => Buffer.from(text)),
  );
  return fc.oneof(
    fc.tuple(place, fc.nat(3), piece).map(([from, length, bytes]) => put(from, length, bytes)),
    fc.tuple(place, fc.integer({ min: 1, max: 200 })).map(([from, length]) => put(from, length, Buffer.alloc(0))),
    fc
      .tuple(place, piece, fc.constantFrom(...REPEATS))
      .map(([from, bytes, times]) => put(from, 0, Buffer.concat(Array.from({ length: times }, () => bytes)))),
    fc
      .tuple(place, place, fc.constantFrom(...seeds))
      .map(([from, start, seed]) => put(from, 0, seed.subarray(at(seed, start)))),
    fc.tuple(place, fc.nat(7)).map(([from, bit]) => (packet: Buffer) => {
      const copy = Buffer.from(packet);
      if (copy.length) copy[Math.min(copy.length - 1, at(copy, from))]! ^= 1 << bit;
      return copy;
    }),
    place.map((from) => (packet: Buffer) => packet.subarray(0, at(packet, from))),
  );
}

/** Packets for a reader; few changes are as likely as many. */
export function packetsOf(reader: Reader): Arbitrary<Buffer> {
  return fc
    .tuple(fc.constantFrom(...reader.seeds), fc.array(editsOf(reader), { minLength: 1, maxLength: EDITS_MOST }))
    .map(([seed, edits]) => edits.reduce((packet, edit) => edit(packet), seed));
}

/** Times the limit: no pause of a machine makes so much of a reader that keeps it. */
const FAR_BEYOND = 4;

/** What is wrong with how a packet was read; undefined when nothing. */
export async function problemOf(reader: Reader, packet: Buffer, onOutcome?: (word: string) => void) {
  // What other processes do, and pauses of the machine, are not the reader's.
  let best = Number.POSITIVE_INFINITY;
  let mostMs = reader.mostMs;
  for (let tries = 0; tries < (best > FAR_BEYOND * mostMs ? 3 : 10) && best > mostMs; tries++) {
    // Timers run between two tries of a slow reader, such as those that watch over tests.
    if (tries > 0) await new Promise(setImmediate);
    if (tries > 0 && !reader.waits) mostMs = Math.max(mostMs, reader.mostMs * slowness());
    const begun = spentMs(reader);
    try {
      onOutcome?.(await reader.read(packet));
    } catch (error) {
      return error instanceof Error ? `${error.stack}` : `${error}`;
    }
    best = Math.min(best, spentMs(reader) - begun);
  }
  return best > mostMs ? `it took ${Math.round(best)} ms` : undefined;
}

/** What {@link slowness} measures, on a machine of 2026 that does nothing else. */
const PACE_MS = 4;
const PACE_TEXT = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => ({ at, name: `n${at}` })));

/** How many times slower this machine is now than the one that the limits were written on, by processor time; at least 1. */
function slowness(): number {
  const begun = spentMs({ waits: false });
  JSON.parse(PACE_TEXT);
  return Math.max(1, (spentMs({ waits: false }) - begun) / PACE_MS);
}

function spentMs({ waits }: Pick<Reader, 'waits'>): number {
  if (waits) return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Gives so many packets to the readers, each as much work as another. */
export async function fuzzPackets(
  readers: Readonly<Record<string, Reader>>,
  { packets, seed, onPacket }: PacketRun,
): Promise<PacketResult> {
  const findings: PacketFinding[] = [];
  const outcomes = new Map<string, Set<string>>();
  let sent = 0;
  for (const [name, reader] of Object.entries(readers)) {
    const seen = new Set<string>();
    outcomes.set(name, seen);
    let problem = '';
    const property = fc.asyncProperty(packetsOf(reader), async (packet) => {
      // Lets timers run, such as those that watch over tests.
      if (++sent % 100 === 0) await new Promise(setImmediate);
      onPacket?.(sent, name);
      const found = await problemOf(reader, packet, (word) => seen.add(word));
      problem = found ?? problem;
      return found === undefined;
    });
    const numRuns = Math.max(10, Math.ceil(packets / Object.keys(readers).length / (reader.cost ?? 1)));
    const run = await fc.check(property, { seed, numRuns });
    if (run.counterexample) findings.push({ reader: name, base64: run.counterexample[0].toString('base64'), problem });
  }
  return { sent, findings, outcomes };
}
