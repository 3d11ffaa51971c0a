// kill -9 of the process that writes a reply, over HTTP: what it began is carried on by the next one, or ends as interrupted.

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type SeenFrame, shownText, soundLog } from '../../agent/ground.ts';
import { hangs, type ModelServer, modelServer, said } from '../../agent/model-server.ts';
import { type RunningServer, startProcess, withFolder } from '../../support/process.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { isShort } from '../../support/size.ts';
import { ORACLE_KEY } from '../plugins/users.ts';
import { type Chatter, newChatter, type Reader, readOut } from './chats.ts';

/** A lease must run out before anybody takes a run over: 15 s. */
export const runs = 'waits';

// In short size without the two instances, which need Redis.
const test = suite('the owner of a run under kill -9');

/** A service that answers once there is a file, and writes down each call before it does anything else. */
const SLOW = `import { appendFileSync, existsSync } from 'node:fs';
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
export default {
  'shop.buy': async (_input, { idempotencyKey }) => {
    appendFileSync(process.env.SHOP_CALLS, idempotencyKey + '\\n');
    while (!existsSync(process.env.SHOP_OPEN)) await pause();
    return { left: 8 };
  },
};
`;

const SHOP = {
  flow: 'shop',
  version: 1,
  start: 'home',
  keys: { exit: '*' },
  vars: { said: { type: 'string', default: '', max: 160 }, bought: { type: 'object', sample: { left: 9 } } },
  screens: {
    home: { type: 'input', text: 'What?', save: 'said', to: 'buy' },
    buy: { type: 'call', service: 'shop.buy', timeout: '20s', save: 'bought', done: 'done', fail: 'home' },
    done: { type: 'input', text: 'Bought.\n{{bought.left}} are left.\nWhat next?', save: 'said', to: 'buy' },
  },
};

interface Scene {
  readonly env: Readonly<Record<string, string>>;
  /** The frame that says that the answer is half given. */
  readonly half: string;
  /** Lets an answer that waits go on. */
  goOn(): void;
  /** What is to come of it. */
  readonly end: { readonly status: string; readonly text: string };
  /** Fails unless nothing was done twice. */
  check(): void;
}

function flowScene(folder: string): Scene {
  const at = (name: string) => join(folder, name);
  const menu = { flow: 'main', version: 1, start: 'end', screens: { end: { type: 'end', text: 'Bye' } } };
  writeFileSync(at('main.flow.json'), JSON.stringify(menu));
  writeFileSync(at('shop.flow.json'), JSON.stringify(SHOP));
  writeFileSync(at('slow.mjs'), SLOW);
  const calls = at('calls.txt');
  appendFileSync(calls, '');
  return {
    env: { MENUS_DIR: folder, AGENT_FLOW: 'shop', SERVICES: at('slow.mjs'), SHOP_CALLS: calls, SHOP_OPEN: at('open') },
    half: 'tool_call',
    goOn: () => writeFileSync(at('open'), ''),
    end: { status: 'finished', text: 'Bought.\n8 are left.\nWhat next?\n0. Back' },
    check: () => {
      const keys = readFileSync(calls, 'utf8').trim().split('\n');
      assert.is(keys.length, 2, 'called by the first owner, and again by the second');
      assert.is(new Set(keys).size, 1, 'under one idempotency key');
    },
  };
}

function modelScene(model: ModelServer): Scene {
  return {
    env: { MODEL_BASE_URL: model.url, MODEL_API_KEY: 'k', MODEL_NAME: 'small' },
    half: 'message',
    goOn: () => {},
    end: { status: 'interrupted', text: 'Half of ' },
    check: () => assert.is(model.asked.length, 1, 'a model is not asked again for what was half said'),
  };
}

/** Two instances share everything; one alone is started again on what it has left. */
type Instances = 'one' | 'two';

async function play(scene: Scene, { instances, env }: { instances: Instances; env: Scene['env'] }): Promise<void> {
  const up: RunningServer[] = [];
  const start = async () => {
    const server = await startProcess({ ORACLE_KEY, ...env, ...scene.env });
    up.push(server);
    return server;
  };
  try {
    const owner = await start();
    const other = instances === 'two' ? await start() : undefined;
    const ann = await newChatter();
    const session = await ann.begin(owner.url);
    const cut = await ann.say(owner.url, session, 'apples');
    await cut.until(scene.half);
    const following = other && (await ann.join(other.url, cut.run));
    await following?.until(scene.half);

    await owner.kill();
    assert.is(await cut.ended, 'cut');
    const heir = other ?? (await start());
    scene.goOn();
    await afterwards({ scene, ann, heir, session, cut, following });
  } finally {
    await Promise.all(up.map((server) => server.kill()));
  }
}

interface Afterwards {
  readonly scene: Scene;
  readonly ann: Chatter;
  readonly heir: RunningServer;
  readonly session: string;
  readonly cut: Reader;
  readonly following: Reader | undefined;
}

async function afterwards({ scene, ann, heir, session, cut, following }: Afterwards): Promise<void> {
  const { status, text } = scene.end;
  const seen = cut.frames();
  const rest = await readOut(await ann.join(heir.url, cut.run, seen.length), status);
  const whole = [...seen, ...rest];
  soundLog(whole);
  assert.is(shownText(whole), text);
  assert.equal(lengths(whole), status === 'finished' ? [0] : [text.length]);
  const heard = await readOut(following ?? (await ann.join(heir.url, cut.run)), status);
  assert.equal(heard, whole, 'who followed from elsewhere has read the same');
  assert.equal(await readOut(await ann.join(heir.url, cut.run), status), whole, 'and so does who comes late');
  assert.equal(await ann.kept(heir.url, session), ['human: apples', `ai: ${text}`]);
  assert.equal((await ann.ask(heir.url, `/sessions/${session}/run`)).json(), { run: null });
  scene.check();
}

/** How much of the text readers were told to keep, each time somebody took the run over. */
const lengths = (frames: readonly SeenFrame[]) =>
  frames.flatMap(({ json }) => (json.resumed ? [json.partialLength] : []));

// Whoever shares a Redis has the same key.
const PIN_ENCRYPTION_KEY = '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';

/** A scene in a folder of its own; two instances share it, and Redis. */
async function inFolder(redis: RedisServer | undefined, scene: (folder: string) => Scene): Promise<void> {
  await withFolder(async (folder) => {
    const shared = redis && { REDIS_URL: redis.url, PIN_ENCRYPTION_KEY };
    const env = { DATA_DIR: join(folder, 'data'), ...shared };
    await play(scene(folder), { instances: redis ? 'two' : 'one', env });
  });
}

// All at once, for each of them waits until a lease runs out.
async function scenes(redis?: RedisServer): Promise<void> {
  const model = await modelServer(hangs(said('Half of ')));
  // agent/faults has the model in this process.
  const both = [flowScene, ...(isShort ? [] : [() => modelScene(model)])];
  const played = await Promise.allSettled(both.map((scene) => inFolder(redis, scene)));
  await model.close();
  for (const one of played) if (one.status === 'rejected') throw one.reason;
}

const played: Partial<Record<Instances, Promise<void>>> = {};
let redis: RedisServer | undefined;
test.before(async () => {
  played.one = scenes();
  if (!isShort) {
    redis = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    played.two = scenes(redis);
  }
  // Each is told of by its test.
  await Promise.allSettled(Object.values(played));
});
test.after(() => redis?.stop());

test('one instance, started again: a flow goes on where it was, a model ends as interrupted', () => played.one);

if (!isShort) test('of two instances the other one: a reader there reads on as if nothing had been', () => played.two);

test.run();
