// Replies of the query gateway as JSON, and requests as messages: own code against the library, in one run.

import { create, type DescMessage, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import { createJsonWriters, createRouteTable, type JsonForm, readDescriptorSet } from '../../lib/gateway/index.ts';
import { compileProtos } from '../support/protoc.ts';
import { DID, entity, PROTO } from './entity.ts';
import { measure, type Row, us } from './measure.ts';

export async function gatewayRows(): Promise<Row[]> {
  const descriptors = readDescriptorSet(compileProtos({ 'bench.proto': PROTO }));
  return [...(await replyRows(descriptors)), ...(await requestRows(descriptors))];
}

type Descriptors = ReturnType<typeof readDescriptorSet>;

const SCALES = [0.5, 1, 1.9];

async function replyRows(descriptors: Descriptors): Promise<Row[]> {
  const rows: Row[] = [];
  for (const scale of SCALES) rows.push(...(await rowsOf(descriptors, scale)));
  return rows;
}

async function rowsOf({ registry }: Descriptors, scale: number): Promise<Row[]> {
  const type = registry.getMessage('bench.Answer')!;
  const bytes = toBinary(type, fromJson(type, entity(scale)));
  const ours = (form: JsonForm) => {
    const write = createJsonWriters({ registry, form }).findWriter(type);
    return { name: form, bytes: write(bytes).length, run: (count: number) => repeat(count, () => write(bytes)) };
  };
  const cases = [ours('cosmos'), ours('proto3'), library({ type, bytes })];
  const [cosmos, proto3, theirs] = await measure(cases, { count: 1_000, rounds: 11 });
  const row = (what: string, measured: number): Row => ({
    what,
    measured: `${us(measured)} · ${us(theirs!.cpuUs)}`,
    ratio: theirs!.cpuUs / measured,
    target: { atLeast: 3 },
  });
  return [
    row(
      `reply of ${bytes.length} bytes to ${cases[0]!.bytes} bytes of JSON, Cosmos form, against @bufbuild/protobuf in the proto3 form`,
      cosmos!.cpuUs,
    ),
    row(`the same in the proto3 form, ${cases[1]!.bytes} bytes of JSON`, proto3!.cpuUs),
  ];
}

function library({ type, bytes }: { type: DescMessage; bytes: Uint8Array }) {
  const run = (count: number) =>
    repeat(count, () => Buffer.from(JSON.stringify(toJson(type, fromBinary(type, bytes)))));
  return { name: 'library', bytes: 0, run };
}

async function requestRows(descriptors: Descriptors): Promise<Row[]> {
  const table = createRouteTable(descriptors);
  const type = descriptors.registry.getMessage('bench.Get')!;
  const path = `/bench/entity/${DID}`;
  const query = 'pagination.limit=50&pagination.count_total=true';
  const ours = (count: number) =>
    repeat(count, () => {
      const match = table.match('GET', path);
      if (match.kind === 'found') match.route.bind({ values: match.values, query });
    });
  const floor = (count: number) =>
    repeat(count, () => {
      const pagination = create(descriptors.registry.getMessage('bench.Page')!, {
        limit: 50n,
        countTotal: true,
      } as never);
      toBinary(type, create(type, { id: DID, pagination } as never));
    });
  const [bound, encoded] = await measure(
    [
      { name: 'match and bind', run: ours },
      { name: 'encode', run: floor },
    ],
    { count: 10_000, rounds: 15 },
  );
  return [
    {
      what: 'request with one variable and two parameters: matched, parsed, encoded; against @bufbuild/protobuf that only encodes it',
      measured: `${us(bound!.cpuUs)} · ${us(encoded!.cpuUs)}`,
      ratio: bound!.cpuUs / encoded!.cpuUs,
      target: undefined,
    },
  ];
}

function repeat(count: number, work: () => unknown): void {
  for (let left = count; left > 0; left--) work();
}
