// Kept-alive HTTP/1.1 connections for a load: bytes that are made before, one request at a time, and of the answer its status.

import { connect, type Socket } from 'node:net';

/** A request as it goes over the wire. */
export type RequestBytes = string;

/** What came: a status and whether the wait before another try was named; 0 when the connection ended first. */
export interface Came {
  readonly status: number;
  readonly retryAfter: boolean;
  /** Whether the body begins as that of a refusal at USSD doors, which comes with status 200. */
  readonly refusedInWords: boolean;
}

export interface Wire {
  /** Sends one request; may only be called while no other waits. */
  send(request: RequestBytes, onAnswer: (came: Came) => void): void;
  readonly isOpen: boolean;
  destroy(): void;
}

const CUT: Came = { status: 0, retryAfter: false, refusedInWords: false };
const PER_ADDRESS = 900;

let opened = 0;

/** A loopback address for the next connection: one address may have only so many. */
export const nextAddress = () => `127.0.${1 + Math.floor(opened++ / PER_ADDRESS)}.1`;

/** The bytes of a request with these headers. */
export function requestBytes(line: string, headers: Readonly<Record<string, string>> = {}, body?: string) {
  const given: Record<string, string> = { host: '127.0.0.1', ...headers };
  if (body !== undefined) given['content-length'] = String(Buffer.byteLength(body));
  const lines = Object.entries(given).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

/** Connects; `onReady` is called whenever a request can be sent, also after the server has closed and it has connected again. */
export function openWire(port: number, onReady: (wire: Wire) => void): Wire {
  let socket: Socket;
  let waits: ((came: Came) => void) | undefined;
  let isOpen = false;
  let isOver = false;
  let got = '';

  const finish = (came: Came) => {
    const tell = waits;
    waits = undefined;
    got = '';
    tell?.(came);
  };
  const onData = (chunk: Buffer) => {
    if (!waits) return;
    got += chunk.toString('latin1');
    const head = got.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = /content-length: (\d+)/i.exec(got);
    if (!length) throw new Error(`an answer without a length: ${got.slice(0, head)}`);
    if (got.length < head + 4 + Number(length[1])) return;
    const isLast = /\r\nconnection: close/i.test(got.slice(0, head));
    const came = {
      status: Number(got.slice(9, 12)),
      retryAfter: /\r\nretry-after: /i.test(got.slice(0, head + 2)),
      refusedInWords: got.startsWith('END Service', head + 4),
    };
    if (isLast) isOpen = false;
    finish(came);
    if (isLast) socket.destroy();
    else onReady(wire);
  };
  const open = () => {
    socket = connect({ port, host: '127.0.0.1', localAddress: address });
    socket.setNoDelay(true);
    socket.on('connect', () => {
      isOpen = true;
      onReady(wire);
    });
    socket.on('data', onData);
    socket.on('error', () => {});
    socket.on('close', () => {
      isOpen = false;
      finish(CUT);
      if (!isOver) setTimeout(() => isOver || open(), AGAIN_MS);
    });
  };
  const wire: Wire = {
    get isOpen() {
      return isOpen;
    },
    send: (request, onAnswer) => {
      waits = onAnswer;
      socket.write(request, 'latin1');
    },
    destroy: () => {
      isOver = true;
      socket.destroy();
    },
  };
  const address = nextAddress();
  open();
  return wire;
}

const AGAIN_MS = 20;
