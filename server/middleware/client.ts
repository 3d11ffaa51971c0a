// Who is on the other side: the address that a request counts for, through trusted proxies only.

import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

export interface Client {
  /** Canonical; an IPv4 address in IPv6 clothes is the IPv4 address. */
  readonly address: string;
  /** What its requests are counted under: the address, IPv6 by /64, for one customer has all of a /64. */
  readonly bucket: string;
  readonly loopback: boolean;
  /** In a network that is limited per phone number instead. */
  readonly exempt: boolean;
  /** In a network of trusted proxies. */
  readonly proxy: boolean;
}

export interface ClientOptions {
  /** Networks whose X-Forwarded-For is believed; empty: nobody's. */
  readonly proxies: readonly string[];
  readonly exempt: readonly string[];
}

export type ClientOf = (request: IncomingMessage) => Client;

const REMEMBERED = 10_000;
const NOBODY: Client = { address: '', bucket: 'unknown', loopback: false, exempt: false, proxy: false };

/** Tells the client of a request: the right-most X-Forwarded-For hop that is no trusted proxy, else the socket's peer. */
export function clientReader({ proxies, exempt }: ClientOptions): ClientOf {
  const isProxy = networks(proxies);
  const isExempt = networks(exempt);
  const known = new Map<string, Client | undefined>();

  const parse = (text: string): Client | undefined => {
    const address = readAddress(text);
    if (!address) return undefined;
    const canonical = address.toString();
    return {
      address: canonical,
      bucket: address.kind() === 'ipv6' ? `${canonicalPrefix(address as ipaddr.IPv6)}/64` : canonical,
      loopback: address.range() === 'loopback',
      exempt: isExempt(address),
      proxy: isProxy(address),
    };
  };
  const look = (text: string): Client | undefined => {
    if (known.has(text)) return known.get(text);
    const client = parse(text);
    if (known.size >= REMEMBERED) known.delete(known.keys().next().value!);
    known.set(text, client);
    return client;
  };

  return ({ socket, headers }) => {
    const peer = (socket.remoteAddress !== undefined && look(socket.remoteAddress)) || NOBODY;
    const forwarded = peer.proxy ? headers['x-forwarded-for'] : undefined;
    if (typeof forwarded !== 'string') return peer;
    let client = peer;
    for (const hop of forwarded.split(',').reverse()) {
      const next = look(hop.trim());
      // What nobody can read was not written by a proxy that we trust.
      if (!next) return peer;
      client = next;
      if (!next.proxy) break;
    }
    return client;
  };
}

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

function canonicalPrefix(address: ipaddr.IPv6): string {
  return new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]).toString();
}
