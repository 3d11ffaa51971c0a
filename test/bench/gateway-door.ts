// Requests to the built query gateway, beside the shortest gateways that the libraries allow and a server that only says
// hello: CPU time of the gateway's process per request, at three sizes.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromJson, toBinary } from '@bufbuild/protobuf';
import { createJsonWriters, readDescriptorSet } from '../../lib/gateway/index.ts';
import { compileProtos } from '../support/protoc.ts';
import { DID, entity, PROTO } from './entity.ts';
import { median, type Row, us } from './measure.ts';
import { requests } from './requests.ts';
import { cpuUs, start, stop, type Target } from './target.ts';

const ROOT = process.cwd();
const SCALES = [0.5, 1, 1.9];
// A server in service is warm, however busy the machine is: rounds are so many requests, not so long.
const WARM_UP = 6;
const ROUNDS = 5;
const CONNECTIONS = 32;
const REQUESTS = 3_200;

export async function gatewayDoorRows(): Promise<Row[]> {
  const set = compileProtos({ 'bench.proto': PROTO });
  const rows: Row[] = [];
  for (const scale of SCALES) rows.push(...(await rowsOf(set, scale)));
  return rows;
}

async function rowsOf(set: Uint8Array, scale: number): Promise<Row[]> {
  const { registry } = readDescriptorSet(set);
  const type = registry.getMessage('bench.Answer')!;
  const reply = toBinary(type, fromJson(type, entity(scale)));
  const size = createJsonWriters({ registry, form: 'cosmos' }).findWriter(type)(reply).length;
  const folder = mkdtempSync(join(tmpdir(), 'twinline-bench-'));
  const targets: Target[] = [];
  const started = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const target = await start(args, env);
    targets.push(target);
    return target;
  };
  try {
    writeFileSync(join(folder, 'set.binpb'), set);
    writeFileSync(join(folder, 'reply'), reply);
    const node = await started([join(ROOT, 'test/bench/grpc-floor.mjs'), join(folder, 'reply')]);
    const upstream = `127.0.0.1:${node.port}`;
    const floor = (mode: string, where: string) =>
      started([join(ROOT, 'test/bench/gateway-floor.mjs'), mode, where, join(folder, 'set.binpb')]);
    const ours = (name: string, settings: object) => {
      const file = join(folder, `${name}.json`);
      writeFileSync(file, JSON.stringify({ upstream, descriptors: 'set.binpb', ...settings }));
      const quiet = { PORT: '0', DATA_DIR: ':memory:', RATE_LIMIT_MAX: '1000000000', LOG_LEVEL: 'warn' };
      return started([join(ROOT, 'dist/server/main.js')], { ...quiet, GATEWAY_FILE: file });
    };
    const measured = await cpuPerRequest([
      await floor('hello', String(size)),
      await floor('es', upstream),
      await floor('loader', upstream),
      await ours('http2', { channel: 'http2' }),
      await ours('grpc-js', { channel: 'grpc-js' }),
      { ...(await ours('cached', { cache: { ttlMs: 3_600_000, maxBytes: 1_000_000 } })), repeats: true },
    ]);
    const [hello, es, loader, http2, grpcJs, cached] = measured;
    const kb = `${(size / 1_000).toFixed(1)} kB`;
    const row = (what: string, own: number, other: number, atLeast?: number): Row => ({
      what: `${kb}: ${what}`,
      measured: `${us(own)} · ${us(other)}`,
      ratio: other / own,
      target: atLeast === undefined ? undefined : { atLeast },
    });
    return [
      row('query gateway on http2 against grpc-js + @bufbuild/protobuf toJson', http2!, es!, 1.9),
      row('query gateway on http2 against grpc-js + proto-loader', http2!, loader!),
      row('query gateway on grpc-js (the default) against grpc-js + @bufbuild/protobuf toJson', grpcJs!, es!),
      row('query gateway on http2, each id once, against node:http with the same body', http2!, hello!, 0.25),
      row('query gateway on grpc-js, each id once, against node:http with the same body', grpcJs!, hello!),
      row('answer from the cache against a hello of the same size on node:http', cached!, hello!),
    ];
  } finally {
    await Promise.all(targets.map(stop));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With `repeats`, a few entities are asked for again and again; else none twice. */
type Asked = Target & { readonly repeats?: boolean };

async function cpuPerRequest(targets: readonly Asked[]): Promise<number[]> {
  const samples = targets.map((): number[] => []);
  let asked = 0;
  for (let round = 0; round < WARM_UP + ROUNDS; round++)
    for (const [at, target] of targets.entries()) {
      const before = cpuUs(target);
      const text = (at: number) =>
        `GET /bench/entity/${DID}-${target.repeats ? at % CONNECTIONS : asked++} HTTP/1.1\r\nHost: 127.0.0.1\r\n`;
      await requests(target.port, { connections: CONNECTIONS, count: REQUESTS, text });
      if (round >= WARM_UP) samples[at]!.push((cpuUs(target) - before) / REQUESTS);
    }
  return samples.map(median);
}
