// Whole flows in the studio, on two servers over one folder and one store: what is created, drafted, published, taken back, renamed, deleted,
// restored and dialled is what a plain model says, on disk and for callers of both.

import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import { AUDIT_KIND, type AuditBody } from '../../../server/audit/audit.ts';
import { readMenus } from '../../../server/menus/menus.ts';
import { DIAL, json, type Served, withServer } from '../support/serve.ts';

const test = suite('flows in the studio');
const seed = Number(process.env.TEST_SEED ?? 1);

const folder = mkdtempSync(join(tmpdir(), 'twinline-flows-'));
test.after(() => rmSync(folder, { recursive: true }));
const clear = () => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
};
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

const post = async ({ ask, url }: Served, path: string, body: object) => {
  const { status, text } = await ask(`/studio${path}`, json(body, { origin: url }));
  return { status, body: JSON.parse(text) as Record<string, unknown> };
};

interface Opened {
  readonly stage: string;
  readonly flow: { text: string; hash: string };
  readonly tests: { text: string; hash: string };
  readonly published: { readonly flow: { hash: string } };
}
const open = async (server: Served, flow: string) => (await server.ask(`/studio/flows/${flow}`)).json() as Opened;

// --- the model ---

interface Texts {
  readonly words: string;
  readonly calls?: string | undefined;
}
interface Model {
  readonly published: Map<string, Texts>;
  readonly drafts: Map<string, Texts>;
  readonly deleted: { readonly name: string; readonly texts: Texts; readonly stage: 'published' | 'draft' }[];
  dialled: string;
}

const textOf = (flow: string, { words, calls }: Texts) =>
  JSON.stringify({
    ...{ flow, version: 1, start: 'hello' },
    screens: {
      hello: {
        type: 'menu',
        text: words,
        options: [{ id: 'on', text: 'On', to: calls === undefined ? 'bye' : 'sub' }],
      },
      ...(calls !== undefined && { sub: { type: 'flow', flow: calls, done: 'bye' } }),
      bye: { type: 'end', text: 'Bye.' },
    },
  });

