// Plays one fault on a ground: asks every door meanwhile and afterwards, and tells what is not as the matrix says.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { timed } from '../../support/timed.ts';
import { until } from '../../support/until.ts';
import { type Answer, ask } from '../support/serve.ts';
import { DEADLINES, type Dependency, DOORS, type Door, type Expected, type Fault, GRACE_MS } from './matrix.ts';
import type { Request } from './requests.ts';
import type { Ground } from './store-grounds.ts';

/** What health heard so many milliseconds ago still counts. */
const HEARD_MS = 400;

export interface Played {
  readonly dependency: Dependency;
  readonly fault: Fault;
  /** Whether answers must come in their time. */
  readonly isTimed: boolean;
}

/** What is wrong, in sentences; empty when all is as declared. What must become well by itself is waited for. */
export async function playFault(ground: Ground, { dependency, fault, isTimed }: Played): Promise<string[]> {
  // While a word is lost, the store may answer all else.
  const away = fault.startsWith('lose') || dependency.there?.includes(fault) ? undefined : dependency.away;
  const rows = dependency.rows[fault] as { readonly [door in Door]?: Expected };
  const asked = await Promise.all(
    Object.entries(rows).map(async ([door, expected]) => {
      const make = ground.requests[door as Door];
      if (!make) throw new Error(`nothing asks ${DOORS[door as Door]}`);
      return { door: DOORS[door as Door], expected, request: await make() };
    }),
  );
  const logged = ground.place.printed().length;
  await ground.set(fault);
  let during: string[][];
  try {
    during = await Promise.all([
      ...asked.map(({ door, expected, request }) => answerProblems(door, expected, { request, isTimed })),
      healthProblems(ground.place.url, away, isTimed),
    ]);
  } finally {
    await ground.lift();
  }
  await Promise.all([
    recovered(ground.place.url),
    toldInLog(ground, logged, away),
    ...asked.map(({ door, expected: { again }, request }) =>
      until(`afterwards ${door}: ${again}`, async () => (await request.again()) === again),
    ),
  ]);
  return during.flat();
}

interface Asking {
  readonly request: Request;
  readonly isTimed: boolean;
}

async function answerProblems(
  door: string,
  { answer, within }: Expected,
  { request, isTimed }: Asking,
): Promise<string[]> {
  const { result: got, ms } = await timed(request.ask);
  return [
    ...(answer.split(' or ').includes(got) ? [] : [`${door}: ${got} instead of ${answer}`]),
    ...(!isTimed || ms <= DEADLINES[within].ms + GRACE_MS
      ? []
      : [`${door}: after ${ms} ms, ${within} is ${DEADLINES[within].ms}`]),
  ];
}

type Away = Dependency['away'];

const AT_ONCE_MS = 100;
const PAUSE_MS = 20;
const TRIES = 20;

// Many who look at the same time would keep each other waiting.
let looking: Promise<unknown> = Promise.resolve();
function lookAtOnce(url: string, paths: readonly string[]): Promise<readonly Answer[]> {
  const looked = looking.then(() => askAtOnce(url, paths));
  looking = looked.catch(() => {});
  return looked;
}

/** Answers to all paths, which must come within 100 ms; what a bare server of this process takes meanwhile is not counted. */
async function askAtOnce(url: string, paths: readonly string[]): Promise<readonly Answer[]> {
  const bare = createServer((_req, res) => res.end());
  await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve));
  const floor = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`;
  const askTimed = async (asked: string) => {
    const begun = performance.now();
    const answer = await ask(asked);
    return { answer, ms: performance.now() - begun };
  };
  try {
    for (let tries = 1; ; tries++) {
      const [least, ...all] = await Promise.all([askTimed(floor), ...paths.map((path) => askTimed(url + path))]);
      const ms = Math.max(...all.map((one) => one.ms)) - least.ms;
      if (ms < AT_ONCE_MS) return all.map(({ answer }) => answer);
      await pause(PAUSE_MS);
      if (tries === TRIES) throw new Error(`health took ${ms} ms more than a bare server, ${TRIES} times`);
    }
  } finally {
    bare.close();
  }
}

/** Whether the signs of health say what is true, at once, and nothing that is secret. */
async function healthProblems(url: string, away: Away, isTimed: boolean): Promise<string[]> {
  const paths = ['/readyz', '/health', '/livez', '/metrics'].map((path) => url + path);
  const look = () =>
    isTimed
      ? lookAtOnce(url, ['/readyz', '/health', '/livez', '/metrics'])
      : Promise.all(paths.map((path) => ask(path)));
  await pause(HEARD_MS);
  // A store that answers late is away and there by turns: what is true may change between two of four questions.
  const seen = await until(`health says that ${away ?? 'nothing'} is away`, async () => {
    const answers = await look();
    return isTrue(answers, away) && answers;
  });
  const [ready, , alive] = seen as [Answer, Answer, Answer, Answer];
  return [
    ...(/127\.0\.0\.1|localhost/.test(ready.text) ? ['/readyz tells an address'] : []),
    ...(alive.status === 200 ? [] : [`/livez: ${alive.status}`]),
  ];
}

function isTrue(seen: readonly Answer[], away: Away): boolean {
  const [ready, health, , metrics] = seen as [Answer, Answer, Answer, Answer];
  const { database } = health.json() as { database: string };
  return (
    (away === undefined || namesOf(ready) === away.join()) &&
    health.status === 200 &&
    (!away || database === 'disconnected') &&
    (away?.length ?? 0) <= countDown(metrics.text)
  );
}

const countDown = (metrics: string) => metrics.match(/^twinline_store_up\{.*\} 0$/gm)?.length ?? 0;

function namesOf({ status, json }: Answer): string {
  const { stores = [] } = json() as { stores?: readonly { keeps: string; kind: string }[] };
  return status === 503 ? stores.map(({ keeps, kind }) => `${keeps} ${kind}`).join() : 'ready';
}

const WELL: { readonly [path: string]: (text: string) => boolean } = {
  '/readyz': (text) => text === '{"status":"ok"}',
  '/health': (text) => /"status":"ok".*"connected"/.test(text),
  '/metrics': (text) => countDown(text) === 0,
};

async function recovered(url: string): Promise<void> {
  const seen = Object.entries(WELL).map(([path, isWell]) =>
    until(`${path} is well`, async () => isWell((await ask(url + path)).text)),
  );
  await Promise.all(seen);
}

/** Resolves when the log tells that each store was away, as an error, and that it is back. */
async function toldInLog({ place: { printed } }: Ground, from: number, away: Away = []): Promise<void> {
  for (const store of away) {
    const about = `"keeps":"${store.split(' ')[0]}"[^\\n]*"msg":"a store is`;
    for (const line of [`"level":50[^\\n]*${about} away"`, `"level":30[^\\n]*${about} back"`])
      await until(`logged: ${line}`, () => new RegExp(line).test(printed().slice(from)));
  }
}
