// Descriptors: from a file and from reflection, in any order, and what is said when some are missing.

import { clearField, create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  DescriptorProtoSchema,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type * as narrow from '../../lib/gateway/descriptors/protobuf.ts';
import { createRouteTable, readDescriptorFiles, readDescriptorSet } from '../../lib/gateway/index.ts';
import { compileKept, compileProtos } from '../support/protoc.ts';
import { refusal as refusalWith } from './refusal.ts';

const test = suite('gateway descriptors');
const refusal = (work: () => unknown) => refusalWith(work, 'ERR_CONFIG');

const set = compileKept('demo/library.proto');
const files = fromBinary(FileDescriptorSetSchema, set).file;
const packed = (list: readonly FileDescriptorProto[]) => list.map((file) => toBinary(FileDescriptorProtoSchema, file));

const rpcs = (descriptors: Parameters<typeof createRouteTable>[0]) =>
  createRouteTable(descriptors).routes.map(({ rpc }) => rpc);

test('single files in any order and repeated, as reflection gives them, make the same routes as the set', () => {
  const shuffled = packed([...files, ...files].reverse());
  assert.equal(rpcs(readDescriptorFiles(shuffled)).sort(), rpcs(readDescriptorSet(set)).sort());
});

test('well-known files need not be there, and files that only bring options neither', () => {
  const own = files.filter(({ name }) => name.startsWith('demo/'));
  assert.is(own.length, 2);
  assert.equal(rpcs(readDescriptorFiles(packed(own))), rpcs(readDescriptorSet(set)));
});

test('a type of a missing file is refused: by file, with the type and the import', () => {
  const error = refusal(() => readDescriptorFiles(packed(files.filter(({ name }) => name === 'demo/library.proto'))));
  assert.equal(error.details, [
    {
      field: 'demo/library.proto',
      error: 'it needs demo.Everything, but the imports google/api/annotations.proto, demo/query.proto are missing',
    },
  ]);
  assert.match(error.message, /demo\/library\.proto: it needs demo\.Everything/);
});

test('a file that cannot be used is left out with what needs it, and the rest is served', () => {
  const rule = (path: string) => `{ option (google.api.http).get = "${path}"; }`;
  const text = (name: string, more: string) =>
    `syntax = "proto3"; package ${name}; import "google/api/annotations.proto"; ${more}`;
  const given = compileProtos({
    'gone.proto': 'syntax = "proto3"; package gone; message Gone {}',
    'odd.proto': text('odd', 'import "gone.proto"; message Odd { gone.Gone gone = 1; }'),
    'needs.proto': text(
      'needs',
      `import "odd.proto"; message M { odd.Odd odd = 1; } service S { rpc R(M) returns (M) ${rule('/needs')} }`,
    ),
    'fine.proto': text('fine', `message M {} service S { rpc R(M) returns (M) ${rule('/fine')} }`),
  });
  const kept = fromBinary(FileDescriptorSetSchema, given).file.filter(({ name }) => name !== 'gone.proto');
  const whole = readDescriptorFiles(packed(kept));
  assert.equal(rpcs(whole), ['fine.S/R']);
  assert.equal(
    whole.left.map(({ field }) => field),
    ['odd.proto', 'needs.proto'],
  );
  assert.match(whole.left[0]!.error, /it needs gone\.Gone/);
  const future = create(FileDescriptorProtoSchema, { name: 'a.proto', syntax: 'editions', edition: 99_999 as never });
  const beside = readDescriptorFiles(packed([future, ...files]));
  assert.equal(rpcs(beside), rpcs(readDescriptorSet(set)));
  assert.equal(
    beside.left.map(({ field }) => field),
    ['a.proto'],
  );
});

test('names of types without the dot before are looked for from the innermost scope outwards', () => {
  const given = compileProtos({
    'p/a.proto': `syntax = "proto3"; package p.q; import "google/api/annotations.proto";
      message M { string id = 1; M m = 2; N n = 3; E e = 4; message N { string inner = 1; } .p.q.O o = 5; }
      message N { string outer = 1; } enum E { Z = 0; } message O {}
      service S { rpc R(M) returns (N) { option (google.api.http).get = "/x/{id}"; } }`,
  });
  const bare = fromBinary(FileDescriptorSetSchema, given).file;
  const file = bare.find(({ name }) => name === 'p/a.proto')!;
  const [m] = file.messageType;
  for (const field of m!.field) {
    if (field.typeName) clearField(field, FieldDescriptorProtoSchema.field.type);
    field.typeName = field.typeName.replace('.p.q.M.N', 'N').replace('.p.q.O', 'q.O').replace('.p.q.', '');
  }
  Object.assign(file.service[0]!.method[0]!, { inputType: 'M', outputType: 'q.N' });
  const { registry, methods } = readDescriptorFiles(packed(bare));
  // What older compilers read instead of these types is true of them.
  assert.ok([registry, methods] satisfies [narrow.FileRegistry, readonly narrow.DescMethod[]]);
  const types = registry
    .getMessage('p.q.M')!
    .fields.map((field) => field.message?.typeName ?? field.enum?.typeName ?? '');
  assert.equal(types, ['', 'p.q.M', 'p.q.M.N', 'p.q.E', 'p.q.O']);
  assert.equal([methods[0]!.input.typeName, methods[0]!.output.typeName], ['p.q.M', 'p.q.N']);
});

test('a name that is nowhere is told whole, with or without the dot before', () => {
  for (const typeName of ['FileDescriptorProto', '.FileDescriptorProto']) {
    const file = create(FileDescriptorProtoSchema, { name: 'a.proto', syntax: 'proto3' });
    file.messageType = [
      create(DescriptorProtoSchema, { name: 'M', field: [{ name: 'f', number: 1, type: 11, label: 1, typeName }] }),
    ];
    assert.match(refusal(() => readDescriptorFiles(packed([file]))).message, /it needs FileDescriptorProto, but/);
  }
});

test('what is no descriptor is refused, with the way to make some', () => {
  const file = (name: string, more: object) => create(FileDescriptorProtoSchema, { name, syntax: 'proto3', ...more });
  const circle = [file('a.proto', { dependency: ['b.proto'] }), file('b.proto', { dependency: ['a.proto'] })];
  assert.match(refusal(() => readDescriptorFiles(packed(circle))).message, /a\.proto → b\.proto → a\.proto/);
  const future = file('a.proto', { syntax: 'editions', edition: 99_999 });
  refusal(() => readDescriptorFiles(packed([future])));
  const error = refusal(() => readDescriptorSet(Buffer.from('hello, this is text'), 'node.binpb'));
  assert.match(error.message, /^node\.binpb is not a FileDescriptorSet.*--include_imports --descriptor_set_out/);
});

test('an http option in parts is one option, and one that is broken is told with its method', () => {
  const service = `syntax = "proto3"; import "google/api/annotations.proto"; message M { string id = 1; }
    service S { rpc R(M) returns (M) { option (google.api.http).post = "/x/{id}"; option (google.api.http).body = "*"; } }`;
  const given = compileProtos({ 's.proto': service });
  assert.equal(
    createRouteTable(readDescriptorSet(given)).routes.map(({ method, template, body }) => ({ method, template, body })),
    [{ method: 'POST', template: '/x/{id}', body: '*' }],
  );
  const parted = fromBinary(FileDescriptorSetSchema, given);
  const options = parted.file.at(-1)!.service[0]!.method[0]!.options!;
  const whole = options.$unknown![0]!;
  const part = (hex: string) => ({ ...whole, data: Buffer.from(hex, 'hex') });
  // `post: "/y/{id}"` and `body: "*"`, each with its length before.
  options.$unknown = [part('0922072f792f7b69647d'), part('033a012a')];
  const [route] = createRouteTable(readDescriptorSet(toBinary(FileDescriptorSetSchema, parted))).routes;
  assert.equal([route?.method, route?.template, route?.body], ['POST', '/y/{id}', '*']);
  const broken = fromBinary(FileDescriptorSetSchema, given);
  broken.file.at(-1)!.service[0]!.method[0]!.options!.$unknown = [
    { no: 72_295_728, wireType: 2, data: Buffer.from('0212ff', 'hex') },
  ];
  const bytes = toBinary(FileDescriptorSetSchema, broken);
  assert.is(refusal(() => createRouteTable(readDescriptorSet(bytes))).details[0]?.field, 'S/R');
});

test('names in JSON that a tool left away are those that protoc gives', () => {
  const bare = fromBinary(FileDescriptorSetSchema, set).file;
  for (const file of bare)
    for (const message of file.messageType) for (const field of message.field) field.jsonName = '';
  const { registry } = readDescriptorFiles(packed(bare));
  assert.is(registry.getMessage('demo.Inner')!.fields[2]!.jsonName, 'countTotal');
});

test.run();
