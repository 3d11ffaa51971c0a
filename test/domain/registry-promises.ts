// What the registry of twins promises on every store: what it makes, what it refuses, what it keeps together, and who
// sees it. Run it with a function that opens a store.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Caller } from '../../lib/domain/caller.ts';
import { DOMAIN } from '../../lib/domain/kinds.ts';
import { DOMAIN_LIMITS } from '../../lib/domain/limits.ts';
import { compileProperty } from '../../lib/domain/twin/property.ts';
import type { Domain } from '../../lib/domain/twin/record.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import type { OpenDocuments } from '../../lib/testing/documents/bench.ts';
import { fixture } from '../support/fixture.ts';
import { ALICE, type Bench, BOB, COOKING, type OpenBench, refused, withBenches } from './registry-bench.ts';

const FILTERS = fixture<{ readonly hold: readonly string[]; readonly doNot: readonly string[] }>('domain/filters.json');

function service(endpoint: string): JsonObject {
  return { id: '#data', type: 'DataIngestion', endpoint };
}

/** Passes calls on until `writes` have been made; from then on nothing is answered any more. */
function dyingAfter(inner: DocumentStore, writes: number): DocumentStore {
  let left = writes;
  const last = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
    return (...args: A): Promise<R> =>
      left-- > 0 ? call(...args) : Promise.reject(new TwinlineError('ERR_STORE', 'gone'));
  };
  return {
    ...inner,
    insert: last(inner.insert),
    replace: last(inner.replace),
    remove: last(inner.remove),
  } as DocumentStore;
}

async function pages({ registry }: Bench, query: object): Promise<Domain[]> {
  const found: Domain[] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await registry.list(ALICE, { ...query, ...(cursor !== undefined && { cursor }) });
    found.push(...page.items);
    cursor = page.next;
  }
  return found;
}

