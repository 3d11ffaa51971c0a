// Lists of hosts that may be called, such as `api.example.com, *.example.org:8443`.

import { isIP } from 'node:net';
import { TwinlineError } from '../errors.ts';

/**
 * Where a listed host may resolve to: a name only to public addresses, `localhost` to loopback, a listed address to
 * itself.
 */
export type Reach = 'public' | 'loopback' | 'literal';

/**
 * Parses a list of `host`, `host:port`, `*.example.com` and `*.example.com:port`; without a port, the scheme's default
 * applies. The result tells where a URL may resolve to, or undefined when its host and port are not listed. Throws
 * ERR_CONFIG, naming every invalid entry.
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
    // WHATWG URLs drop the scheme's default port, so an entry without a port matches only URLs without one.
    const ports = port === '' ? ['', protocol === 'https:' ? '443' : '80'] : [port];
    for (const one of ports) {
      const reach = exact.get(`${hostname}:${one}`);
      if (reach) return reach;
    }
    const isBelow = endings.some((rule) => ports.includes(rule.port) && hostname.endsWith(rule.ending));
    return isBelow ? 'public' : undefined;
  };
}

/** The host as URLs have it; '' for none. */
export function canonicalHost(host: string): string {
  return /[\s/\\?#@%*]/.test(host) || !URL.canParse(`http://${host}`) ? '' : new URL(`http://${host}`).hostname;
}

function portProblem(port: string): string | undefined {
  return port === '' || (Number(port) >= 1 && Number(port) <= 65_535) ? undefined : 'has an invalid port';
}

function hostProblem(host: string, name: string, wildcard: boolean): string | undefined {
  if (name === '' || name.endsWith('.')) return 'is not a valid host';
  // Another spelling of an address (0x7f.1, 2130706433) is a mistake or an attack.
  if (isLiteral(name) && name !== host.toLowerCase()) return `is another spelling of ${name}`;
  return wildcard && (isLiteral(name) || !name.includes('.')) ? 'is too broad' : undefined;
}

// Of canonical hosts, where an address has one spelling.
const isLiteral = (host: string): boolean => isIP(host.replace(/^\[|\]$/g, '')) > 0;
