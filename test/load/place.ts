// A server with production settings on a core of its own, and a node of the query gateway beside the load.

import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fromJson, toBinary } from '@bufbuild/protobuf';
import { readDescriptorSet } from '../../lib/gateway/index.ts';
import { start, stop, type Target } from '../bench/target.ts';
import { SET } from '../server/gateway/node.ts';
import { withFile } from '../server/gateway/place.ts';
import { ORACLE_KEY } from '../server/plugins/users.ts';
import { API_KEY, makeProtocol } from '../soak/doors.ts';
import { builtFile } from '../support/build.ts';
import { onPath } from '../support/on-path.ts';
import { withFolder } from '../support/process.ts';

export interface Place {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
}

const SERVER_CORE = '0';
const LOAD_CORE = '1';

/** Starts both; what they left is gone when `work` is done. */
export function withLoadedServer<T>(work: (place: Place) => Promise<T>): Promise<T> {
  return withFolder(async (folder) => {
    writeFileSync(join(folder, 'reply'), foundReply());
    const node = await start([join(process.cwd(), 'test/bench/grpc-floor.mjs'), join(folder, 'reply')]);
    const key = { key: API_KEY, principal: 'did:x:load', roles: ['controller', 'operator'], tenant: 'default' };
    writeFileSync(join(folder, 'keys.json'), JSON.stringify([key]));
    try {
      return await withFile({ upstream: `127.0.0.1:${node.port}` }, async (env) => {
        const server = await startServer(join(folder, 'log'), {
          ...{
            NODE_ENV: 'production',
            HOST: '127.0.0.1',
            PUBLIC_URL: 'http://127.0.0.1',
            GATEWAY_FILE: env.GATEWAY_FILE!,
            ORACLE_KEY,
          },
          ...{ DATA_DIR: join(folder, 'data'), API_KEYS_FILE: join(folder, 'keys.json') },
          ...{
            PIN_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
            RATE_LIMIT_MAX: '1000000000',
            STREAMS_PER_CLIENT: '1000000',
          },
        });
        pin(server.pid, SERVER_CORE);
        // The node runs where there is time left.
        pin(process.pid, LOAD_CORE);
        try {
          await makeProtocol(server.url);
          return await work(server);
        } finally {
          await stop(server);
        }
      });
    } finally {
      await stop(node);
    }
  });
}

// With its log in a file: who reads it through a pipe as slowly as a busy load does would hold the server up.
async function startServer(log: string, env: Readonly<Record<string, string>>): Promise<Place & Target> {
  const out = openSync(log, 'w');
  const given = { PATH: process.env.PATH, PORT: '0', USSD_GATEWAYS: '*', ...env };
  const child = spawn(process.execPath, [await builtFile('server/main.ts')], {
    env: given,
    stdio: ['ignore', out, out],
  });
  for (let tries = 0; tries < 400 && child.exitCode === null; tries++) {
    const url = /http:\/\/127\.0\.0\.1:(\d+)/.exec(readFileSync(log, 'utf8'));
    if (url) return { url: url[0], port: Number(url[1]), pid: child.pid!, process: child };
    await pause(50);
  }
  child.kill('SIGKILL');
  throw new Error(`the server does not listen:\n${readFileSync(log, 'utf8')}`);
}

function foundReply(): Uint8Array {
  const { registry } = readDescriptorSet(SET);
  const type = registry.getMessage('grove.Found')!;
  return toBinary(type, fromJson(type, { text: 'fine' }));
}

// All threads of a process on one core, so that the load takes nothing from the server; where there is only one, as it comes.
function pin(pid: number, core: string): void {
  if (availableParallelism() > 1 && onPath('taskset')) execFileSync('taskset', ['-a', '-c', '-p', core, String(pid)]);
}
