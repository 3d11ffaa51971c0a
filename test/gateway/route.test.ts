// Paths: the grammar of templates, matching on the raw path, decoding afterwards, methods, and what is left out at the start.

import { fromBinary, toJson } from '@bufbuild/protobuf';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { TwinlineError } from '../../lib/errors.ts';
import { createRouteTable, readDescriptorSet, routeRows } from '../../lib/gateway/index.ts';
import { parseTemplate } from '../../lib/gateway/route/paths.ts';
import cases from '../fixtures/gateway/routes.json' with { type: 'json' };
import { compileKept, compileProtos } from '../support/protoc.ts';
import { cpuMs } from '../support/timed.ts';
import { refusal } from './refusal.ts';

const test = suite('gateway routes');

const library = createRouteTable(readDescriptorSet(compileKept('demo/library.proto')));

function found(method: string, path: string): string {
  const match = library.match(method, path);
  if (match.kind === 'method') return `allow ${match.allow.join(' ')}`;
  return match.kind === 'unknown'
    ? 'unknown'
    : [match.route.rpc.replace('demo.Library/', ''), ...match.values].join(' | ');
}

for (const [template, why] of cases.broken as [string, string][])
  test(`the template ${JSON.stringify(template.slice(0, 20))} is refused: ${why}`, () => {
    assert.throws(
      () => parseTemplate(template),
      (error: Error) => new RegExp(why).test(error.message),
    );
  });

for (const [rule, method, path, result] of cases.matches as [string, string, string, string][])
  test(`${rule}: ${method} ${path}`, () => {
    assert.is(found(method, path), result);
  });

for (const path of ['%zz', '%', '%2', '%ff', '%00', 'a%0Ab', 'x'.repeat(9_000)].map((id) => `/v1/books/${id}`))
  test(`a malformed value in a path is ERR_INPUT: ${path.slice(0, 20)}`, () => {
    assert.throws(
      () => library.match('GET', path),
      (error: TwinlineError) => error.code === 'ERR_INPUT' && !error.message.includes('xxxx'),
    );
  });

test('a method that takes a stream of requests is left out, and said to be; one that answers with a stream is marked', () => {
  const reason = 'it takes a stream of requests';
  assert.equal(library.left, [{ rpc: 'demo.Library/Upload', path: 'POST /v1/upload', reason }]);
  assert.equal(
    library.routes.filter(({ streaming }) => streaming).map(({ rpc }) => rpc),
    ['demo.Library/Follow'],
  );
});

test('a deep path that almost fits costs as much as it is long', () => {
  const cost = (depth: number) => {
    const path = `/v1/shelves${'/a'.repeat(depth)}`;
    const matches = () => {
      for (let left = 200; left > 0; left--) library.match('GET', path);
    };
    return Math.min(...Array.from({ length: 5 }, () => cpuMs(matches)));
  };
  const [short, long] = [cost(1_000), cost(4_000)];
  // 4 times by nature, 16 times if each segment were looked at for each.
  assert.ok(long < 10 * short, `${long} ms beside ${short} ms`);
});

const HEAD = `syntax = "proto3"; package t; import "google/api/annotations.proto";
  message A { string id = 1; repeated string ids = 2; map<string, string> m = 3; B b = 4; repeated B bs = 5; } message B { string x = 1; }
  message C { string id = 1; }`;

/** Each rule is that of a method of its own: M0, M1 and so on. */
function described(rules: readonly string[], type = 'A', head = HEAD) {
  const methods = rules.map(
    (rule, at) => `rpc M${at}(${type}) returns (B) { option (google.api.http) = { ${rule} }; }`,
  );
  return readDescriptorSet(compileProtos({ 't.proto': `${head} service S { ${methods.join('\n')} }` }));
}

// Beside a method that can be served.
function leftOut(...methods: readonly string[]): string[] {
  const table = createRouteTable(described(['get: "/served"', ...methods]));
  assert.ok(table.routes.some(({ template }) => template === '/served'));
  return table.left.map(({ rpc, path, reason }) => `${rpc} ${path}: ${reason}`);
}

const FAULTS = cases.faults as [rule: string, why: string][];
const faults = leftOut(...FAULTS.map(([rule], at) => rule.replaceAll('"/', `"/${at}/`)));

for (const [at, [rule, why]] of FAULTS.entries())
  test(`left out, with the reason: ${rule}`, () => {
    const mine = faults.filter((problem) => problem.startsWith(`t.S/M${at + 1} `));
    assert.is(mine.length, 1);
    assert.match(mine[0]!, new RegExp(why));
    assert.is(faults.length, FAULTS.length, 'and nothing else is left out');
  });

test('of two methods with one path the last one is served and the other is named; other methods may share it', () => {
  assert.equal(leftOut('get: "/x/{id}"', 'get: "/x/{b.x}"'), [
    't.S/M1 GET /x/{id}: it has the path of t.S/M2 (/x/{b.x}), which is served',
  ]);
  assert.equal(leftOut('get: "/x/{id}"', 'delete: "/x/{b.x}"'), []);
  // A broken one takes nothing away.
  assert.equal(leftOut('get: "/x/{id}"', 'get: "/x/{nope}"').length, 1);
});

