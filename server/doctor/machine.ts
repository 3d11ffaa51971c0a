// Checks of the machine (Node, its clock beside those of the stores, open files) and of what lies between callers and the server: the
// port, proxies, rate limits, what instances share.

import { createServer } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Config } from '../config/config.ts';
import { isNetwork } from '../config/kinds.ts';
import { loadAdapters } from '../ussd/adapters.ts';
import { ussdGateways } from '../ussd/gateways.ts';
import { advice, brokenFinding, type CheckContext, type DoctorCheck, type Finding, fine } from './check.ts';

/** When each line of Node that we run on ends. */
const ENDS: Readonly<Record<number, string>> = { 20: '2026-04-30', 22: '2027-04-30', 24: '2028-04-30' };
const OLDEST = [20, 19] as const;
const SKEW_MAX_MS = 1_000;
const FILES_BROKEN = 1_024;
const FILES_ADVICE = 10_000;

export const MACHINE_CHECKS: readonly DoctorCheck[] = [
  { name: 'Node', run: ({ now }) => nodeFinding(process.versions.node, now) },
  { name: 'open files', run: () => filesFinding(openFilesMax()) },
];

export const CLOCK_CHECKS: readonly DoctorCheck[] = [
  {
    name: 'clock',
    when: ({ redis, mongo }) => redis !== undefined || mongo !== undefined,
    run: async ({ redis, mongo }) => {
      const skews = [
        ...((await redis?.facts()) ?? []).map(({ skewMs }) => ['Redis', skewMs] as const),
        ...(mongo ? [['MongoDB', (await mongo.facts()).skewMs] as const] : []),
      ];
      return skews.map(([whose, skewMs]) => skewFinding(whose, skewMs));
    },
  },
];

export function nodeFinding(version: string, now: number): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const fix = 'Use Node 24.';
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    return brokenFinding(`Node ${version} is older than ${OLDEST.join('.')}`, fix);
  const end = ENDS[major];
  if (major % 2 === 1 || (end !== undefined && now >= Date.parse(end)))
    return advice(`Node ${version} gets no fixes${end ? ` since ${end}` : ': odd versions are not maintained'}`, fix);
  return fine(`Node ${version}`);
}

export function skewFinding(whose: string, skewMs: number): Finding {
  const words = `the clock of ${whose} is ${Math.abs(skewMs)} ms ${skewMs < 0 ? 'behind' : 'ahead of'} ours`;
  if (Math.abs(skewMs) <= SKEW_MAX_MS) return fine(words);
  return brokenFinding(words, 'Run NTP on all machines: sessions expire and timers fire by these clocks.');
}

export function filesFinding(max: number | undefined): Finding {
  if (max === undefined) return fine('this user may open any number of files');
  const words = `this user may open ${max} files (ulimit -n)`;
  const fix = 'Raise it: ulimit -n 65536, or LimitNOFILE=65536 in the unit of systemd.';
  if (max < FILES_BROKEN) return brokenFinding(words, fix);
  return max < FILES_ADVICE ? advice(words, fix) : fine(words);
}

// Node raises its own limit to the hard one.
function openFilesMax(): number | undefined {
  const report = process.report as typeof process.report & { excludeNetwork?: boolean };
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  if (excludeNetwork !== undefined) report.excludeNetwork = excludeNetwork;
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isFinite(soft) ? soft : undefined;
}

/** A network with at most so many prefix bits holds addresses of others. */
const WIDE_BITS = { ipv4: 7, ipv6: 16 } as const;
/** Fewer turns a second than this for all callers behind one address are soon used up. */
const TURNS_PER_SECOND = 20;
const ASK_MS = 500;

export const NETWORK_CHECKS: readonly DoctorCheck[] = [
  {
    name: 'trusted proxies',
    run: ({ config }) => proxyFinding(config),
  },
  { name: 'rate limit', run: ({ config }) => limitFinding(config) },
  { name: 'USSD gateways', run: ({ config }) => gatewayFinding(config) },
  { name: 'instances', when: isHalfShared, run: ({ config }) => sharingFinding(config) },
  { name: 'port', run: portFinding },
];

function isHalfShared({ config }: Pick<CheckContext, 'config'>): boolean {
  return (config.redisUrl === undefined) !== (config.mongodbUrl === undefined);
}

/** Whether machines that share one kind of data share the other. */
export function sharingFinding(config: Config): Finding {
  if (!isHalfShared({ config })) return fine('sessions and documents are kept in the same kind of place');
  const [shared, own] = config.redisUrl ? ['sessions', 'documents'] : ['documents', 'sessions'];
  const missing = config.redisUrl ? 'MONGODB_URL' : 'REDIS_URL';
  return advice(
    `${shared} are shared by all machines, ${own} are not`,
    `Set ${missing} too, unless all instances run on this machine.`,
  );
}

export function proxyFinding({ trustedProxies, isBehindProxy, production, host }: Config): Finding {
  if (!trustedProxies.length) {
    if (!production) return fine('no proxy is trusted: the client is who connects');
    const together = `all clients of ${host} count as a single address`;
    if (isBehindProxy)
      return brokenFinding(
        `TRUST_PROXY_ENABLED=true, and no proxy is listed: behind one, ${together}`,
        'List the addresses of your proxies in TRUST_PROXY_CIDRS.',
      );
    const fix = 'Set TRUST_PROXY_ENABLED=true and TRUST_PROXY_CIDRS, unless clients connect directly.';
    return advice(`no proxy is trusted: behind one, ${together}`, fix);
  }
  const wide = trustedProxies.filter(isWide);
  if (!wide.length) return fine(`X-Forwarded-For counts from ${trustedProxies.join(', ')}`);
  return brokenFinding(
    `TRUST_PROXY_CIDRS holds ${wide.join(', ')}: strangers can claim any address`,
    'List the addresses of your proxies only.',
  );
}

