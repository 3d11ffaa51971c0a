// Where lines are measured: servers and stores in one folder, all of which are gone in the end.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startRedis } from '../../support/redis-server.ts';
import { menuFlow } from '../flows.ts';
import type { Row } from '../measure.ts';
import { stop, type Target } from '../target.ts';
import type { Line } from './rounds.ts';
import { LOAD_CORE, pin, startFloor, startOurs, startPeer } from './servers.ts';

const SHIPPED = join(process.cwd(), 'menus');
const EVERYSEC = ['--appendonly', 'yes', '--appendfsync', 'everysec'];
const DIALOGUE = ['', '1', '1*1', '1*1*1', '1*1*1*2', '1*1*1*2*0', '1*1*1*2*0*0', '1*1*1*2*0*0**'];
export const FEW = 1_000;

/** A line whose server has a Redis of its own. */
export interface SharedLine extends Line {
  /** A number of `INFO section`. */
  readonly read: (section: string, field: string) => Promise<number>;
}

/** Starts servers in one folder; all that was started is stopped in the end. */
export class Site {
  readonly folder = mkdtempSync(join(tmpdir(), 'twinline-bench-'));
  readonly #targets: Target[] = [];
  readonly #ends: (() => Promise<void>)[] = [];

  async floor(name: string): Promise<Line> {
    const target = await startFloor(name, join(this.folder, `${name}.log`));
    this.#targets.push(target);
    return { target, callers: FEW, texts: DIALOGUE };
  }

  async ours(name: string, { callers = FEW, texts = DIALOGUE, env = {} }: Partial<Line> & { env?: Env } = {}) {
    const data = join(this.folder, name);
    const given = { DATA_DIR: data, MENUS_DIR: SHIPPED, ...env };
    const target = await startOurs(join(this.folder, `${name}.log`), given);
    this.#targets.push(target);
    return { target, callers, texts };
  }

  async redis(name: string, line: Partial<Line> = {}): Promise<SharedLine> {
    const { url, ...shared } = await this.#startRedis();
    return { ...(await this.ours(name, { ...line, env: { REDIS_URL: url } })), ...shared };
  }

  /** A program of test/bench/peers, with a folder of its own or a Redis of its own. */
  async peer(program: string, kind: string, texts: readonly string[]): Promise<Line> {
    const name = `${program}-${kind}`;
    const { url, ...shared } = kind.startsWith('redis') ? await this.#startRedis() : { url: join(this.folder, name) };
    const target = await this.program(program, name, [kind, url]);
    return { target, callers: FEW, texts, ...shared };
  }

  /** Any program of test/bench/peers. */
  async program(program: string, name: string, args: readonly string[]): Promise<Target> {
    const target = await startPeer(program, args, join(this.folder, `${name}.log`));
    this.#targets.push(target);
    return target;
  }

  async #startRedis() {
    const server = await startRedis({ args: EVERYSEC });
    const client = new Redis(server.url);
    this.#ends.push(async () => {
      client.disconnect();
      await server.stop();
    });
    const read = async (section: string, field: string) =>
      Number(new RegExp(`${field}:([\\d.]+)`).exec(await client.info(section))?.[1]);
    pin(await read('server', 'process_id'), LOAD_CORE);
    const alsoUs = async () => 1e6 * ((await read('cpu', 'used_cpu_user')) + (await read('cpu', 'used_cpu_sys')));
    return { url: server.url, alsoUs, read };
  }

  /** A folder of menus whose flow is one of 100 screens. */
  flow(): Env {
    const menus = join(this.folder, 'menus');
    mkdirSync(menus);
    writeFileSync(join(menus, 'menu100.flow.json'), JSON.stringify(menuFlow(100)));
    return { MENUS_DIR: menus, USSD_FLOW: 'menu100' };
  }

  async close(): Promise<void> {
    await Promise.all(this.#targets.map(stop));
    await Promise.all(this.#ends.map((end) => end()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

type Env = Readonly<Record<string, string>>;

export async function onSite(work: (site: Site) => Promise<Row[]>): Promise<Row[]> {
  const site = new Site();
  try {
    return await work(site);
  } finally {
    await site.close();
  }
}
