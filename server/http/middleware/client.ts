// Who is on the other side: the address that a request counts for, through trusted proxies only.

import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { growing } from '../../../lib/common-limits.ts';

export interface Client {
  /** Canonical; an IPv4 address in IPv6 form is the IPv4 address. */
  readonly address: string;
  /** What its requests are counted under: the address, IPv6 by /64, for one customer has all of a /64. */
  readonly bucket: string;
  /** What they are counted under besides: the /48 of an IPv6 address, for some customers have all of that. */
  readonly network?: string;
  readonly loopback: boolean;
  /** In a network that is limited per phone number instead. */
  readonly exempt: boolean;
  /** In a network of trusted proxies. */
  readonly proxy: boolean;
}

export interface ClientOptions {
  /** Networks whose X-Forwarded-For is believed; empty: none. */
  readonly proxies: readonly string[];
  readonly exempt: readonly string[];
  /** Whether requests of this machine itself count. @default true */
  readonly countsLoopback?: boolean;
}

export type ReadClient = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => Client;

/** The bucket of requests that are not counted. */
export const UNCOUNTED = 'uncounted';

/** Addresses that are remembered, and characters of the longest: an IPv4 address in an IPv6 one. */
const REMEMBERED = 10_000;
const ADDRESS_CHARS = 45;
const NOBODY: Client = { address: '', bucket: 'unknown', loopback: false, exempt: false, proxy: false };

/** Tells the client of a request: the right-most address of X-Forwarded-For that is no trusted proxy, else the socket's peer. */
export function clientReader({ proxies, exempt, countsLoopback = true }: ClientOptions): ReadClient {
  const isProxy = networks(proxies);
  const isExempt = networks(exempt);
  const clients = new LRUCache<string, Client>(growing(REMEMBERED));

  const parse = (text: string): Client | undefined => {
    const address = readAddress(text);
    if (!address) return undefined;
    const canonical = address.toString();
    const loopback = address.range() === 'loopback';
    return {
      address: canonical,
      bucket: loopback && !countsLoopback ? UNCOUNTED : isIpv6(address) ? prefix(address, 64) : canonical,
      ...(isIpv6(address) && !loopback && { network: prefix(address, 48) }),
      loopback,
      exempt: isExempt(address),
      proxy: isProxy(address),
    };
  };
  const look = (text: string): Client | undefined => {
    const cached = clients.get(text);
    if (cached) return cached;
    const client = parse(text);
    if (client && text.length <= ADDRESS_CHARS) clients.set(copyText(text), client);
    return client;
  };

  return ({ socket, headers }) => {
    const peer = (socket.remoteAddress !== undefined && look(socket.remoteAddress)) || NOBODY;
    const forwarded = peer.proxy ? headers['x-forwarded-for'] : undefined;
    if (typeof forwarded !== 'string') return peer;
    let client = peer;
    for (const hop of forwarded.split(',').reverse()) {
      const next = look(hop.trim());
      // What is no address was not written by a proxy that we trust.
      if (!next) return peer;
      client = next;
      if (!next.proxy) break;
    }
    return client;
  };
}

// A part of a header keeps the whole header alive for as long as the part is held.
const copyText = (text: string) => Buffer.from(text, 'latin1').toString('latin1');

type Address = ipaddr.IPv4 | ipaddr.IPv6;

function networks(texts: readonly string[]): (address: Address) => boolean {
  const list = texts.map((text): [Address, number] => {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.process(text);
    return [address, address.kind() === 'ipv6' ? 128 : 32];
  });
  return (address) =>
    list.some(([network, bits]) => network.kind() === address.kind() && address.match(network as never, bits));
}

// Some proxies add a port: `203.0.113.9:4711`, `[2001:db8::1]:4711`.
const WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/i;

function readAddress(text: string): Address | undefined {
  if (text.length > 64) return undefined;
  const [, v6, v4] = WITH_PORT.exec(text) ?? [];
  const bare = (v6 ?? v4 ?? text).replace(/%.*$/, '');
  // The parser also knows `0x7f.1` and `2130706433`, which no proxy writes.
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(bare) || ipaddr.IPv6.isValid(bare);
  return isAddress ? ipaddr.process(bare) : undefined;
}

function isIpv6(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6';
}

function prefix({ parts }: ipaddr.IPv6, bits: 48 | 64): string {
  const groups = parts.slice(0, bits / 16);
  return `${new ipaddr.IPv6([...groups, ...Array<number>(8 - groups.length).fill(0)])}/${bits}`;
}
