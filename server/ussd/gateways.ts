// Which telecom gateways may speak for callers: by the address that they ask from, or by a secret of their dialect.
//
// None of the six dialects signs its requests. What telecoms offer is a callback URL that is theirs to keep, so a secret
// is read from what such a URL can carry: `?token=<secret>`, a user and password (HTTP Basic), or a header that a proxy
// adds (`Authorization: Bearer <secret>`). Comviva has a parameter `password` of its own. A sender that can sign should sign.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { GATEWAY_SECRET, isNetwork } from '../config/kinds.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import type { Log } from '../telemetry/log.ts';
import type { GatewayRefusal, Metrics } from '../telemetry/metrics.ts';

/** What a request shows before its body is read. */
export type Credential =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'refused'; readonly reason: GatewayRefusal }
  /** Of its method, address and body; whether it fits is known once the body is there. */
  | { readonly kind: 'signed'; readonly fits: (body: string) => boolean };

/** Looks at a request of one dialect that comes from this address. */
export type GatewayCheck = (request: IncomingMessage, address: string) => Credential;

export interface UssdGateways {
  findCheck(dialect: string): GatewayCheck;
}

const ADMITTED: Credential = { kind: 'admitted' };
const REFUSED: { readonly [reason in GatewayRefusal]: Credential } = {
  address: { kind: 'refused', reason: 'address' },
  secret: { kind: 'refused', reason: 'secret' },
  signature: { kind: 'refused', reason: 'signature' },
  timestamp: { kind: 'refused', reason: 'timestamp' },
};

/** For those whose right to ask is known already. */
export const EVERYBODY: UssdGateways = { findCheck: () => () => ADMITTED };

/** The header of a signature: `t=<seconds since 1970>,v1=<hex>`. */
export const SIGNATURE_HEADER = 'x-twinline-signature';

export interface GatewayOptions {
  /** Those that are served here. */
  readonly dialects: readonly string[];
  /** @default the system's clock */
  readonly clock?: Pick<Clock, 'now'>;
}

/**
 * Compiles the entries of USSD_GATEWAYS; one that fits lets a request in. Throws ERR_CONFIG for a dialect that is not
 * served here.
 */
export function ussdGateways(
  entries: '*' | readonly string[],
  { dialects, clock = systemClock }: GatewayOptions,
): UssdGateways {
  if (entries === '*') return EVERYBODY;
  const listed = addressList(entries.filter(isNetwork));
  const secrets = new Map<string, string[]>();
  for (const entry of entries) {
    const [, dialect, secret] = (!isNetwork(entry) && GATEWAY_SECRET.exec(entry)) || [];
    if (dialect === undefined || secret === undefined) continue;
    if (!dialects.includes(dialect))
      throw new TwinlineError(
        'ERR_CONFIG',
        `USSD_GATEWAYS: there is no dialect "${dialect}". The dialects are ${dialects.join(', ')}.`,
      );
    secrets.set(dialect, [...(secrets.get(dialect) ?? []), secret]);
  }
  return {
    findCheck(dialect) {
      const check = secretCheck(secrets.get(dialect) ?? [], clock);
      return (request, address) => (listed(address) ? ADMITTED : check(request));
    },
  };
}

/** The value of the header that signs a request: HMAC-SHA-256 over time, method, path with query, and body. */
export function gatewaySignature(secret: string, { at, method, url, body }: SignedRequest): string {
  return `t=${at},v1=${computeMac(secret, { at, method, url, body }).toString('hex')}`;
}

export interface SignedRequest {
  /** Seconds since 1970. */
  readonly at: number;
  readonly method: string;
  /** Path with query, as it is sent. */
  readonly url: string;
  readonly body: string;
}

function computeMac(secret: string, { at, method, url, body }: SignedRequest): Buffer {
  return createHmac('sha256', secret).update(`${at}\n${method}\n${url}\n${body}`).digest();
}