const PROMISES: { readonly [sentence: string]: (openBench: OpenBench) => Promise<void> } = {
  'a role is filled by the right kind of twin, and the chain of twins is known without a protocol': async (
    openBench,
  ) => {
    const { make } = await openBench();
    const oracle = await make('oracle/evaluation', { alsoKnownAs: 'did:ixo:org/oracle' });
    const organisation = await make('Organisation');
    const verifier = (did: string) => ({ relationships: { verifier: did } });
    await refused('invalid', make('Project', verifier(organisation.id)), ['/relationships/verifier']);
    const project = await make('Project', verifier('did:ixo:org/oracle'));
    assert.ok(project.body.edges.includes(`verifier ${oracle.id}`));
    const asset = await make('Asset');
    const claim = await make('Claim');
    for (const [type, relation, to] of [
      ['Organisation', 'implements', project],
      ['Project', 'generates', asset],
      ['Asset', 'produces', claim],
      ['Oracle', 'verifies', claim],
      ['Claim', 'becomes', await make('Credential')],
    ] as const)
      assert.ok(
        (await make(type, { relationships: { [relation]: to.id } })).body.edges.includes(`${relation} ${to.id}`),
      );
    await refused('invalid', make('Organisation', { relationships: { implements: asset.id } }));
  },

  'an organisation has a membership group from the first moment on, and never loses the last one': async (
    openBench,
  ) => {
    const { registry, make } = await openBench();
    const { id, body } = await make('Organisation');
    const [first] = body.subDomains;
    assert.is((await registry.get(ALICE, first!.did)).body.parent, id);
    await refused('last-membership-group', registry.deactivate(ALICE, { did: first!.did }));
    const second = await make('MembershipGroup', { parent: id });
    assert.equal(
      (await registry.get(ALICE, id)).body.subDomains.map(({ did }) => did),
      [first!.did, second.id],
    );
    const leaving = [first!.did, second.id].map((did) => registry.deactivate(ALICE, { did }));
    const results = await Promise.allSettled(leaving);
    assert.equal(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    assert.is((await registry.get(ALICE, id)).body.subDomains.length, 1);
  },

  'whenever the process dies, whoever sees an organisation sees its group, and nothing half made stays': async (
    openBench,
  ) => {
    for (const withParent of [false, true])
      for (let writes = 0; writes < 12; writes++) {
        const { documents, clock, registry, make } = await openBench();
        const parent = withParent ? (await make('Organisation')).id : undefined;
        const dying = await openBench(dyingAfter(documents, writes), clock);
        const died = await dying.make('Organisation', parent === undefined ? {} : { parent }).then(
          () => false,
          () => true,
        );
        const seen = (await registry.list(ALICE, { type: 'Organisation' })).items;
        for (const { id, body } of seen) {
          const groups = body.subDomains.filter(({ type }) => type === 'MembershipGroup');
          assert.ok(groups.length > 0, `after ${writes} writes`);
          for (const { did } of groups) assert.is((await registry.get(ALICE, did)).body.parent, id);
        }
        for (const { body } of (await registry.list(ALICE, { limit: 100 })).items)
          if (body.parent !== null) await registry.get(ALICE, body.parent);
        await clock.advance(60_000);
        await registry.sweep(clock.now(), 100);
        assert.is(await registry.sweep(clock.now(), 100), 0);
        const left = await documents.count(DOMAIN);
        const whole = (await registry.list(ALICE, { limit: 100 })).items;
        for (const { body } of whole) if (body.parent !== null) await registry.get(ALICE, body.parent);
        assert.is(left, whole.length, `after ${writes} writes`);
        if (!died) assert.is(seen.length, withParent ? 2 : 1);
      }
  },

  'who controls a twin is one edge, whether it was made so or given away, and however they are named': async (
    openBench,
  ) => {
    const { registry, make } = await openBench();
    const controller = ['did:x:alice', 'did:x:org/a', 'did:x:org/b'];
    const made = await make('Project', { controller });
    const { id } = await make('Project');
    const given = await registry.transfer(ALICE, { did: id, body: { controller } });
    assert.equal([...given.body.edges].sort(), [...made.body.edges].sort());
    assert.ok(given.body.edges.includes('controlledBy did:x:org'));
  },

  'a part whose end came too late is a part still': async (openBench) => {
    const { documents, clock, registry, make, merge } = await openBench();
    const { id } = await make('Organisation');
    const part = await make('MembershipGroup', { parent: id });
    const overtaken = {
      ...documents,
      replace: async (...asked: Parameters<DocumentStore['replace']>) => {
        if (asked[1] === part.id) await merge(part.id, { metadata: { name: 'first' } });
        return documents.replace(...asked);
      },
    } as DocumentStore;
    const late = await openBench(overtaken, clock);
    await refused('revision-changed', late.registry.deactivate(ALICE, { did: part.id }));
    assert.is((await registry.get(ALICE, part.id)).body.metadata.name, 'first');
    assert.ok((await registry.get(ALICE, id)).body.subDomains.some(({ did }) => did === part.id));
  },

  'at whichever write its end fails, a part leaves its organisation altogether or not at all': async (openBench) => {
    const statuses = new Set<string>();
    for (let writes = 0; writes < 8; writes++) {
      const { documents, clock, registry, make } = await openBench();
      const { id } = await make('Organisation');
      const part = await make('MembershipGroup', { parent: id });
      const dying = await openBench(dyingAfter(documents, writes), clock);
      const failed = await dying.registry.deactivate(ALICE, { did: part.id }).then(
        () => false,
        () => true,
      );
      await clock.advance(60_000);
      await registry.sweep(clock.now(), 100);
      assert.is(await registry.sweep(clock.now(), 100), 0);
      const { status } = (await registry.find('t', part.id))!.body;
      const isNamed = (await registry.get(ALICE, id)).body.subDomains.some(({ did }) => did === part.id);
      assert.is(isNamed, status !== 'Deactivated', `${status} after ${writes} writes`);
      if (!failed) assert.is(status, 'Deactivated');
      statuses.add(status);
    }
    assert.equal([...statuses].sort(), ['Created', 'Deactivated']);
  },

  'a store that fails while the parent is looked for lets no group leave': async (openBench) => {
    const { documents, clock, registry, make } = await openBench();
    const { id } = await make('Organisation');
    const part = await make('MembershipGroup', { parent: id });
    const get = async (...asked: Parameters<DocumentStore['get']>) => {
      if (asked[1] === id) throw new TwinlineError('ERR_STORE', 'late');
      return documents.get(...asked);
    };
    const late = await openBench({ ...documents, get } as DocumentStore, clock);
    await late.registry.deactivate(ALICE, { did: part.id }).then(
      () => assert.unreachable('it has not seen whether the group may leave'),
      (error: TwinlineError) => assert.is(error.code, 'ERR_STORE'),
    );
    assert.is((await registry.get(ALICE, part.id)).revision, part.revision);
  },

  'the same reserved DID makes one twin, however often the request is worked on': async (openBench) => {
    const { registry } = await openBench();
    const body = { type: 'Organisation', class: COOKING, externalId: 'org-1' };
    const did = 'did:ixo:entity:00000000000000000000000000000001';
    const made = await Promise.all([1, 2, 3].map(() => registry.create(ALICE, { body, did })));
    assert.is(new Set(made.map(({ id }) => id)).size, 1);
    assert.is((await registry.list(ALICE, {})).items.length, 2);
    await refused('already-exists', registry.create(ALICE, { body }));
  },

  'of a hundred patches at one revision, one is applied': async (openBench) => {
    const { registry, make } = await openBench();
    const { id } = await make('Project');
    const patches = Array.from({ length: 100 }, (_, n) => {
      const patch = { type: 'merge', patch: { metadata: { name: `n${n}` } } } as const;
      return registry.patch(ALICE, { did: id, expected: 1, patch });
    });
    const results = await Promise.allSettled(patches);
    assert.is(results.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.is((await registry.get(ALICE, id)).revision, 2);
  },

  'protocols keep their versions, and twins keep to the version that they were made from': async (openBench) => {
    const { registry, make, merge } = await openBench();
    const { id, body } = await make('Project', { properties: { metricOne: 'x' } });
    const change = (expected: number, properties: JsonObject, by: Caller = ALICE) =>
      registry.protocols.change(by, body.class, { expected, body: { alsoKnownAs: COOKING, properties } });
    await refused('not-controller', change(1, {}, BOB));
    await refused('revision-changed', change(7, {}));
    assert.is((await change(1, { metricThree: 'boolean' })).version, 2);
    assert.ok('metricOne' in (await registry.protocols.at(body.class, 1))!.body.properties);
    assert.is((await merge(id, { metadata: { name: 'still version 1' } })).body.classVersion, 1);
    await refused('invalid', merge(id, { properties: { metricThree: true } }), ['/properties/metricThree']);
    await refused('invalid', merge(id, { class: COOKING }), ['/properties/metricOne']);
    const moved = await merge(id, { class: COOKING, properties: { metricOne: null, metricThree: true } });
    assert.is(moved.body.classVersion, 2);
    const codes = { type: 'object', properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } };
    assert.is(compileProperty(codes)({ a: 'a', b: 'b' }).length, 0);
    assert.is(compileProperty(codes)({ a: 'b', b: 'a' }).length, 2);
    for (const properties of [
      { a: 'text' },
      { a: { type: 'nonsense' } },
      { a: { $ref: 'https://x.example' } },
      { a: { $id: 'x' } },
      { a: 7 },
    ])
      await refused('invalid', registry.protocols.create(ALICE, { type: 'Protocol', properties } as JsonObject));
    const slow = {
      type: 'Protocol',
      alsoKnownAs: 'did:x:slow',
      properties: { a: { type: 'string', pattern: '^(a+)+$' } },
    };
    await registry.protocols.create(ALICE, slow);
    // For good, with an engine that backtracks.
    const bad = { type: 'Device', class: 'did:x:slow', properties: { a: `${'a'.repeat(50_000)}!` } };
    await refused('invalid', registry.create(ALICE, { body: bad }), ['/properties/a']);
  },

  'what is inherited comes from the nearest ancestor, and never controllers, keys or services': async (openBench) => {
    const { registry } = await openBench();
    const resource = (id: string, type: string) => ({ id, type });
    const root = await registry.protocols.create(ALICE, {
      type: 'Protocol',
      properties: { a: 'string', b: 'string' },
      linkedResource: [resource('{id}#page', 'root'), resource('{id}#logo', 'root')],
    });
    const child = await registry.protocols.create(ALICE, {
      type: 'Protocol',
      alsoKnownAs: 'did:x:child',
      parent: root.body.did,
      properties: { b: 'number' },
      linkedResource: [resource('did:x:child#page', 'child')],
    });
    const body = {
      type: 'Device',
      class: 'did:x:child',
      properties: { a: 'x', b: 1 },
      linkedResource: [resource('#own', 'own')],
    };
    const twin = await registry.create(ALICE, { body });
    const composed = await registry.composeView(twin);
    const types = (composed.linkedResource as { type: string }[]).map(({ type }) => type);
    assert.equal(types.sort(), ['child', 'own', 'root']);
    assert.equal([composed.composed, composed.controller, composed.services], [true, 'did:x:alice', []]);
    assert.equal(
      (composed.classChain as { did: string }[]).map(({ did }) => did),
      [child.body.did, root.body.did],
    );
    await refused(
      'invalid',
      registry.protocols.change(ALICE, root.body.did, { expected: 1, body: { parent: child.body.did } }),
      ['/parent'],
    );
    await refused(
      'invalid',
      registry.protocols.change(ALICE, root.body.did, { expected: 1, body: { parent: root.body.did } }),
      ['/parent'],
    );
  },

  'lists are filtered, ordered and paged, and stay whole while twins come and go': async (openBench) => {
    const bench = await openBench();
    const { registry, make, clock } = bench;
    const names: string[] = [];
    for (let n = 0; n < 30; n++) {
      await clock.advance(1);
      const type = n % 3 ? 'Project' : 'Device';
      names.push((await make(type, { metadata: { name: `n${n % 5}` }, properties: { metricTwo: n } })).id);
    }
    const ids = (domains: readonly Domain[]) => domains.map(({ id }) => id);
    assert.equal(ids(await pages(bench, { limit: 7 })), names);
    assert.equal(ids(await pages(bench, { limit: 7, sort: '-created' })), [...names].reverse());
    assert.equal(
      ids(await pages(bench, { type: 'Device', limit: 3 })),
      names.filter((_, n) => n % 3 === 0),
    );
    const wanted = names.filter((_, n) => n % 3 === 0 && n % 5 === 2);
    assert.equal(ids(await pages(bench, { type: 'Device', name: 'n2', limit: 1 })), wanted);
    const filter = 'and(eq(type,"Project"),gt(properties.metricTwo,10),not(like(metadata.name,"*4")))';
    const matching = names.filter((_, n) => n % 3 && n > 10 && n % 5 !== 4);
    assert.equal(ids(await pages(bench, { filter, limit: 2 })), matching);
    assert.equal(ids(await pages(bench, { class: COOKING, controller: 'did:x:alice', limit: 30 })), names);
    for (const none of [{ controller: 'did:x:bob' }, { class: 'did:x:none' }, { status: 'Verified' }, { name: 'none' }])
      assert.equal(await pages(bench, none), []);
    const first = await registry.list(ALICE, { limit: 10 });
    for (let n = 0; n < 5; n++) await make('Device');
    await registry.deactivate(ALICE, { did: names[12]! });
    const second = await registry.list(ALICE, { limit: 10, cursor: first.next! });
    assert.equal(
      ids(second.items),
      names.slice(10, 21).filter((id) => id !== names[12]),
    );
    await refused('bad-cursor', registry.list(ALICE, { type: 'Device', cursor: first.next! }));
    for (const cursor of ['', 'x', `${first.next!.slice(0, 9)}AAAA`])
      await refused('bad-cursor', registry.list(ALICE, { limit: 10, cursor }));
    for (const limit of [0, -1, 1.5, 1_001]) await refused('bad-limit', registry.list(ALICE, { limit }));
    await refused('bad-request', registry.list(ALICE, { sort: 'secret' }));
  },

  'filters compare values of one type, through lists too': async (openBench) => {
    const bench = await openBench();
    await bench.make('Device', {
      metadata: {
        ...{ name: 'a', tags: ['x', 'y'], n: 3, 'a.b': 4, 'CO2 (kg)': 1, $x: { '"': 1 }, température: 21, 水: 1 },
        ...{ at: '2027-01-01T00:00:00+05:30', star: 'a*?\\b' },
      },
      services: [service('https://a.example')],
    });
    const holds = async (filter: string) => (await bench.registry.list(ALICE, { filter })).items.length === 1;
    for (const yes of FILTERS.hold) assert.ok(await holds(yes), yes);
    for (const no of FILTERS.doNot) assert.not.ok(await holds(no), no);
  },

  'the graph is walked in both directions, by relation, and circles end': async (openBench) => {
    const { registry, make, merge } = await openBench();
    const a = await make('Project');
    const b = await make('Project', { relationships: { peer: a.id } });
    const c = await make('Project', { relationships: { peer: b.id } });
    await merge(a.id, { relationships: { peer: c.id } });
    const walk = async (query: object) => {
      const { nodes, edges } = await registry.graph(ALICE, { did: a.id, relation: 'peer', ...query });
      return [nodes.map(({ did }) => did), edges.length];
    };
    assert.equal(await walk({}), [[a.id, c.id], 1]);
    assert.equal(await walk({ direction: 'in' }), [[a.id, b.id], 1]);
    assert.equal(await walk({ depth: 8 }), [[a.id, c.id, b.id], 3]);
    assert.equal((await walk({ depth: 8, direction: 'both' }))[1], 3);
    assert.equal(await walk({ relation: 'verifier' }), [[a.id], 0]);
    await refused('bad-request', walk({ depth: 9 }));
    await refused('bad-request', walk({ direction: 'up' as 'in' }));
  },

  'a graph of as many twins as it may have is whole, and of one more it says that something is left out': async (
    openBench,
  ) => {
    const { registry, make, merge } = await openBench();
    const links = (name: string, count: number) =>
      Array.from({ length: count }, (_, at) => ({ id: `did:x:${name}${at}`, type: 'Thing', relationship: 'near' }));
    const shared = { id: 'did:x:a0', type: 'Thing', relationship: 'near' };
    const lists = [links('a', 256), links('b', 256), [...links('c', 255), shared]];
    const peers = await Promise.all(lists.map((linkedEntity) => make('Project', { linkedEntity })));
    const others = peers.length + ['the root', 'its protocol', 'its controller'].length;
    const linkedEntity = links('r', DOMAIN_LIMITS.graphNodes - others - (256 + 256 + 255));
    const { id: did } = await make('Project', { relationships: { peer: peers.map(({ id }) => id) }, linkedEntity });
    const whole = await registry.graph(ALICE, { did, depth: 2 });
    assert.equal([whole.nodes.length, whole.truncated], [DOMAIN_LIMITS.graphNodes, false]);
    assert.is(whole.edges.filter(({ to }) => to === shared.id).length, 2);
    await merge(did, { linkedEntity: [...linkedEntity, { ...shared, id: 'did:x:more' }] });
    const cut = await registry.graph(ALICE, { did, depth: 2 });
    assert.equal([cut.nodes.length, cut.truncated], [DOMAIN_LIMITS.graphNodes, true]);
  },
};

/** Runs the suite, or the promises with these sentences. */
export function registryPromises(name: string, open: OpenDocuments, sentences = Object.keys(PROMISES)): void {
  const test = suite(`registry of twins on ${name}`);
  for (const sentence of sentences) {
    const keep = PROMISES[sentence]!;
    test(sentence, () => withBenches(open, keep));
  }
  test.run();
}
