// A channel on our own HTTP/2 client (lib/gateway/http2): a call costs less than a tenth of the CPU of grpc-js.

import { requireGiven } from '../../given.ts';
import { openHttp2 } from '../http2/open.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import {
  CHANNEL_STATUS,
  type Channel,
  type ChannelOptions,
  checkCall,
  checkUpstream,
  GRPC,
  makeFailedAnswer,
  type RpcAnswer,
} from './channel.ts';
import { ByteBudget, makeEndedStream, messageStream, type Sink } from './message-stream.ts';
import type { Metadata } from './metadata.ts';

const NOTHING = Buffer.alloc(0);
const NONE: Metadata = [];

/**
 * Opens a channel to one node; returns immediately. It announces no compression. Uses one connection at a time, and resolves
 * the name again for each. Throws ERR_CONFIG for an invalid address.
 * @example
 * const channel = http2Channel({ upstream: '127.0.0.1:1', deadlineMs: 200 });
 * const { status } = await channel.unary({ path: '/demo.Library/Get', request: new Uint8Array() });
 * status.code; // → 14
 * await channel.close();
 */
export function http2Channel(options: ChannelOptions): Channel {
  requireGiven('make a channel to a node', options, { upstream: 'text' });
  const {
    upstream,
    deadlineMs = GATEWAY_LIMITS.grpcDeadlineMs,
    answerBytes = GATEWAY_LIMITS.grpcAnswerBytes,
  } = options;
  const { heldBytes = GATEWAY_LIMITS.grpcHeldBytes } = options;
  checkUpstream(upstream);
  const budget = new ByteBudget(heldBytes);
  const client = openHttp2({ ...options, deadlineMs, answerBytes, budget });

  return {
    name: upstream,
    unary: (call) => {
      const refusal = checkCall(call);
      if (refusal) return Promise.resolve(makeFailedAnswer(refusal));
      return new Promise((resolve) => {
        const source = client.startCall(
          call,
          collectMessage(resolve, () => source.cancel()),
        );
      });
    },
    stream: (call) => {
      const refusal = checkCall(call);
      return refusal ? makeEndedStream(refusal) : messageStream((sink) => client.startCall(call, sink), budget);
    },
    health: client.health,
    ready: (ms) => waitUntilReady(client.connect, { ms, isReady: () => client.health().state === 'ready' }),
    close: client.close,
  };
}

/** Collects the single message of a unary call. */
function collectMessage(resolve: (answer: RpcAnswer) => void, cancel: () => void): Sink {
  let headers = NONE;
  let bytes: Buffer | undefined;
  let isMany = false;
  return {
    headers: (metadata) => {
      headers = metadata;
    },
    message: (message) => {
      if (bytes) {
        isMany = true;
        cancel();
      }
      bytes = message;
    },
    end: ({ status, trailers }) => {
      const how = isMany
        ? CHANNEL_STATUS.messages
        : status.code === GRPC.ok && !bytes
          ? CHANNEL_STATUS.noMessage
          : status;
      resolve({ status: how, bytes: how.code === GRPC.ok ? bytes! : NOTHING, headers, trailers });
    },
  };
}

async function waitUntilReady(
  open: () => Promise<unknown>,
  { ms, isReady }: { readonly ms: number; readonly isReady: () => boolean },
): Promise<boolean> {
  if (isReady()) return true;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([open(), late]);
  clearTimeout(timer);
  return isReady();
}
