// A unary call to the node with 5.8 kB of reply: our channel on HTTP/2 and grpc-js, against HTTP/2 with nothing around it.

import { connect } from 'node:http2';
import type { Channel } from '../../lib/gateway/channel/channel.ts';
import { grpcChannel } from '../../lib/gateway/channel/grpc-channel.ts';
import { http2Channel } from '../../lib/gateway/channel/http2-channel.ts';
import { atOnce, type Case, measure, type Row, us } from './measure.ts';
import { start, stop } from './target.ts';

const REPLY_BYTES = 5_800;
const REQUEST = Buffer.alloc(40, 'x');
const PATH = '/ixo.entity.v1beta1.Query/Entity';
const DEADLINE_MS = 10_000;
const SERVER = 'test/bench/grpc-floor.mjs';

export async function grpcRows(): Promise<Row[]> {
  const node = await start([SERVER, String(REPLY_BYTES)]);
  const upstream = `127.0.0.1:${node.port}`;
  const ours = http2Channel({ upstream });
  const theirs = grpcChannel({ upstream });
  const raw = rawHttp2(upstream);
  try {
    const cases = [channelCase('http2 channel', ours), channelCase('grpc-js channel', theirs), raw];
    const [channel, grpcJs, floor] = await measure(cases, { count: 4_000, rounds: 11 });
    return [
      {
        what: 'unary call, 5.8 kB reply, 32 at once: our HTTP/2 channel against grpc-js',
        measured: `${us(channel!.cpuUs)} · ${us(grpcJs!.cpuUs)}`,
        ratio: grpcJs!.cpuUs / channel!.cpuUs,
        target: { atLeast: 4 },
      },
      {
        what: 'the same against node:http2 without deadline, metadata, statuses, limits',
        measured: `${us(channel!.cpuUs)} · ${us(floor!.cpuUs)}`,
        ratio: channel!.cpuUs / floor!.cpuUs,
        target: { atMost: 0.5 },
      },
    ];
  } finally {
    raw.close();
    await Promise.all([ours.close(), theirs.close()]);
    await stop(node);
  }
}

function channelCase(name: string, channel: Channel): Case {
  const one = async () => {
    const { status, bytes } = await channel.unary({ path: PATH, request: REQUEST, deadlineMs: DEADLINE_MS });
    if (status.code !== 0 || bytes.length !== REPLY_BYTES) throw new Error(`${name}: ${JSON.stringify(status)}`);
  };
  return { name, run: (count) => atOnce(count, one) };
}

function rawHttp2(upstream: string): Case & { close(): void } {
  const session = connect(`http://${upstream}`);
  const headers = { ':method': 'POST', ':path': PATH, te: 'trailers', 'content-type': 'application/grpc' };
  const body = Buffer.concat([Buffer.from([0, 0, 0, 0, REQUEST.length]), REQUEST]);
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const stream = session.request(headers);
      let bytes = 0;
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      stream.on('end', () => (bytes === REPLY_BYTES + 5 ? resolve() : reject(new Error(`${bytes} bytes`))));
      stream.end(body);
    });
  return { name: 'node:http2', run: (count) => atOnce(count, one), close: () => session.destroy() };
}