export function isWide(network: string): boolean {
  const [address, bits] = network.includes('/')
    ? ipaddr.parseCIDR(network)
    : ([ipaddr.parse(network), 128] as [ipaddr.IPv4 | ipaddr.IPv6, number]);
  return bits <= WIDE_BITS[address.kind()];
}

type Limited = {
  readonly production: boolean;
  readonly rateLimit: Pick<Config['rateLimit'], 'max' | 'windowMs' | 'exempt'>;
};

/** The finding about RATE_LIMIT_MAX and RATE_LIMIT_EXEMPT. */
export function limitFinding({ rateLimit, production }: Limited): Finding {
  const { max, windowMs, exempt } = rateLimit;
  const wide = exempt.filter(isWide);
  if (wide.length)
    return brokenFinding(
      `RATE_LIMIT_EXEMPT holds ${wide.join(', ')}: nobody is limited by address`,
      'List the addresses of your telecom gateway only.',
    );
  const words = `RATE_LIMIT_MAX allows ${max} requests in ${windowMs / 1_000} s for each address`;
  if (exempt.length) return fine(`${words}; per phone number from ${exempt.join(', ')}`);
  const perSecond = (max / windowMs) * 1_000;
  if (!production || perSecond >= TURNS_PER_SECOND) return fine(words);
  return advice(
    `${words}: all callers of a telecom gateway have one address, and together ${perSecond.toFixed(1)} turns a second`,
    'List its addresses in RATE_LIMIT_EXEMPT; they are then limited per phone number.',
  );
}

/** Who may speak for callers. */
export async function gatewayFinding({
  ussd,
  production,
}: Pick<CheckContext['config'], 'ussd' | 'production'>): Promise<Finding> {
  const { gateways } = ussd;
  const adapters = await loadAdapters(ussd, { folder: process.cwd() });
  if (gateways === '*') {
    if (!production) return fine('everybody who reaches the server may speak for any phone (development)');
    const words = 'USSD_GATEWAYS=*: everybody who reaches the server may speak for any phone';
    return advice(words, 'List the addresses of your telecom gateway, or give its dialect a secret.');
  }
  ussdGateways(gateways, { dialects: Object.keys(adapters) });
  const networks = gateways.filter(isNetwork);
  const wide = networks.filter(isWide);
  if (wide.length)
    return brokenFinding(
      `USSD_GATEWAYS holds ${wide.join(', ')}: strangers may speak for any phone`,
      'List your gateway only.',
    );
  const secrets = gateways.length - networks.length;
  const said = [...networks, ...(secrets ? [`${secrets} with a secret`] : [])];
  return fine(`USSD requests are taken from ${said.join(', ')}`);
}

async function portFinding({ config }: CheckContext): Promise<Finding> {
  const { host, port } = config;
  const place = `${host}:${port}`;
  if (port === 0) return fine('PORT=0: the server takes any free port');
  const code = await listenOnce(host, port);
  if (code === undefined) return fine(`${place} is free`);
  if (code === 'EADDRINUSE' && (await isTwinline(host, port))) return fine(`Twinline answers at ${place} already`);
  const why = code === 'EADDRINUSE' ? 'another program uses it' : code;
  return brokenFinding(`cannot listen on ${place}: ${why}`, 'Set another PORT or HOST, or stop that program.');
}

function listenOnce(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

const HERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

async function isTwinline(host: string, port: number): Promise<boolean> {
  const name = HERE[host] ?? (host.includes(':') ? `[${host}]` : host);
  try {
    const answer = await fetch(`http://${name}:${port}/`, { signal: AbortSignal.timeout(ASK_MS) });
    return /Twinline/.test(await answer.text());
  } catch {
    return false;
  }
}

export const SETTING_CHECKS: readonly DoctorCheck[] = [
  {
    name: 'names of settings',
    run: ({ config }) =>
      config.misspelt.length ? misspeltFindings(config) : fine('no variable looks like a misspelt setting'),
  },
  { name: 'own menus', when: ({ config }) => config.production, run: ({ config }) => checkMenusDir(config) },
];

/** One for each variable that is no setting and differs from one by a letter or two. */
export function misspeltFindings({ misspelt }: Pick<Config, 'misspelt'>): Finding[] {
  return misspelt.map(({ name, meant }) =>
    advice(`${name} is set, and is no setting`, `Write ${meant}, if that is what was meant.`),
  );
}

/** Whether callers get menus of the operator. */
export function checkMenusDir({ menusDir, menusAreShipped }: Pick<Config, 'menusDir' | 'menusAreShipped'>): Finding {
  if (!menusAreShipped) return fine(`MENUS_DIR is ${menusDir}`);
  const words = 'MENUS_DIR is not set: callers get the menus that Twinline ships as examples';
  return advice(words, 'Set MENUS_DIR to the folder of your menus.');
}
