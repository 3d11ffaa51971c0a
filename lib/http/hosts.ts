// Which hosts flows may call over HTTP, and which addresses those names may lead to.

import { lookup as systemLookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { TwinlineError } from '../errors.ts';

/**
 * Where a listed host may lead: a name to public addresses only, `localhost` to the loopback, and an address that is
 * itself listed to itself.
 */
export type Reach = 'public' | 'loopback' | 'literal';

/** All addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

export const systemResolve: Resolve = (host) => systemLookup(host, { all: true });

/**
 * Reads a list of `host`, `host:port`, `*.example.com` and `*.example.com:port`. Without a port the entry means the
 * standard one of the scheme. The result tells where a URL may lead, or undefined when its host and port are not listed.
 * Throws ERR_CONFIG, naming every entry that cannot be.
 */
export function parseHosts(hosts: readonly string[]): (url: URL) => Reach | undefined {
  const exact = new Map<string, Reach>();
  const endings: { readonly ending: string; readonly port: string }[] = [];
  const problems: string[] = [];
  for (const entry of hosts) {
    const [, wildcard, host = '', digits] = /^(\*\.)?(.*?)(?::(\d{1,5}))?$/s.exec(entry.trim()) ?? [];
    const port = digits === undefined ? '' : String(Number(digits));
    const name = canonicalHost(host);
    const problem = hostProblem(host, name, wildcard !== undefined) ?? portProblem(port);
    if (problem) problems.push(`"${entry}" ${problem}`);
    else if (wildcard) endings.push({ ending: `.${name}`, port });
    else exact.set(`${name}:${port}`, isLiteral(name) ? 'literal' : name === 'localhost' ? 'loopback' : 'public');
  }
  if (problems.length > 0) {
    const how = 'Write host, host:port or *.example.com, without scheme and path';
    throw new TwinlineError('ERR_CONFIG', `Cannot use the list of HTTP hosts: ${problems.join('; ')}. ${how}.`);
  }
  return ({ hostname, port, protocol }) => {
    // WHATWG URLs drop the standard port of their scheme, so only without one does an entry without a port fit.
    const ports = port === '' ? ['', protocol === 'https:' ? '443' : '80'] : [port];
    for (const one of ports) {
      const reach = exact.get(`${hostname}:${one}`);
      if (reach) return reach;
    }
    const isBelow = endings.some((rule) => ports.includes(rule.port) && hostname.endsWith(rule.ending));
    return isBelow ? 'public' : undefined;
  };
}

/**
 * A lookup for one connection: resolves the name once, and hands those very addresses to the socket, so that a second
 * answer of the name server cannot lead elsewhere. Fails with ERR_SERVICE when any of them is outside `reach`.
 */
export function guardedLookup(resolve: Resolve, reach: Reach): LookupFunction {
  const inReach = reach === 'loopback' ? isLoopback : isPublic;
  return (host, options, done) => {
    const refuse = (error: Error): void => done(error, '');
    const connect = (addresses: Awaited<ReturnType<Resolve>>): void => {
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => inReach(address))) {
        const how = reach === 'loopback' ? 'It must lead to this machine' : 'List the address itself to allow it';
        const message = `The host "${host}" leads to an address that is not ${reach}, so it is not called. ${how}.`;
        refuse(new TwinlineError('ERR_SERVICE', message));
      } else if (options.all) done(null, [...addresses]);
      else done(null, first.address, first.family);
    };
    resolve(host).then(connect, refuse);
  };
}

function canonicalHost(host: string): string {
  return /[\s/\\?#@%*]/.test(host) || !URL.canParse(`http://${host}`) ? '' : new URL(`http://${host}`).hostname;
}

function portProblem(port: string): string | undefined {
  return port === '' || (Number(port) >= 1 && Number(port) <= 65_535) ? undefined : 'has no such port';
}

function hostProblem(host: string, name: string, wildcard: boolean): string | undefined {
  if (name === '' || name.endsWith('.')) return 'is no host';
  // Another spelling of an address (0x7f.1, 2130706433) in a list is a mistake or a trick.
  if (isLiteral(name) && name !== host.toLowerCase()) return `is another spelling of ${name}`;
  return wildcard && (isLiteral(name) || !name.includes('.')) ? 'is too wide' : undefined;
}

function isLiteral(host: string): boolean {
  return ipaddr.isValid(host.replace(/^\[|\]$/g, ''));
}

function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'loopback';
}

const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Whether `address` is an ordinary one of the public internet: not private, local, shared, mapped, tunnelled or reserved. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6));
}