function addressList(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    // Clients that come from an IPv4 address in IPv6 form are known by the IPv4 address.
    const plain = bits === undefined ? ipaddr.process(address).toString() : address;
    if (bits === undefined) list.addAddress(plain, readFamily(plain));
    else list.addSubnet(plain, Number(bits), readFamily(plain));
  }
  return (address) => address !== '' && list.check(address, readFamily(address));
}

const readFamily = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

function secretCheck(secrets: readonly string[], clock: Pick<Clock, 'now'>): (request: IncomingMessage) => Credential {
  if (!secrets.length) return () => REFUSED.address;
  const digests = secrets.map(digest);
  // All are compared, so that the time does not tell which one was near.
  const isSecret = (shown: string) => {
    const given = digest(shown);
    return digests.map((known) => timingSafeEqual(known, given)).includes(true);
  };
  return (request) => {
    const header = request.headers[SIGNATURE_HEADER];
    if (typeof header === 'string') return readSignature(request, { header, secrets, seconds: clock.now() / 1_000 });
    return listShownSecrets(request).some(isSecret) ? ADMITTED : REFUSED.secret;
  };
}

// Equal lengths for the comparison, for any text.
const digest = (text: string) => createHash('sha256').update(text).digest();

const SIGNATURE = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/;

interface ShownSignature {
  readonly header: string;
  readonly secrets: readonly string[];
  /** Since 1970. */
  readonly seconds: number;
}

function readSignature(
  { method = '', url = '' }: IncomingMessage,
  { header, secrets, seconds: now }: ShownSignature,
): Credential {
  const [, seconds, hex] = SIGNATURE.exec(header) ?? [];
  if (seconds === undefined || hex === undefined) return REFUSED.signature;
  const at = Number(seconds);
  if (Math.abs(now - at) > SERVER_LIMITS.ussdSignatureSeconds) return REFUSED.timestamp;
  const given = Buffer.from(hex, 'hex');
  const fits = (body: string) =>
    secrets.map((secret) => timingSafeEqual(computeMac(secret, { at, method, url, body }), given)).includes(true);
  return { kind: 'signed', fits };
}

const PARAMETERS = ['token', 'password'];

/** Whatever a request shows that can be a secret. */
function listShownSecrets({ headers, url = '' }: IncomingMessage): string[] {
  const shown: string[] = [];
  const [, scheme = '', credentials = ''] = /^(\w+) (\S+)$/.exec(headers.authorization ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') shown.push(credentials);
  if (scheme.toLowerCase() === 'basic') {
    const pair = Buffer.from(credentials, 'base64').toString();
    shown.push(pair.slice(pair.indexOf(':') + 1));
  }
  const mark = url.indexOf('?');
  if (mark < 0) return shown;
  const query = new URLSearchParams(url.slice(mark + 1));
  for (const name of PARAMETERS) shown.push(...query.getAll(name).slice(0, 1));
  return shown;
}

const WINDOW_MS = 60_000;

export interface ForbiddenRequest {
  readonly dialect: string;
  readonly address: string;
  readonly reason: GatewayRefusal;
}

export interface ForbiddenGatewaysOptions {
  readonly metrics: Pick<Metrics, 'forbidden'>;
  readonly log: Pick<Log, 'warn'>;
  /** Milliseconds, from any beginning. @default of this process */
  readonly now?: () => number;
}

/** Notes a refused request. What is kept is bounded, however many addresses ask. */
export function forbiddenGateways(options: ForbiddenGatewaysOptions): (refused: ForbiddenRequest) => void {
  const { metrics, log, now = () => performance.now() } = options;
  const named = new Set<string>();
  let until = 0;
  return ({ dialect, address, reason }) => {
    metrics.forbidden(dialect, reason);
    if (now() >= until) {
      named.clear();
      until = now() + WINDOW_MS;
    }
    if (named.has(address) || named.size >= SERVER_LIMITS.ussdRefusalsLogged) return;
    named.add(address);
    log.warn({ dialect, address, reason }, 'a USSD request was refused: USSD_GATEWAYS does not list who sent it');
  };
}
