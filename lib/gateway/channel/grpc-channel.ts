// A channel on grpc-js, the default: resolves names, balances over their addresses, and decompresses replies.

import type { StatusObject } from '@grpc/grpc-js';
import { type CallOptions, Client, connectivityState, credentials, Metadata as Headers, status } from '@grpc/grpc-js';
import { GATEWAY_LIMITS } from '../limits.ts';
import {
  answerTooLarge,
  CHANNEL_STATUS,
  type Channel,
  type ChannelHealth,
  type ChannelOptions,
  channelStatus,
  checkCall,
  checkUpstream,
  isGrpc,
  makeFailedAnswer,
  type RpcAnswer,
  type RpcCall,
  type Status,
  type StreamCall,
} from './channel.ts';
import { ByteBudget, type CallSource, makeEndedStream, messageStream, type Sink } from './message-stream.ts';
import type { Metadata } from './metadata.ts';

const NOTHING = Buffer.alloc(0);
const NONE: Metadata = [];
const same = (bytes: Buffer): Buffer => bytes;

/** Opens a channel to one node; returns immediately. Throws ERR_CONFIG for an invalid address. */
export function grpcChannel(options: ChannelOptions): Channel {
  const {
    upstream,
    deadlineMs = GATEWAY_LIMITS.grpcDeadlineMs,
    answerBytes = GATEWAY_LIMITS.grpcAnswerBytes,
  } = options;
  const budget = new ByteBudget(options.heldBytes ?? GATEWAY_LIMITS.grpcHeldBytes);
  checkUpstream(upstream);
  const client = new Client(upstream, createCredentials(options), channelOptions(options));
  const running = new Set<() => void>();
  let closing: Promise<void> | undefined;
  let idle: (() => void) | undefined;
  let trouble: string | undefined;

  /** Registers a running call; the returned function ends it and translates its status. */
  function begin(call: RpcCall | StreamCall, cancel: () => void): (object: StatusObject, isForeign: boolean) => Status {
    const abort = () => cancel();
    call.signal?.addEventListener('abort', abort, { once: true });
    running.add(abort);
    return (object, isForeign) => {
      call.signal?.removeEventListener('abort', abort);
      running.delete(abort);
      if (!running.size) idle?.();
      if (object.code === status.UNAVAILABLE) trouble = object.details;
      return isForeign && MISREAD.test(object.details) ? CHANNEL_STATUS.foreign : translateStatus(object, answerBytes);
    };
  }

  async function unary(call: RpcCall): Promise<RpcAnswer> {
    const beganAt = performance.now();
    const answer = await tryUnary(call);
    // REFUSED_STREAM in HTTP/2: the node has not processed the request, so it may be sent again.
    if (answer.status !== CHANNEL_STATUS.refused) return answer;
    const left = (call.deadlineMs ?? deadlineMs) - (performance.now() - beganAt);
    return left > 0 && !call.signal?.aborted ? tryUnary({ ...call, deadlineMs: left }) : answer;
  }

  function tryUnary(call: RpcCall): Promise<RpcAnswer> {
    return new Promise((resolve) => {
      let headers = NONE;
      let bytes: Buffer = NOTHING;
      let isForeign = false;
      const settle = begin(call, () => made.cancel());
      const made = client.makeUnaryRequest(
        call.path,
        same,
        same,
        toBuffer(call.request),
        encodeMetadata(call),
        callOptions(call, deadlineMs),
        // Use `error`: for a reply without a message, the channel's `status` is OK.
        (error, message) => {
          if (message) bytes = message;
          const outcome = error ?? { code: status.OK, details: '', metadata: new Headers() };
          made.once('status', ({ metadata }: StatusObject) =>
            resolve({ status: settle(outcome, isForeign), bytes, headers, trailers: decodeMetadata(metadata) }),
          );
        },
      );
      made.on('metadata', (metadata: Headers) => {
        headers = decodeMetadata(metadata);
        isForeign = readForeign(metadata);
      });
    });
  }

  function stream(call: StreamCall, sink: Sink): CallSource {
    const settle = begin(call, () => made.cancel());
    const made = client.makeBidiStreamRequest(
      call.path,
      same,
      same,
      encodeMetadata(call),
      callOptions(call, deadlineMs),
    );
    let finish: (() => void) | undefined;
    let isCancelled = false;
    let isForeign = false;
    made.on('metadata', (metadata: Headers) => {
      isForeign = readForeign(metadata);
      sink.headers(decodeMetadata(metadata));
    });
    made.on('data', sink.message);
    // The `status` event reports the same.
    made.on('error', () => {});
    made.on('status', (object: StatusObject) => {
      const ending = { status: settle(object, isForeign), trailers: decodeMetadata(object.metadata) };
      finish = () => sink.end(ending);
      // With a slow reader, messages wait in the stream and the status arrives before them. Without a reader, 'end' never
      // comes.
      if (made.readableLength && !isCancelled) made.once('end', finish);
      else finish();
    });
    for (const request of call.requests) made.write(toBuffer(request));
    made.end();
    return {
      pause: () => made.pause(),
      resume: () => made.resume(),
      cancel: () => {
        isCancelled = true;
        if (finish) finish();
        else made.cancel();
      },
    };
  }

  async function close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    if (running.size)
      await new Promise<void>((resolve) => {
        idle = resolve;
        timer = setTimeout(resolve, GATEWAY_LIMITS.grpcCloseMs);
      });
    clearTimeout(timer);
    for (const cancel of running) cancel();
    client.close();
  }

  const findRefusal = (call: RpcCall | StreamCall) => (closing ? CHANNEL_STATUS.closed : checkCall(call));
  return {
    name: upstream,
    unary: (call) => {
      const why = findRefusal(call);
      return why ? Promise.resolve(makeFailedAnswer(why)) : unary(call);
    },
    stream: (call) => {
      const why = findRefusal(call);
      return why ? makeEndedStream(why) : messageStream((sink) => stream(call, sink), budget);
    },
    health: () => ({
      state: closing ? 'closed' : STATES[client.getChannel().getConnectivityState(false)],
      ...(trouble !== undefined && { trouble }),
    }),
    ready: (ms) =>
      new Promise((resolve) =>
        closing ? resolve(false) : client.waitForReady(Date.now() + ms, (error) => resolve(!error)),
      ),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

const STATES: Readonly<Record<connectivityState, ChannelHealth['state']>> = {
  [connectivityState.IDLE]: 'idle',
  [connectivityState.CONNECTING]: 'connecting',
  [connectivityState.READY]: 'ready',
  [connectivityState.TRANSIENT_FAILURE]: 'failing',
  [connectivityState.SHUTDOWN]: 'closed',
};

function createCredentials({ tls = false }: ChannelOptions) {
  if (!tls) return credentials.createInsecure();
  return credentials.createSsl(tls === true ? null : Buffer.from(tls.ca));
}

// Ignore environment and DNS settings (proxies, service configs), and disable grpc-js's own retries.
function channelOptions(options: ChannelOptions) {
  const { answerBytes = GATEWAY_LIMITS.grpcAnswerBytes, pingMs = GATEWAY_LIMITS.grpcPingMs } = options;
  const { backoffMs = GATEWAY_LIMITS.grpcBackoffMs, backoffMaxMs = GATEWAY_LIMITS.grpcBackoffMaxMs } = options;
  return {
    'grpc.max_receive_message_length': answerBytes,
    'grpc.initial_reconnect_backoff_ms': backoffMs,
    'grpc.max_reconnect_backoff_ms': backoffMaxMs,
    'grpc.keepalive_time_ms': GATEWAY_LIMITS.grpcPingPauseMs,
    'grpc.keepalive_timeout_ms': pingMs,
    'grpc.enable_http_proxy': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
    'grpc-node.flow_control_window': GATEWAY_LIMITS.grpcWindowBytes,
  };
}

function callOptions({ deadlineMs }: RpcCall | StreamCall, usualMs: number): CallOptions {
  return { deadline: Date.now() + (deadlineMs ?? usualMs) };
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function encodeMetadata({ metadata = NONE }: RpcCall | StreamCall): Headers {
  const headers = new Headers();
  for (const [name, value] of metadata) headers.add(name, value);
  return headers;
}

function decodeMetadata(headers: Headers): Metadata {
  return Object.keys(headers.getMap())
    .filter((name) => !/^(content-type|grpc-(?!status-details-bin).*)$/.test(name))
    .flatMap((name) => headers.get(name).map((value) => [name, value] as const));
}

// grpc-js does not distinguish its own statuses from the node's. Its texts contain addresses, and two of its codes mislead.
const OWN: readonly (readonly [code: number, text: RegExp, meaning: Status])[] = [
  [status.CANCELLED, /^(Cancelled on client|Call cancelled)$/, CHANNEL_STATUS.cancelled],
  [status.DEADLINE_EXCEEDED, /^Deadline exceeded after /, CHANNEL_STATUS.late],
  [status.UNIMPLEMENTED, /^No message received$/, CHANNEL_STATUS.noMessage],
  [status.UNIMPLEMENTED, /^Too many responses received$/, CHANNEL_STATUS.messages],
  [status.UNKNOWN, /^Received HTTP status code 200$/, CHANNEL_STATUS.noStatus],
  [status.INTERNAL, /Call ended without gRPC status/, CHANNEL_STATUS.unfinished],
  [status.UNAVAILABLE, /^(Connection dropped|read E|write E)/, CHANNEL_STATUS.lost],
  [status.UNAVAILABLE, /^(No connection established|Name resolution failed)/, CHANNEL_STATUS.unreachable],
  [status.UNAVAILABLE, /^Stream refused by server$/, CHANNEL_STATUS.refused],
  [status.INTERNAL, /triggered by internal client error: Session closed/, CHANNEL_STATUS.lost],
  [status.INTERNAL, /^Received RST_STREAM with code/, channelStatus(status.INTERNAL, 'The node reset the call.')],
  [status.RESOURCE_EXHAUSTED, /^Bandwidth exhausted or memory limit/, CHANNEL_STATUS.limitExceeded],
];

const readForeign = (headers: Headers): boolean => !isGrpc(String(headers.get('content-type')));

// What grpc-js says of a page with the HTTP status 200: it reads its first bytes as the length of a message.
const MISREAD = /^(Received message larger|Received HTTP status code 200|No message received|.*without gRPC status)|^$/;

function translateStatus(object: StatusObject, answerBytes: number): Status {
  // Both are absent when a reply cannot be decompressed.
  const { code = status.INTERNAL, details = "The node's reply cannot be decompressed." } =
    object as Partial<StatusObject>;
  const own = OWN.find(([its, text]) => its === code && text.test(details));
  if (own) return own[2];
  const http = /^Received HTTP status code (\d{3})$/.exec(details)?.[1];
  if (http) return channelStatus(code, `The node answered with HTTP status ${http}.`);
  if (code === status.RESOURCE_EXHAUSTED && /^Received message (larger|that decompresses)/.test(details))
    return answerTooLarge(answerBytes);
  return { code, message: details.slice(0, GATEWAY_LIMITS.grpcMessageChars), from: 'node' };
}
