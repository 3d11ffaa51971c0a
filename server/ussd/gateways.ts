// Decides which telecom gateways may speak for callers: by source address, or by a secret of their dialect.
//
// None of the six dialects signs its requests. Telecoms let the operator choose the callback URL, so the secret travels in what
// a URL can carry: `?token=<secret>`, HTTP Basic credentials, or a header added by a proxy (`Authorization: Bearer <secret>`).
// Comviva has its own `password` parameter. A sender that can sign should sign.

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

/** What a request proves before its body is read. */
export type Credential =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'refused'; readonly reason: GatewayRefusal }
  /** Signature over time, method, path and body; `fits` checks it once the body is read. */
  | { readonly kind: 'signed'; readonly fits: (body: string) => boolean };

/** Checks a request of one dialect from this address. */
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

/** For callers that are already authorized. */
export const EVERYBODY: UssdGateways = { findCheck: () => () => ADMITTED };

/** The signature header: `t=<seconds since 1970>,v1=<hex>`. */
export const SIGNATURE_HEADER = 'x-twinline-signature';

export interface GatewayOptions {
  /** The served dialects. */
  readonly dialects: readonly string[];
  /** @default the system's clock */
  readonly clock?: Pick<Clock, 'now'>;
}

/** Compiles the entries of USSD_GATEWAYS; one match admits a request. Throws ERR_CONFIG for a dialect that is not served. */
export function ussdGateways(
  entries: '*' | readonly string[],
  { dialects, clock = systemClock }: GatewayOptions,
): UssdGateways {
  if (entries === '*') return EVERYBODY;
  const isListed = addressList(entries.filter(isNetwork));
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
      return (request, address) => (isListed(address) ? ADMITTED : check(request));
    },
  };
}

/** The signature header of a request: HMAC-SHA-256 over time, method, path with query, and body. */
export function gatewaySignature(secret: string, { at, method, url, body }: SignedRequest): string {
  return `t=${at},v1=${computeMac(secret, { at, method, url, body }).toString('hex')}`;
}

export interface SignedRequest {
  /** Seconds since 1970. */
  readonly at: number;
  readonly method: string;
  /** Path with query, as sent. */
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
    // An IPv4-mapped IPv6 address matches its IPv4 address.
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
  // Compare all, so that timing does not reveal which one was close.
  const isSecret = (candidate: string) => {
    const candidateDigest = digest(candidate);
    return digests.map((secretDigest) => timingSafeEqual(secretDigest, candidateDigest)).includes(true);
  };
  return (request) => {
    const header = request.headers[SIGNATURE_HEADER];
    if (typeof header === 'string') return readSignature(request, { header, secrets, seconds: clock.now() / 1_000 });
    return listShownSecrets(request).some(isSecret) ? ADMITTED : REFUSED.secret;
  };
}

// Equal lengths for timingSafeEqual, whatever the text.
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
  const signature = Buffer.from(hex, 'hex');
  const fits = (body: string) =>
    secrets.map((secret) => timingSafeEqual(computeMac(secret, { at, method, url, body }), signature)).includes(true);
  return { kind: 'signed', fits };
}

const PARAMETERS = ['token', 'password'];

/** Every part of a request that may carry a secret. */
function listShownSecrets({ headers, url = '' }: IncomingMessage): string[] {
  const secrets: string[] = [];
  const [, scheme = '', credentials = ''] = /^(\w+) (\S+)$/.exec(headers.authorization ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') secrets.push(credentials);
  if (scheme.toLowerCase() === 'basic') {
    const pair = Buffer.from(credentials, 'base64').toString();
    secrets.push(pair.slice(pair.indexOf(':') + 1));
  }
  const mark = url.indexOf('?');
  if (mark < 0) return secrets;
  const query = new URLSearchParams(url.slice(mark + 1));
  for (const name of PARAMETERS) secrets.push(...query.getAll(name).slice(0, 1));
  return secrets;
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
  /** Milliseconds from any origin. @default performance.now() */
  readonly now?: () => number;
}

/**
 * Counts refused requests and logs each address once per window, up to a limit: memory stays bounded for any number of
 * addresses.
 */
export function forbiddenGateways(options: ForbiddenGatewaysOptions): (request: ForbiddenRequest) => void {
  const { metrics, log, now = () => performance.now() } = options;
  const loggedAddresses = new Set<string>();
  let until = 0;
  return ({ dialect, address, reason }) => {
    metrics.forbidden(dialect, reason);
    if (now() >= until) {
      loggedAddresses.clear();
      until = now() + WINDOW_MS;
    }
    if (loggedAddresses.has(address) || loggedAddresses.size >= SERVER_LIMITS.ussdRefusalsLogged) return;
    loggedAddresses.add(address);
    log.warn({ dialect, address, reason }, 'refused a USSD request: USSD_GATEWAYS does not list its sender');
  };
}