test('a method that stands back leaves its path to the other one, whichever comes last', () => {
  const descriptors = described(['get: "/x"', 'get: "/x"']);
  const served = (standsBack?: (rpc: string) => boolean) =>
    createRouteTable(descriptors, standsBack ? { standsBack } : {}).routes.map(({ rpc }) => rpc);
  assert.equal(served(), ['t.S/M1']);
  assert.equal(
    served((rpc) => rpc === 't.S/M1'),
    ['t.S/M0'],
  );
  assert.equal(
    served(() => true),
    ['t.S/M1'],
  );
});

test('an additional binding that cannot be served takes none of the others away', () => {
  const rule = 'get: "/x/{nope}" additional_bindings { get: "/y/{id}" } additional_bindings { get: "/z" body: "*" }';
  assert.equal(
    leftOut(rule).map((line) => line.split(':')[0]),
    ['t.S/M1 GET /x/{nope}', 't.S/M1 GET /z'],
  );
});

test('a table of which nothing can be served is not made, and every reason is told', () => {
  const descriptors = described(['get: "/x/{nope}"', 'get: "/{"']);
  const { details, message } = refusal(() => createRouteTable(descriptors, { source: 'node.binpb' }));
  assert.equal(
    details.map(({ field }) => field),
    ['t.S/M0', 't.S/M1'],
  );
  assert.match(message, /^node\.binpb cannot be used/);
});

test('after a variable a verb may hold colons, and a value that ends alike goes to the longest verb', () => {
  const table = createRouteTable(described(['get: "/x/{id}:a:b"', 'get: "/x/{id}:b"', 'get: "/x/{id}"']));
  const reached = (path: string) => {
    const match = table.match('GET', path);
    return match.kind === 'found' ? `${match.route.rpc.slice(-2)} ${match.values}` : match.kind;
  };
  assert.is(reached('/x/did:x:1:a:b'), 'M0 did:x:1');
  assert.is(reached('/x/did:x:1:b'), 'M1 did:x:1');
  assert.is(reached('/x/did:x:1:a'), 'M2 did:x:1:a');
  assert.is(reached('/x/:a:b'), 'M1 :a');
});

test('a list in a path is parted at commas, its elements by their type', () => {
  const head = HEAD.replace(
    'message B {',
    'enum E { Z = 0; Y = 1; } message L { repeated uint64 n = 1; repeated E e = 2; repeated string s = 3; M m = 4; } message M { repeated bytes b = 1; } message B {',
  );
  const rules = ['post: "/n/{n}/s/{s}" body: "*"', 'get: "/e/{e}"', 'get: "/b/{m.b}"', 'get: "/r/{s=**}"'];
  const descriptors = described(rules, 'L', head);
  const table = createRouteTable(descriptors);
  const type = descriptors.registry.getMessage('t.L')!;
  const bound = (method: string, path: string, body?: object) => {
    const match = table.match(method, path);
    if (match.kind !== 'found') return match.kind;
    const bytes = match.route.bind({
      values: match.values,
      query: '',
      ...(body && { body: Buffer.from(JSON.stringify(body)) }),
    });
    return toJson(type, fromBinary(type, bytes));
  };
  assert.equal(bound('POST', '/n/1,2,18446744073709551615/s/a%2Cb,,%2C'), {
    n: ['1', '2', '18446744073709551615'],
    s: ['a', 'b', '', '', ''],
  });
  assert.equal(bound('POST', '/n/1/s/x', { n: ['7'], s: ['y'] }), { n: ['1'], s: ['x'] });
  assert.equal(bound('GET', '/e/Y,0'), { e: ['Y', 'Z'] });
  assert.equal(bound('GET', '/b/AP8=,AQ=='), { m: { b: ['AP8=', 'AQ=='] } });
  assert.equal(bound('GET', '/r/a/b,c'), { s: ['a/b', 'c'] });
  for (const path of ['/n/1,x/s/a', '/n//s/a'])
    assert.throws(
      () => bound('POST', path),
      (error: TwinlineError) => error.code === 'ERR_INPUT' && /parameter: n, error: /.test(error.message),
    );
});

test('the list of routes tells method, path, method of the service and parameters of the query', () => {
  const rows = routeRows(library.routes);
  const row = (path: string) => rows.find((one) => one.path === path)!;
  assert.equal(
    row('/v1/books/{id}').query.map(({ name, type }) => `${name} ${type}`),
    ['other', 'owner.id', 'owner.parent.id', 'owner.parent.parent.id', 'owner.parent.parent.parent.id'].map(
      (name) => `${name} string`,
    ),
  );
  const query = row('/v1/query/{text}').query;
  const shown = (name: string) => query.find((one) => one.name === name);
  const values = ['COLOR_NONE', 'RED', 'BLUE'];
  assert.equal(shown('color'), { name: 'color', type: 'demo.Color', repeated: false, values });
  assert.equal(shown('numbers'), { name: 'numbers', type: 'int32', repeated: true, values: [] });
  assert.is(shown('counts[key]')?.type, 'int32');
  assert.is(shown('text'), undefined);
  assert.equal(rows.find(({ rpc }) => rpc === 'demo.Library/Cancel')?.query, []);
});

test.run();
