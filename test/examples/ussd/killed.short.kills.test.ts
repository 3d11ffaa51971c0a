// The example menus on real servers that are killed with -9 in the middle of dialogues and of deeds: callers read what was recorded
// without a kill, and the back office has done each deed once.

import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../lib/clock.ts';
import { standIns } from '../../../lib/flow/testing/mask.ts';
import type { RecordedTurn } from '../../../lib/flow/testing/replay.ts';
import type { Json, JsonObject } from '../../../lib/json/json.ts';
import { readMenus } from '../../../server/menus/menus.ts';
import { caller, hangUpAll } from '../../support/phone.ts';
import { type RunningServer, startProcess, withFolder } from '../../support/process.ts';
import { startRedis } from '../../support/redis-server.ts';
import { chooseSize, isShort } from '../../support/size.ts';
import { until } from '../../support/until.ts';
import { codeOf, DIALOGUES, FOLDER, SETTINGS } from './place.ts';

type Service = (input: JsonObject, by: { idempotencyKey: string }) => Promise<Json>;
interface BackOffice {
  readonly services: Readonly<Record<string, Service>>;
  readonly deeds: ReadonlySet<string>;
  readonly journal: readonly { readonly service: string }[];
}
const { backOffice } = (await import(pathToFileURL(SETTINGS.SERVICES).href)) as { backOffice: () => BackOffice };

const test = suite('example menus under kill -9');

const DEEDS_PER_KILL = chooseSize({ short: 25, day: 12, whole: 6 });
const [PIN, WRONG_PIN] = ['83719', '47026'];
const { compiled } = await readMenus({ folder: FOLDER });

