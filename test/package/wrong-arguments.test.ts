// What an engineer hands to a public function by mistake: the error says which argument, what it must be, and what it was.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openAgent } from '../../lib/agent/index.ts';
import { tokenGuard } from '../../lib/delegation/index.ts';
import { registry } from '../../lib/domain/index.ts';
import type { TwinlineError } from '../../lib/errors.ts';
import { loadFlow, loadFlows } from '../../lib/flow/index.ts';
import { createRouteTable, guardedChannel, http2Channel, readDescriptorSet } from '../../lib/gateway/index.ts';
import * as engine from '../../lib/index.ts';
import { lmdbLogs, lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import { connectMongo } from '../../lib/store/mongo/index.ts';
import { ussdGateway } from '../../lib/ussd/index.ts';
import { readConfig, startServer } from '../../server/index.ts';
import { manifest, ROOT, sourceOf } from './manifest.ts';

const test = suite('wrong arguments');

// Without types, as in a program that is JavaScript.
// biome-ignore lint/suspicious/noExplicitAny: what is tried here is what types refuse
const wrong = (value: unknown) => value as any;

const MAIN = 'menus/main.flow.json';
const store = engine.memorySnapshots();
const documents = engine.memoryDocuments();
const made = engine.createEngine({ store });

const TRIED: Readonly<Record<string, readonly [call: () => unknown, says: RegExp]>> = {
  'services as a list': [
    () => loadFlow(MAIN, { services: wrong(['bills.find']) }),
    /^Cannot load a flow: services must be a set of names, such as new Set\(\['bills\.find'\]\), not a list\.$/,
  ],
  'flows as an object': [
    () => loadFlow(MAIN, { flows: wrong({}) }),
    /flows must be a map of flows by name, .*, not an object/,
  ],
  'a folder that is missing': [() => loadFlows(wrong(undefined)), /folder must be a string, not undefined/],
  'a flow that was not awaited': [
    () => engine.compileFlow(wrong(loadFlow(MAIN))),
    /flow must be a flow, .*, not a promise: await it/,
  ],
  'an engine without a store': [
    () => engine.createEngine(wrong({})),
    /Cannot make an engine: store must be a store of sessions/,
  ],
  'a store of documents for sessions': [
    () => engine.createEngine({ store: wrong(documents) }),
    /store must be a store of sessions/,
  ],
  'one conversation': [
    () => engine.createEngine({ store, conversations: wrong({}) }),
    /conversations must be a list of conversations, such as \[compileFlow\(flow\)\], not an object/,
  ],
  'a flow that was not compiled': [
    async () => engine.createEngine({ store, conversations: wrong([await loadFlow(MAIN)]) }),
    /conversations must be a list of conversations/,
  ],
  'no machine': [() => engine.compileMachine(wrong({ initial: 'red' })), /source must be an XState machine/],
  'a machine of an older XState': [
    () => engine.compileMachine(wrong({ id: 'old', config: {}, implementations: {} })),
    /"old": it was created by an XState before 5\.31, and Twinline needs xstate >=5\.31\.1 <6/,
  ],
  'a machine that was not compiled': [
    () => engine.machineConversation(wrong({ id: 'x' })),
    /machine must be a machine, such as createMachine/,
  ],
  'a turn without a decision': [
    () => engine.takeTurn(made, wrong({ key: 'a' })),
    /Cannot take a turn: decide must be a function, not undefined/,
  ],
  'a turn without an engine': [
    () => engine.takeTurn(wrong(store), { key: 'a', decide: wrong(0) }),
    /engine must be an engine from createEngine/,
  ],
  'a turn without anything': [
    () => engine.takeTurn(made, wrong(undefined)),
    /request must be an object, not undefined/,
  ],
  'a view of nothing': [() => engine.viewSession(made, wrong(7)), /key must be a string, not a number/],
  'a key that is bytes': [() => engine.parseKeyring(wrong(Buffer.alloc(32))), /text must be a string, not an object/],
  'a key of one byte': [() => engine.parseKeyring('ab'.repeat(32)), /not random: too few distinct bytes/],
  'a lifecycle over sessions': [
    () => engine.lifecycle(wrong({ documents: store })),
    /documents must be a store of documents/,
  ],
  'a registry without a clock': [
    () => registry(wrong({ documents })),
    /clock must be a clock, such as systemClock, not undefined/,
  ],
  'an agent without logs': [() => openAgent(wrong({ documents })), /logs must be a store of logs/],
  'a gateway without keys': [() => ussdGateway(wrong({ engine: made, flow: 'main' })), /keyring must be a keyring/],
  'a clock that is a number': [
    () => tokenGuard({ audience: 'did:ex:a', clock: wrong(0) }),
    /clock must be a clock, .*, not a number/,
  ],
  'descriptors as a path': [
    () => readDescriptorSet(wrong('query.pb')),
    /bytes must be bytes \(a Buffer or Uint8Array\), not a string/,
  ],
  'a table of bytes': [() => createRouteTable(wrong(Buffer.from(''))), /descriptors must be descriptors/],
  'an address alone': [
    () => http2Channel(wrong('node:9090')),
    /options must be an object, such as \{ upstream.*\}, not a string/,
  ],
  'a guard of an address': [
    () => guardedChannel(wrong({ upstream: 'node:9090' })),
    /channel must be a channel to a node/,
  ],
  'LMDB by its path alone': [
    () => lmdbSnapshots(wrong('./data')),
    /^Cannot open LMDB: its options must be an object, such as \{ path \}, not a string\.$/,
  ],
  'LMDB without a path': [() => lmdbLogs(wrong({})), /path must be a string, not undefined/],
  'MongoDB by its URL alone': [() => connectMongo(wrong('mongodb://h')), /such as \{ url \}, not a string/],
  'no environment': [
    () => readConfig(wrong(undefined)),
    /env must be environment variables by name, .*, not undefined/,
  ],
  'a reading for a configuration': [
    () => startServer(wrong(readConfig({ DATA_DIR: ':memory:' }))),
    /config must be a configuration from requireConfig/,
  ],
};

for (const [name, [call, says]] of Object.entries(TRIED))
  test(`${name}: refused by name`, async () => {
    const thrown = await (async () => call())().then(
      () => undefined,
      (error: TwinlineError) => error,
    );
    assert.ok(thrown, 'it was taken');
    assert.match(thrown.message, says);
    assert.is(thrown.code, 'ERR_CONFIG');
  });

// What they work on comes from other functions of ours, so that their types are all that is said about it.
const OF_VALUES: Readonly<Record<string, string>> = {
  '.': 'checkAppend checkClaim checkRead checkWhole cutPage judgeAppend',
  './flow': 'coverageLine failureText problemLine',
  './ussd': 'conEnd escapeXml fits nonGsm7 readEcho readFields room septets xmlReply',
  './domain':
    'canParticipate canonicalClass domainView eventsAfter governanceView isDid matches parseDidUrl proposalView protocolView',
  './gateway':
    'createStatusAnswers earlyTrailers entityTag idlePatterns isHttpBody learnedTypes legacyRewrites reflect routeRows rpcFilter toHeaders toMetadata toTrailers typeSource withoutAddresses',
  './delegation': 'didWebUrl',
  './store/redis': 'redisDurability',
  './testing': 'adapterChecks failureText',
};

for (const [subpath, file] of Object.entries(manifest.exports))
  test(`${subpath}: every function that is called with nothing says what it needs`, async () => {
    const raw: string[] = [];
    for (const [name, value] of Object.entries(await import(`${ROOT}${sourceOf(file)}`))) {
      if (typeof value !== 'function' || /^class /.test(String(value))) continue;
      const error = await (async () => value())().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error instanceof Error && error.name !== 'TwinlineError') raw.push(name);
    }
    assert.is(raw.sort().join(' '), OF_VALUES[subpath] ?? '');
  });

test.run();
