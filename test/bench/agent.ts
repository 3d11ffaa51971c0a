// The agent service of the built server: what a token costs beside none.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseOracleKey } from '../../lib/delegation/oracle-key.ts';
import { mintInvocation } from '../../lib/delegation/tokens.ts';
import { makeOracleKey } from '../../server/config/data-dir.ts';
import { median, type Row, us } from './measure.ts';
import { requests } from './requests.ts';
import { cpuUs, start, stop, type Target } from './target.ts';

const MAIN = join(process.cwd(), 'dist/server/main.js');
const WARM_UP = 5;
const ROUNDS = 9;
const REQUESTS = 4_000;
const CONNECTIONS = 16;
/** CPU microseconds that the check of a token's signature and of all that it says may take more. */
const UNSEEN_US = 250;

// One handler behind two routes: what differs is whether somebody asks who is there.
const PLUGIN = `export default {
  name: 'bench', version: '1',
  authExcluded: [{ path: '/bench/open', method: 'GET' }],
  routes(router) {
    for (const path of ['/bench/open', '/bench/closed']) router.get(path, (koa) => { koa.body = { ok: true }; });
  },
};`;

export async function agentRows(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-bench-'));
  const oracleKey = makeOracleKey();
  const [oracle, user] = [parseOracleKey(oracleKey), parseOracleKey(makeOracleKey())];
  const capability = { can: '*', with: 'ixo:oracle' };
  const mint = () => mintInvocation({ key: user, audience: oracle.did, capability, expiresIn: 900 });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'bench.js'), PLUGIN);
  const quiet = {
    PORT: '0',
    RATE_LIMIT_MAX: '1000000000',
    LOG_LEVEL: 'warn',
    ORACLE_KEY: oracleKey,
  };
  const open = () => start([MAIN], { ...quiet, DATA_DIR: join(folder, 'data'), PLUGINS: join(folder, 'bench.js') });
  try {
    return await tokenRows(await open(), mint);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tokenRows(target: Target, mint: () => Promise<string>): Promise<Row[]> {
  const line = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n`;
  const shown = (token: string) => `${line('/bench/closed')}Authorization: Bearer ${token}\r\nX-Auth-Type: ucan\r\n`;
  const known = shown(await mint());
  const samples: Record<'open' | 'known' | 'fresh', number[]> = { open: [], known: [], fresh: [] };
  try {
    for (let round = 0; round < WARM_UP + ROUNDS; round++) {
      const fresh: string[] = [];
      while (fresh.length < REQUESTS) fresh.push(shown(await mint()));
      const texts = { open: () => line('/bench/open'), known: () => known, fresh: (at: number) => fresh[at]! };
      for (const [name, text] of Object.entries(texts)) {
        const before = cpuUs(target);
        await requests(target.port, { connections: CONNECTIONS, count: REQUESTS, text });
        const spent = (cpuUs(target) - before) / REQUESTS;
        if (round >= WARM_UP) samples[name as keyof typeof texts].push(spent);
      }
    }
  } finally {
    await stop(target);
  }
  const [none, known_, fresh] = [samples.open, samples.known, samples.fresh].map(median) as [number, number, number];
  const row = (what: string, own: number, atMost: number): Row => ({
    what,
    measured: `${us(own)} · ${us(none)}`,
    ratio: own / none,
    target: { atMost },
  });
  return [
    row('request with a token that was seen before against the same on a public route', known_, 1.5),
    row(
      `request with a token that was never seen against the same on a public route (${us(UNSEEN_US)} more)`,
      fresh,
      Number(((none + UNSEEN_US) / none).toFixed(2)),
    ),
  ];
}
