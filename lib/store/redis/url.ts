// Parses Redis URLs: a single server, a cluster, or a group monitored by Sentinels.

import { TwinlineError } from '../../errors.ts';

export interface RedisNode {
  /** A name, an IPv4 address, or an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** A parsed Redis URL. */
export interface RedisAddress {
  readonly kind: 'single' | 'cluster' | 'sentinel';
  /** The server; some nodes of the cluster; or the Sentinels. */
  readonly nodes: readonly RedisNode[];
  /** The master's name among the Sentinels; only for `sentinel`. */
  readonly master?: string;
  readonly user?: string;
  readonly password?: string;
  /** The database number; always 0 in a cluster. */
  readonly db: number;
  readonly tls: boolean;
  /** The URL for logs and errors, with the password masked. */
  readonly name: string;
}

/** The valid forms of a Redis URL, to complete "must be …". */
export const REDIS_URL_FORMS =
  'redis://[user:password@]host[:port][/database], redis+cluster://host:port,host:port or ' +
  'redis+sentinel://host:port,host:port/master-name[/database], with rediss for TLS';

const FORM = /^(rediss?)(?:\+(cluster|sentinel))?:\/\/(?:([^@/]*)@)?([^@/?#]+)((?:\/[^/?#]*)*)$/;
const DEFAULT_PORTS = { single: 6379, cluster: 6379, sentinel: 26379 } as const;

/** Whether {@link parseRedisUrl} accepts this. */
export function isRedisUrl(text: string): boolean {
  return read(text) !== undefined;
}

/**
 * Parses {@link REDIS_URL_FORMS}. Defaults: port 6379, or 26379 for Sentinels; database 0. Percent-encode special characters
 * in the user name and password. Throws ERR_CONFIG, without quoting the URL.
 */
export function parseRedisUrl(text: string): RedisAddress {
  const address = read(text);
  if (address) return address;
  throw new TwinlineError('ERR_CONFIG', `The Redis URL is invalid. It must be ${REDIS_URL_FORMS}.`);
}

function read(text: string): RedisAddress | undefined {
  const [, scheme, group, login, hosts, path] = FORM.exec(text) ?? [];
  if (!scheme || !hosts) return undefined;
  const kind = (group ?? 'single') as RedisAddress['kind'];
  const nodes = hosts.split(',').map((host) => readNode(host, DEFAULT_PORTS[kind]));
  const place = readPath(kind, path ?? '');
  const names = login === undefined ? {} : readLogin(login);
  if (!nodes.every((node) => node !== undefined) || !place || !names) return undefined;
  if (kind === 'single' && nodes.length > 1) return undefined;
  const name = login === undefined ? text : text.replace(/\/\/[^@]*@/, `//${names.user ?? ''}:****@`);
  return { kind, nodes, ...place, ...names, tls: scheme === 'rediss', name };
}

function readNode(text: string, defaultPort: number): RedisNode | undefined {
  const match = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(text);
  const port = Number(match?.[3] ?? defaultPort);
  return match && port >= 1 && port <= 65_535 ? { host: (match[1] ?? match[2])!, port } : undefined;
}

// "/", "/2" · "/master", "/master/2"
function readPath(kind: RedisAddress['kind'], path: string): Pick<RedisAddress, 'master' | 'db'> | undefined {
  const parts = path.split('/').slice(1);
  if (parts.at(-1) === '') parts.pop();
  const master = kind === 'sentinel' ? parts.shift() : undefined;
  const db = parts.shift() ?? '0';
  if (parts.length || !/^\d{1,5}$/.test(db)) return undefined;
  if (kind === 'cluster' && db !== '0') return undefined;
  if (kind !== 'sentinel') return { db: Number(db) };
  return master && /^[\w.-]+$/.test(master) ? { master, db: Number(db) } : undefined;
}

// "user:password", ":password", or, as some providers write it, only "password".
function readLogin(text: string): Pick<RedisAddress, 'user' | 'password'> | undefined {
  const colon = text.indexOf(':');
  try {
    const user = decodeURIComponent(text.slice(0, Math.max(colon, 0)));
    const password = decodeURIComponent(text.slice(colon + 1));
    return { ...(user && { user }), ...(password && { password }) };
  } catch {
    return undefined;
  }
}