const NAMES = ['main', 'shop', 'bus', 'bank'] as const;
const name = fc.constantFrom(...NAMES);
const calls = fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: name });
const operation = fc.oneof(
  fc.record({ do: fc.constant('create' as const), flow: name, calls }),
  fc.record({ do: fc.constant('draft' as const), flow: name, calls }),
  fc.record({ do: fc.constantFrom('publish', 'publish', 'unpublish', 'delete', 'delete', 'drop', 'dial'), flow: name }),
  fc.record({ do: fc.constant('rename' as const), flow: name, to: name }),
  fc.record({ do: fc.constant('restore' as const), flow: name }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** Each once. */
const OPENING: readonly Operation[] = [
  { do: 'create', flow: 'shop', calls: undefined },
  { do: 'draft', flow: 'shop', calls: 'main' },
  { do: 'drop', flow: 'shop' },
  { do: 'draft', flow: 'shop', calls: 'main' },
  { do: 'publish', flow: 'shop' },
  { do: 'dial', flow: 'shop' },
  { do: 'rename', flow: 'shop', to: 'bus' },
  { do: 'rename', flow: 'main', to: 'shop' },
  { do: 'create', flow: 'bank', calls: undefined },
  { do: 'unpublish', flow: 'bank' },
  { do: 'delete', flow: 'bank' },
  { do: 'restore', flow: 'bank' },
];

const names = ({ published, drafts }: Model) => [...new Set([...published.keys(), ...drafts.keys()])];
const callsOf = (model: Model, flow: string) => [model.published.get(flow)?.calls, model.drafts.get(flow)?.calls];
const isUsed = (model: Model, flow: string) =>
  model.dialled === flow || names(model).some((other) => other !== flow && callsOf(model, other).includes(flow));
const isThere = (model: Model, flow: string) => names(model).includes(flow);

/** The flows that `flow` would call, in whatever they say. */
function isCircle({ published }: Model, flow: string, calls: string | undefined): boolean {
  for (let next = calls; next !== undefined; next = published.get(next)?.calls) if (next === flow) return true;
  return false;
}

/** Does an operation on the model; false where it is refused. `words` is what a new text says. */
function expected(model: Model, one: Operation, words: string): boolean {
  const { published, drafts, deleted } = model;
  const { flow } = one;
  switch (one.do) {
    case 'create': {
      if (isThere(model, flow)) return false;
      published.set(flow, { words, calls: one.calls });
      return true;
    }
    case 'draft': {
      if (!isThere(model, flow)) return false;
      drafts.set(flow, { words, calls: one.calls });
      return true;
    }
    case 'publish': {
      const draft = drafts.get(flow);
      if (!draft || (draft.calls !== undefined && !published.has(draft.calls))) return false;
      if (isCircle(model, flow, draft.calls)) return false;
      drafts.delete(flow);
      published.set(flow, draft);
      return true;
    }
    case 'unpublish': {
      const texts = published.get(flow);
      if (!isThere(model, flow) || isUsed(model, flow)) return false;
      if (texts && !drafts.has(flow)) drafts.set(flow, texts);
      published.delete(flow);
      return true;
    }
    case 'drop':
      return published.has(flow) && (drafts.delete(flow) || true);
    case 'delete': {
      if (!isThere(model, flow) || isUsed(model, flow)) return false;
      const stage = published.has(flow) ? 'published' : 'draft';
      deleted.unshift({ name: flow, stage, texts: (stage === 'published' ? published : drafts).get(flow)! });
      published.delete(flow);
      drafts.delete(flow);
      return true;
    }
    case 'restore': {
      const at = deleted.findIndex((entry) => entry.name === flow);
      if (at < 0 || isThere(model, flow)) return false;
      const [{ texts, stage }] = deleted.splice(at, 1) as [Model['deleted'][number]];
      (stage === 'published' ? published : drafts).set(flow, texts);
      return true;
    }
    case 'rename': {
      if (!isThere(model, flow) || isThere(model, one.to)) return false;
      for (const texts of [published, drafts])
        for (const [other, { calls, ...rest }] of [...texts]) {
          texts.delete(other);
          texts.set(other === flow ? one.to : other, { ...rest, calls: calls === flow ? one.to : calls });
        }
      if (model.dialled === flow) model.dialled = one.to;
      return true;
    }
    case 'dial':
      if (!published.has(flow)) return false;
      model.dialled = flow;
      return true;
  }
}

/** Does it in the studio of a server. */
async function doOn(server: Served, one: Operation, words: string): Promise<{ status: number }> {
  const { flow } = one;
  switch (one.do) {
    case 'create':
      return post(server, '/new', { flow, starter: '', text: textOf(flow, { words, calls: one.calls }) });
    case 'draft': {
      const { flow: file } = await open(server, flow);
      const text = textOf(flow, { words, calls: one.calls });
      return post(server, '/save', { flow, text, base: file?.hash ?? '', asDraft: true });
    }
    case 'publish': {
      const { flow: file, tests, published } = await open(server, flow);
      const hashes = {
        base: file?.hash ?? '',
        testsBase: tests?.hash ?? '',
        publishedBase: published?.flow.hash ?? '',
      };
      return post(server, '/publish', { flow, ...hashes });
    }
    case 'drop':
      return post(server, '/drop-draft', { flow });
    case 'restore': {
      const { deleted } = (await server.ask('/studio/flows')).json() as { deleted: { id: string; name: string }[] };
      return post(server, '/restore', { version: deleted.find((entry) => entry.name === flow)?.id ?? 'none' });
    }
    case 'rename':
      return post(server, '/rename', { flow, to: one.to });
    case 'dial':
      return post(server, '/dialled', { flow });
    case 'unpublish':
    case 'delete':
      return post(server, `/${one.do}`, { flow });
  }
}

const listFiles = () =>
  readdirSync(folder)
    .filter((file) => file !== 'dialled.json')
    .sort();
const filesOf = ({ published, drafts }: Model) =>
  [
    ...[...published.keys()].map((flow) => `${flow}.flow.json`),
    ...[...drafts.keys()].map((flow) => `${flow}.draft.json`),
  ].sort();

/** The flows that pass lint: what they call is there, and does not lead back. */
const served = (model: Model) =>
  [...model.published].filter(
    ([flow, { calls }]) => calls === undefined || (model.published.has(calls) && !isCircle(model, flow, calls)),
  );

test('any sequence of edits of whole flows is what a plain model says, on disk and on two servers that share the folder', async () => {
  write('main.flow.json', textOf('main', { words: 'Main 0' }));
  const documents = memoryDocuments();
  const options = {
    env: { MENUS_DIR: folder, PIN_ENCRYPTION_KEY: createHash('sha256').update('flows').digest('hex') },
    stores: (own: object) => ({ ...own, documents }) as never,
  };
  const model: Model = {
    published: new Map([['main', { words: 'Main 0' }]]),
    drafts: new Map(),
    deleted: [],
    dialled: 'main',
  };
  const operations = [...OPENING, ...fc.sample(operation, { seed, numRuns: 110 })];
  const deeds = new Map<string, number>();
  await withServer(options, (one) =>
    withServer(options, async (other) => {
      for (const [at, next] of operations.entries()) {
        // A flow that calls itself, or one that is not there, is refused when it is published, not as a draft.
        if (
          next.do === 'create' &&
          next.calls !== undefined &&
          (next.calls === next.flow || !model.published.has(next.calls) || isCircle(model, next.flow, next.calls))
        )
          continue;
        // Most of what is drawn would be refused: some of that is enough.
        if (at % 5 && !expected(structuredClone(model), next, '')) continue;
        const told = `${at}: ${JSON.stringify(next)}`;
        const { status } = await doOn(at % 2 ? one : other, next, `Text ${at}`);
        const isDone = expected(model, next, `Text ${at}`);
        if (isDone) deeds.set(next.do, (deeds.get(next.do) ?? 0) + 1);
        assert.is(status === 200, isDone, `${told}: ${status}`);
        assert.equal(listFiles(), filesOf(model), told);
        for (const [stage, texts] of [
          ['flow', model.published],
          ['draft', model.drafts],
        ] as const)
          for (const [flow, text] of texts) assert.is(read(`${flow}.${stage}.json`), textOf(flow, text), told);
        for (const server of [one, other]) {
          await server.refresh();
          const { flows, dialled } = (await server.ask('/studio/flows')).json() as {
            flows: { flow: string; version?: number; hasDraft: boolean }[];
            dialled: string;
          };
          assert.equal(
            flows
              .filter(({ version }) => version !== undefined)
              .map(({ flow }) => flow)
              .sort(),
            served(model)
              .map(([flow]) => flow)
              .sort(),
            told,
          );
          assert.equal(
            flows
              .filter(({ hasDraft }) => hasDraft)
              .map(({ flow }) => flow)
              .sort(),
            [...model.drafts.keys()].sort(),
            told,
          );
          assert.is(dialled, model.dialled, told);
          const screen = await server.ussd({ ...DIAL, sessionId: `${at}-${server === one}` });
          assert.is(screen, `CON ${model.published.get(model.dialled)!.words}\n1. On`, told);
        }
      }
      assert.is(deeds.size, 9, JSON.stringify([...deeds]));
      // Who did what is noted, once for each.
      const { items } = await documents.find<AuditBody>(AUDIT_KIND, { limit: 1_000 });
      const noted = (action: string) => items.filter(({ body }) => body.action === action);
      for (const [action, deed] of [
        ['menus.published', 'publish'],
        ['menus.unpublished', 'unpublish'],
        ['menus.deleted', 'delete'],
        ['menus.renamed', 'rename'],
        ['menus.dialled', 'dial'],
      ] as const)
        assert.is(noted(action).length, deeds.get(deed), action);
      assert.ok(items.every(({ body }) => body.by === 'loopback' && typeof body.details.flow === 'string'));
    }),
  );
});

test('a renamed flow of this repository loads as the same machine, with those that call it, and nothing else changes in any file', async () => {
  clear();
  for (const file of ['main', 'wallet', 'assistant'])
    for (const kind of ['flow', 'test'])
      write(
        `${file}.${kind}.json`,
        readFileSync(new URL(`../../../menus/${file}.${kind}.json`, import.meta.url), 'utf8'),
      );
  for (const [flow, ...called] of [
    ['all', 'main', 'wallet', 'assistant'],
    ['twice', 'wallet', 'wallet'],
  ])
    write(`${flow}.flow.json`, callerOf(flow!, called));
  write('chat.flow.json', textOf('chat', { words: 'Hello' }));
  const dialledTwice = { name: 'a dial', steps: [{ in: '', screen: 'wallet.welcome' }] };
  write('twice.test.json', JSON.stringify({ flow: 'twice', tests: [dialledTwice] }));
  const compiled = async () => {
    const { compiled: flows, failures } = await readMenus({ folder });
    assert.equal(failures, []);
    return flows;
  };
  await withServer({ env: { MENUS_DIR: folder, USSD_FLOW: 'all', AGENT_FLOW: 'chat' } }, async (server) => {
    for (const [flow, to] of [
      ['wallet', 'w'],
      ['main', 'main2'],
      ['assistant', 'A-long_name'],
      ['twice', 'wallet'],
    ] as const) {
      const before = await compiled();
      const texts = new Map(readdirSync(folder).map((file) => [file, read(file)]));
      const { status, body } = await post(server, '/rename', { flow, to });
      assert.is(status, 200, JSON.stringify(body));
      const after = await compiled();
      const nameIt = (text: string) =>
        text.replaceAll(new RegExp(`("flow": ?")${flow}(?=")|("screen": ?")${flow}(?=[.])`, 'g'), `$1$2${to}`);
      const renamed = [...texts].map(([file, text]) => [
        file.replace(new RegExp(`^${flow}\\.`), `${to}.`),
        nameIt(text),
      ]);
      assert.equal(
        Object.fromEntries(readdirSync(folder).map((file) => [file, read(file)])),
        Object.fromEntries(renamed),
      );
      assert.equal([...after.keys()].sort(), [...before.keys()].map((one) => (one === flow ? to : one)).sort());
      for (const [id, { screens }] of before) {
        const next = after.get(id === flow ? to : id)!;
        const name = (path: string) => (path.startsWith(`${flow}.`) ? to + path.slice(flow.length) : path);
        assert.equal([...next.screens.keys()], [...screens.keys()].map(name), id);
      }
    }
    // What settings name is not renamed, and says how.
    const refused = await post(server, '/rename', { flow: 'all', to: 'everything' });
    assert.is(refused.status, 409);
    assert.match(String(refused.body.error), /USSD_FLOW names "all"/);
    assert.match(String((await post(server, '/rename', { flow: 'chat', to: 'talk' })).body.error), /AGENT_FLOW/);
    assert.match(String((await post(server, '/dialled', { flow: 'w' })).body.error), /USSD_FLOW/);
    assert.match(
      String((await post(server, '/delete', { flow: 'w' })).body.error),
      /"all" calls it \(c1\); "wallet" calls it \(c0, c1\)/,
    );
  });
});

const callerOf = (flow: string, called: readonly string[]) =>
  JSON.stringify(
    {
      ...{ flow, version: 1, start: 'c0' },
      screens: {
        ...Object.fromEntries(
          called.map((one, at) => [
            `c${at}`,
            { type: 'flow', flow: one, done: at + 1 < called.length ? `c${at + 1}` : 'bye' },
          ]),
        ),
        bye: { type: 'end', text: 'Bye.' },
      },
    },
    null,
    2,
  );

test('a draft keeps what it is, is refused with reasons, and callers finish on the version that they began', async () => {
  clear();
  write('main.flow.json', textOf('main', { words: 'Old' }));
  await withServer({ env: { MENUS_DIR: folder, STUDIO_SAVE: 'draft' } }, async (server) => {
    const first = await open(server, 'main');
    const broken = textOf('main', { words: 'New' }).replace('"to":"bye"', '"to":"gone"');
    assert.is(
      (await post(server, '/save', { flow: 'main', text: broken, base: 'other' })).status,
      409,
      'somebody else',
    );
    const saved = await post(server, '/save', { flow: 'main', text: broken, base: first.flow.hash });
    assert.equal([saved.status, saved.body.stage], [200, 'draft']);
    assert.is(read('main.draft.json'), broken);
    assert.is(read('main.flow.json'), textOf('main', { words: 'Old' }));
    await server.refresh();
    assert.match(await server.ussd(DIAL), 'Old');
    const publish = async (flow: string) => {
      const { flow: file, tests, published } = await open(server, flow);
      return post(server, '/publish', {
        flow,
        base: file.hash,
        testsBase: tests.hash,
        publishedBase: published.flow.hash,
      });
    };
    const refused = await publish('main');
    assert.is(refused.status, 422);
    assert.match(JSON.stringify(refused.body.problems), 'gone');
    const good = textOf('main', { words: 'New' });
    const tests = JSON.stringify({ flow: 'main', tests: [{ name: 'a dial', steps: [{ in: '', has: 'Newer' }] }] });
    const draft = await open(server, 'main');
    await post(server, '/save', { flow: 'main', text: good, base: draft.flow.hash, tests, testsBase: '' });
    assert.match(JSON.stringify((await publish('main')).body.reports), 'a dial');
    assert.equal(readdirSync(folder).sort(), ['main.draft-tests.json', 'main.draft.json', 'main.flow.json']);
    const again = await open(server, 'main');
    await post(server, '/save', {
      flow: 'main',
      text: good,
      base: again.flow.hash,
      tests: tests.replace('Newer', 'New'),
      testsBase: again.tests.hash,
    });
    // Another instance edits the file: what was seen is not what would be replaced.
    write('main.flow.json', textOf('main', { words: 'By hand' }));
    const stale = { ...(await open(server, 'main')), published: again.published };
    const conflict = await post(server, '/publish', {
      flow: 'main',
      base: stale.flow.hash,
      testsBase: stale.tests.hash,
      publishedBase: stale.published.flow.hash,
    });
    assert.is(conflict.status, 409);
    assert.is((await publish('main')).status, 200);
    assert.equal(readdirSync(folder).sort(), ['main.flow.json', 'main.test.json']);
    assert.match(await server.ussd({ ...DIAL, sessionId: 's2' }), 'New');
    assert.match(await server.ussd({ ...DIAL, text: '1' }), /^END Bye/, 'who began before goes on');
    const { versions } = (await server.ask('/studio/flows/main/versions')).json() as {
      versions: { id: string; stage: string; by: string }[];
    };
    assert.equal(versions.map(({ stage, by }) => [stage, by]).slice(0, 2), [
      ['published', 'loopback'],
      ['draft', 'loopback'],
    ]);
    assert.equal(versions.at(-1)!.by, 'disk');
    // Back to the earlier version, by its text.
    const old = (await server.ask(`/studio/flows/main/versions/${versions.at(-1)!.id}`)).json() as { text: string };
    assert.is(old.text, textOf('main', { words: 'Old' }));
    const begun = await post(server, '/new', { flow: 'shop', starter: 'menu' });
    assert.equal([begun.body.stage, readdirSync(folder).includes('shop.draft.json')], ['draft', true]);
  });
});

test.run();
