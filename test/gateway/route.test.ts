// Paths: the grammar of templates, matching on the raw path, decoding afterwards, methods, and what is left out at the start.

import { fromBinary, toJson } from '@bufbuild/protobuf';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';
import { createRouteTable, readDescriptorSet, routeRows } from '../../lib/gateway/index.ts';
import { parseTemplate } from '../../lib/gateway/route/paths.ts';
import { compileKept, compileProtos } from '../support/protoc.ts';
import { cpuMs } from '../support/timed.ts';

const test = suite('gateway routes');

const library = createRouteTable(readDescriptorSet(compileKept('demo/library.proto')));

function found(method: string, path: string): string {
  const match = library.match(method, path);
  if (match.kind === 'method') return `allow ${match.allow.join(' ')}`;
  return match.kind === 'unknown'
    ? 'unknown'
    : [match.route.rpc.replace('demo.Library/', ''), ...match.values].join(' | ');
}

const BROKEN: readonly (readonly [string, RegExp])[] = [
  ['', /does not begin with/],
  ['v1', /does not begin with/],
  ['/', /segment is empty/],
  ['/a//b', /segment is empty/],
  ['/a/', /segment is empty/],
  ['/{a}{b}', /needs a \//],
  ['/{a', /braces do not match/],
  ['/a}', /needs a \//],
  ['/{a={b}}', /braces do not match|needs a \//],
  ['/{}', /does not begin with the name/],
  ['/{1a}', /does not begin with the name/],
  ['/{a.}', /does not begin with the name/],
  ['/{a=}', /empty segment/],
  ['/{a=b//c}', /empty segment/],
  ['/{a}/{a}', /twice/],
  ['/**/a', /not its last segment/],
  ['/{a=**}/b', /not its last segment/],
  ['/a:', /verb/],
  ['/a:b:c', /verb/],
  ['/a:b/c', /must be encoded/],
  ['/a b', /must be encoded/],
  ['/a%20b', /must be encoded/],
  ['/a***', /must be encoded|segment/],
  [`/${'a/'.repeat(64)}a`, /more than 64/],
];

for (const [template, why] of BROKEN)
  test(`the template ${JSON.stringify(template.slice(0, 20))} is refused: ${why.source}`, () => {
    assert.throws(
      () => parseTemplate(template),
      (error: Error) => why.test(error.message),
    );
  });

const MATCHES: readonly (readonly [rule: string, method: string, path: string, result: string])[] = [
  ['a literal wins over a variable, whatever their order', 'GET', '/v1/books/params', 'Params'],
  ['a variable takes one segment', 'GET', '/v1/books/abc', 'Get | abc'],
  ['names of variables belong to the route, not to the place', 'GET', '/v1/books/abc/metadata', 'Metadata | abc'],
  ['colons of a DID are no verb', 'GET', '/v1/books/did:ixo:entity:abc', 'Get | did:ixo:entity:abc'],
  ['a verb that a template has is one', 'POST', '/v1/books/did:ixo:1:cancel', 'Cancel | did:ixo:1'],
  ['a verb of another method leaves a value', 'GET', '/v1/books/x:cancel', 'Get | x:cancel'],
  ['a segment that begins with a colon has no verb', 'GET', '/v1/books/:cancel', 'Get | :cancel'],
  ['a verb alone is none', 'POST', '/v1/books/:cancel', 'allow DELETE GET HEAD SEARCH'],
  ['an encoded colon is no verb', 'POST', '/v1/books/x%3Acancel', 'allow DELETE GET HEAD SEARCH'],
  ['%2F in one segment is a slash of the value', 'GET', '/v1/books/a%2Fb', 'Get | a/b'],
  ['%2F cannot lead to another route', 'GET', '/v1/books/a%2Fmetadata', 'Get | a/metadata'],
  ['an encoded literal is not the literal', 'GET', '/v1/books/p%61rams', 'Get | params'],
  ['all escapes of one segment are decoded', 'GET', '/v1/books/%C3%B1%20%2B+', 'Get | ñ ++'],
  ['a plus is no space in a path', 'GET', '/v1/books/a+b', 'Get | a+b'],
  ['an empty segment is an empty value', 'GET', '/v1/books/', 'Get | '],
  ['a slash too many is no route', 'GET', '/v1/books/params/', 'unknown'],
  ['an empty first segment is no route', 'GET', '//v1/books', 'unknown'],
  ['a path without its slash is no route', 'GET', 'v1/books', 'unknown'],
  ['paths tell capitals apart', 'GET', '/v1/Books', 'unknown'],
  ['a variable of several segments', 'GET', '/v1/shelves/a/books/b', 'Named | shelves/a/books/b'],
  [
    '%2F stays in a variable of several segments',
    'GET',
    '/v1/shelves/a%2fb/books/%2B%2F',
    'Named | shelves/a%2fb/books/+%2F',
  ],
  ['an additional binding', 'GET', '/v2/shelves/a', 'Named | shelves/a'],
  ['** takes many segments', 'GET', '/v2/files/a/b%2Fc/d%20e', 'Named | a/b%2Fc/d e'],
  ['** takes no segment', 'GET', '/v2/files', 'Named | '],
  ['** without a name', 'GET', '/v1/all/a/b', 'Any'],
  ['* without a name', 'GET', '/v1/starred/x/last', 'Starred'],
  ['a variable that is a field inside a message', 'GET', '/v1/owners/me', 'Nested | me'],
  ['HEAD is answered by GET', 'HEAD', '/v1/books', 'List'],
  ['a method of its own', 'SEARCH', '/v1/books/abc', 'Find | abc'],
  ['any method', 'POST', '/v1/every', 'Every'],
  ['another method on a path that is there', 'PUT', '/v1/books', 'allow GET HEAD'],
  ['a literal for other methods does not hide a variable', 'DELETE', '/v1/books/params', 'Remove | params'],
  ['a method without HTTP rule has no route', 'POST', '/demo.Library/Silent', 'unknown'],
];

for (const [rule, method, path, result] of MATCHES)
  test(`${rule}: ${method} ${path}`, () => {
    assert.is(found(method, path), result);
  });

const BAD_PATHS = [
  '/v1/books/%zz',
  '/v1/books/%',
  '/v1/books/%2',
  '/v1/books/%ff',
  '/v1/books/%00',
  '/v1/books/a%0Ab',
  `/v1/books/${'x'.repeat(9_000)}`,
];

for (const path of BAD_PATHS)
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

// Each is a method of its own, beside one that can be served.
function leftOut(...methods: readonly string[]): string[] {
  const rules = ['get: "/served"', ...methods];
  const service = `service S { ${rules.map((rule, at) => `rpc M${at}(A) returns (B) { option (google.api.http) = { ${rule} }; }`).join('\n')} }`;
  const table = createRouteTable(readDescriptorSet(compileProtos({ 't.proto': `${HEAD} ${service}` })));
  assert.ok(table.routes.some(({ template }) => template === '/served'));
  return table.left.map(({ rpc, path, reason }) => `${rpc} ${path}: ${reason}`);
}

const FAULTS: readonly (readonly [string, RegExp])[] = [
  ['get: "/x/{nope}"', /nope is no field of t\.A/],
  ['get: "/x/{b.nope}"', /b\.nope is no field/],
  ['get: "/x/{id.x}"', /"id" is not a message/],
  ['get: "/x/{bs}"', /list of messages/],
  ['get: "/x/{m}"', /is a map/],
  ['get: "/x/{b}"', /unsupported message type: "t\.B"/],
  ['get: "/x/{id"', /braces/],
  ['get: "/x" body: "*"', /GET request has no body/],
  ['post: "/x" body: "nope"', /the body is the field nope/],
  ['post: "/x" body: "b.x"', /the body is the field b\.x/],
  ['post: "/x/{id}:a:" body: "*"', /verb/],
  ['get: "/x" response_body: "nope"', /response_body is the field nope/],
  ['body: "*"', /names no method and path/],
  ['get: "/x" additional_bindings { get: "/y" additional_bindings { get: "/z" } }', /additional bindings/],
];

const faults = leftOut(...FAULTS.map(([rule], at) => rule.replaceAll('"/', `"/${at}/`)));

for (const [at, [rule, why]] of FAULTS.entries())
  test(`left out, with the reason: ${rule}`, () => {
    const mine = faults.filter((problem) => problem.startsWith(`t.S/M${at + 1} `));
    assert.is(mine.length, 1);
    assert.match(mine[0]!, why);
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
  const service = `service S { ${['One', 'Two'].map((name) => `rpc ${name}(A) returns (B) { option (google.api.http).get = "/x"; }`).join('\n')} }`;
  const descriptors = readDescriptorSet(compileProtos({ 't.proto': `${HEAD} ${service}` }));
  const served = (standsBack?: (rpc: string) => boolean) =>
    createRouteTable(descriptors, standsBack ? { standsBack } : {}).routes.map(({ rpc }) => rpc);
  assert.equal(served(), ['t.S/Two']);
  assert.equal(
    served((rpc) => rpc === 't.S/Two'),
    ['t.S/One'],
  );
  assert.equal(
    served(() => true),
    ['t.S/Two'],
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
  const service = `service S { rpc One(A) returns (B) { option (google.api.http).get = "/x/{nope}"; }
    rpc Two(A) returns (B) { option (google.api.http).get = "/{"; } }`;
  const descriptors = readDescriptorSet(compileProtos({ 't.proto': `${HEAD} ${service}` }));
  try {
    createRouteTable(descriptors, { source: 'node.binpb' });
    throw new Error('it was made');
  } catch (error) {
    assert.instance(error, TwinlineError);
    assert.equal(
      (error as TwinlineError).details.map(({ field }) => field),
      ['t.S/One', 't.S/Two'],
    );
    assert.match((error as TwinlineError).message, /^node\.binpb cannot be used/);
  }
});

test('after a variable a verb may hold colons, and a value that ends alike goes to the longest verb', () => {
  const rules = ['get: "/x/{id}:a:b"', 'get: "/x/{id}:b"', 'get: "/x/{id}"'];
  const service = `service S { ${rules.map((rule, at) => `rpc M${at}(A) returns (B) { option (google.api.http) = { ${rule} }; }`).join('\n')} }`;
  const table = createRouteTable(readDescriptorSet(compileProtos({ 't.proto': `${HEAD} ${service}` })));
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
  const service = `service S { ${rules.map((rule, at) => `rpc M${at}(L) returns (B) { option (google.api.http) = { ${rule} }; }`).join('\n')} }`;
  const { registry, ...rest } = readDescriptorSet(compileProtos({ 't.proto': `${head} ${service}` }));
  const table = createRouteTable({ registry, ...rest });
  const type = registry.getMessage('t.L')!;
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