/** The back offices of all applications and the SMS gateway, in this process. One deed or SMS of DEEDS_PER_KILL meets a kill. */
async function openOffices(kill: () => Promise<never>) {
  const offices = new Map<string, BackOffice>();
  const messages = new Set<string>();
  // Applications of callers whose PIN is being checked. Nothing keeps a PIN, so no kill comes meanwhile: they would be asked for it again.
  const checking = new Set<string>();
  let deeds = 0;
  let kills = 0;
  const send: Service = async (_, { idempotencyKey }) => {
    messages.add(idempotencyKey);
    return { id: idempotencyKey };
  };
  // Rejects when the server that asks is gone.
  const answer = async (service: string, input: JsonObject, idempotencyKey: string): Promise<Json> => {
    const [app] = service.split('.') as [string];
    const office = offices.get(app);
    checking.delete(app);
    if (!office || office.deeds.has(service)) deeds++;
    const strikes = checking.size === 0 && deeds >= (kills + 1) * DEEDS_PER_KILL;
    if (strikes) kills++;
    // Every other kill comes before the deed is done, the others before its answer is read.
    if (strikes && kills % 2 === 0) return kill();
    const done = await (office?.services[service] ?? send)(input, { idempotencyKey });
    return strikes ? kill() : done;
  };
  const server = createServer((req, res) => {
    void readBody(req)
      .then((body) => answer(req.url!.slice(1), JSON.parse(body), String(req.headers['idempotency-key'])))
      .then((done) => res.end(JSON.stringify(done)))
      .catch(() => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    checking,
    open: (app: string): BackOffice => {
      offices.set(app, backOffice());
      return offices.get(app)!;
    },
    kills: () => kills,
    close: () => server.close(),
  };
}

async function readBody(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req.setEncoding('utf8')) text += chunk;
  return text;
}

/** A module for SERVICES that asks the offices. */
const askingModule = (url: string) => `const names = ${JSON.stringify(Object.keys(backOffice().services))};
const ask = (name) => async (input, { idempotencyKey, signal }) => {
  const how = { method: 'POST', headers: { 'idempotency-key': idempotencyKey }, body: JSON.stringify(input), signal };
  return (await fetch('${url}/' + name, how)).json();
};
export default Object.fromEntries(names.map((name) => [name, ask(name)]));
`;

const UNAVAILABLE = 'END Service temporarily unavailable. Please try again later.';

/** Dials as it was recorded; resolves when the dialogue is over. */
async function replay(
  turns: readonly RecordedTurn[],
  { app, checking, urlNow }: { app: string; checking: Set<string>; urlNow: () => string },
): Promise<void> {
  const [{ flow, phone, session }] = turns as [RecordedTurn];
  const line = caller(session, phone!, codeOf(flow));
  const standIn = standIns();
  for (const [at, turn] of turns.entries()) {
    const node = at > 0 ? compiled.get(flow)!.screens.get(turns[at - 1]!.state ?? '') : undefined;
    const typed =
      typeof turn.in === 'string' ? turn.in : node!.path.includes('.') ? pinOf(turn) : standIn(turn.in, node);
    if (typeof turn.in !== 'string') checking.add(app);
    let read = await takeTurn(line, at > 0 ? typed : undefined, urlNow);
    while (/^CON Please wait/.test(read)) read = await takeTurn(line, '1', urlNow);
    const text = `${turn.end ? 'END' : 'CON'} ${turn.text}`;
    checking.delete(app);
    assert.ok(masked(text).test(read), `${session}, turn ${at + 1}: ${read}\ninstead of: ${text}`);
  }
}

/** As a telecom gateway does, which asks again when a server is gone. */
async function takeTurn(
  line: ReturnType<typeof caller>,
  typed: string | undefined,
  urlNow: () => string,
): Promise<string> {
  let isSent = false;
  return until('an answer', async () => {
    const answer = isSent ? line.repeat(urlNow()) : line.send(urlNow(), typed);
    isSent = true;
    return answer.then(
      (text) => (text === UNAVAILABLE ? undefined : text),
      () => undefined,
    );
  });
}

function pinOf({ in: typed, calls }: RecordedTurn): string {
  if (typeof typed === 'object' && !typed.fits) return '1';
  const check = calls.find(({ service }) => service === 'account.verifyPin');
  return (check?.return as { ok?: boolean } | undefined)?.ok === false ? WRONG_PIN : PIN;
}

const MESSAGES = [...DIALOGUES.values()]
  .flat(2)
  .flatMap(({ calls }) => calls.filter(({ service }) => service === 'sms.send')).length;

/** Private values are not in recordings. */
const masked = (text: string): RegExp =>
  new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\\\*(?:[\\*\s]*\\\*)?/g, '[^]*')}$`);

async function playAll(env: Readonly<Record<string, string>>, folder: string): Promise<void> {
  let server: Promise<RunningServer> | undefined;
  let url = '';
  const offset = join(folder, 'offset');
  const start = async () => {
    const started = await startProcess(settings);
    url = started.url;
    return started;
  };
  const offices = await openOffices(async () => {
    const old = await server!;
    server = old.kill().then(start);
    throw new Error('the server is killed');
  });
  const settings = {
    ...SETTINGS,
    ...{ SERVICES: join(folder, 'services.mjs'), SMS_URL: `${offices.url}/sms`, DATA_DIR: join(folder, 'data') },
    PIN_ENCRYPTION_KEY: PIN_KEY,
    // What is printed depends on the day.
    ...{ CLOCK_OFFSET: offset, NODE_OPTIONS: `--import ${PRELOAD}` },
    ...env,
  };
  writeFileSync(settings.SERVICES, askingModule(offices.url));
  writeFileSync(offset, String(DIALOGUES.get('desk')![0]![0]!.at! - systemClock.now()));
  server = start();
  await server;
  try {
    await Promise.all([...DIALOGUES].map(([app, dialogues]) => playApp(app, dialogues)));
    await until('all messages', () => offices.messages.size >= MESSAGES);
  } finally {
    hangUpAll();
    await (await server).kill();
    offices.close();
  }
  assert.is(offices.messages.size, MESSAGES);
  assert.ok(offices.kills() > 1, 'before a deed and after one');

  // A new phone has a new back office, as when the dialogues were recorded.
  async function playApp(app: string, dialogues: typeof DIALOGUES extends ReadonlyMap<string, infer D> ? D : never) {
    let office = offices.open(app);
    let before = '';
    let expected: string[] = [];
    for (const turns of dialogues) {
      const { flow, phone } = turns[0]!;
      if (`${flow} ${phone}` !== before) {
        office = offices.open(app);
        expected = [];
      }
      before = `${flow} ${phone}`;
      await replay(turns, { app, checking: offices.checking, urlNow: () => url });
      const calls = turns.flatMap((turn) => turn.calls.map(({ service }) => service));
      expected.push(...calls.filter((service) => office.deeds.has(service)));
      assert.equal(
        office.journal.map(({ service }) => service),
        expected,
        turns[0]!.session,
      );
    }
  }
}

const PIN_KEY = '5b1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';
const PRELOAD = pathToFileURL(join(import.meta.dirname, '../../support/jump-clock.mjs')).href;

test('on LMDB: callers read what was recorded, and each deed is done once', () =>
  withFolder((folder) => playAll({}, folder)));

if (!isShort)
  test('on Redis: callers read what was recorded, and each deed is done once', () =>
    withFolder(async (folder) => {
      const redis = await startRedis();
      try {
        await playAll({ REDIS_URL: redis.url }, folder);
      } finally {
        await redis.stop();
      }
    }));

test.run();
