// Which hosts and URLs may be called: public addresses, and guarded name resolution.

import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { systemClock } from '../clock.ts';
import { TwinlineError } from '../errors.ts';
import { canonicalHost, type Reach } from './host-list.ts';
import { HTTP_LIMITS } from './limits.ts';

/** Resolves a host name to all its addresses; rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

/**
 * The system resolver, with its hosts file. A slow lookup blocks one of the four threads that files and stores also
 * use.
 */
export const systemResolve: Resolve = (host) => systemLookup(host, { all: true });

/**
 * Queries DNS only, without the hosts file, and occupies no thread while waiting: for names from outside. `servers`,
 * such as `127.0.0.1:5353`, default to the system's current ones; each has `tryMs` to answer (default
 * HTTP_LIMITS.dnsTryMs). Rejects with the DNS error when there is no address.
 */
export function dnsResolver(options: { servers?: readonly string[]; tryMs?: number } = {}): Resolve {
  const { servers = [], tryMs = HTTP_LIMITS.dnsTryMs } = options;
  return async (host) => {
    const resolver = new Resolver({ timeout: tryMs, tries: HTTP_LIMITS.dnsTries });
    if (servers.length > 0) resolver.setServers(servers);
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
    const listed = (answer: PromiseSettledResult<string[]>) => (answer.status === 'fulfilled' ? answer.value : []);
    return [...listed(v4), ...listed(v6)].map((address) => ({ address, family: isIP(address) }));
  };
}

/**
 * A lookup for one connection: resolves the name once and hands those addresses to the socket, so that a second DNS
 * answer cannot redirect it (DNS rebinding). Fails with ERR_SERVICE when any address is outside `reach`.
 */
export function guardedLookup(resolve: Resolve, reach: Reach): LookupFunction {
  const inReach = reach === 'loopback' ? isLoopback : isPublicAddress;
  return (host, options, done) => {
    const refuse = (error: Error): void => done(error, '');
    const connect = (addresses: Awaited<ReturnType<Resolve>>): void => {
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => inReach(address))) {
        const how = reach === 'loopback' ? 'It must resolve to this machine' : 'List the address itself to allow it';
        const message = `The host "${host}" resolves to an address that is not ${reach}, so it is not called. ${how}.`;
        refuse(new TwinlineError('ERR_SERVICE', message));
      } else if (options.all) done(null, [...addresses]);
      else done(null, first.address, first.family);
    };
    resolve(host).then(connect, refuse);
  };
}

function isLiteral(host: string): boolean {
  return ipaddr.isValid(withoutBrackets(host));
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'loopback';
}

const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/**
 * Whether `address` is an ordinary public internet address: not private, local, shared, mapped, tunnelled, reserved or
 * for documentation. False for anything else, including other spellings of an address (0x7f.1, 2130706433, 010.8.8.8).
 */
export function isPublicAddress(address: string): boolean {
  if (!isIP(address)) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6));
}

const PRIVATE_NAMES = /^(.*\.)?(localhost|local|internal|intranet|home\.arpa)\.?$/i;

/** Whether the host of a URL, a name or an address, may be public, judged by its text alone. */
export function isPublicHost(hostname: string): boolean {
  const host = canonicalHost(hostname);
  if (isLiteral(host)) return host === hostname.toLowerCase() && isPublicAddress(withoutBrackets(host));
  return host !== '' && !PRIVATE_NAMES.test(host);
}

const SCHEMES = new Set(['https:', 'http:', 'wss:', 'ws:', 'mqtts:', 'mqtt:']);
const HOSTLESS = new Set(['ipfs:', 'did:']);

/** Whether a URL has a non-script, non-file scheme and a host that may be public. */
export function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (HOSTLESS.has(url.protocol)) return true;
  return SCHEMES.has(url.protocol) && !url.username && !url.password && isPublicHost(url.hostname);
}

const NOT_PUBLIC = 'must lead to the public internet; private, loopback and link-local addresses are refused';

/** Why a webhook URL is refused, judged by its text alone; undefined when it is acceptable. */
export function addressProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL such as https://example.com/hooks';
  const { protocol, username, password, hostname, port } = new URL(text);
  if (protocol !== 'https:') return 'must start with https://';
  if (username || password) return 'must not contain a user name or a password';
  if (port === '0') return 'has an invalid port';
  const isWhole = isLiteral(hostname) || /\.[^.]/.test(hostname);
  return isWhole && isPublicHost(hostname) ? undefined : NOT_PUBLIC;
}

/** The same, plus DNS resolution. A name that does not resolve yet passes, because it is checked again on delivery. */
export async function findResolvedProblem(text: string, resolve: Resolve = dnsResolver()): Promise<string | undefined> {
  const problem = addressProblem(text);
  if (problem !== undefined) return problem;
  const host = new URL(text).hostname;
  if (isLiteral(host)) return undefined;
  const late = new AbortController();
  const nothing = systemClock.wait(HTTP_LIMITS.webhookResolveMs, late.signal).then(() => []);
  const addresses = await Promise.race([resolve(host).catch(() => []), nothing]);
  late.abort();
  return addresses.every(({ address }) => isPublicAddress(address)) ? undefined : NOT_PUBLIC;
}
