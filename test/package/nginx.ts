// A real nginx on loopback with the file of server/deploy; only where it listens and where the instances are is changed.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/ports.ts';
import { killed } from '../support/process.ts';
import { until } from '../support/until.ts';
import { ROOT } from './manifest.ts';

/** One request that went through. */
export interface Passed {
  /** `127.0.0.1:port` of the instance that answered last. */
  readonly upstream: string;
  readonly path: string;
  readonly status: number;
}

export interface Nginx {
  readonly url: string;
  /** All requests that have ended, in that order. */
  passed(): Passed[];
  stop(): Promise<void>;
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** Starts nginx in front of the instances with these URLs; `folder` takes its files. */
export async function startNginx(folder: string, instances: readonly string[]): Promise<Nginx> {
  const port = await freePort();
  const shipped = readFileSync(join(ROOT, 'server/deploy/nginx.conf'), 'utf8');
  const servers = instances.map((url) => `server ${new URL(url).host} max_fails=0;`).join(' ');
  const moved = shipped
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replaceAll('server twinline:3000 resolve max_fails=0;', servers);
  const log = join(folder, 'access.log');
  writeFileSync(join(folder, 'default.conf'), moved);
  writeFileSync(join(folder, 'nginx.conf'), around(folder, log));
  mkdirSync(join(folder, 'temporary'));
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  await until('nginx to listen', () => {
    if (child.exitCode !== null) throw new Error(`nginx does not start:\n${said}`);
    return listens(port);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    passed: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => {
          const [status, path, ...upstreams] = line.split(' ');
          return { status: Number(status), path: path!, upstream: upstreams.at(-1)! };
        }),
    stop: () => killed(child),
  };
}

// What stands around the file in the image of nginx. One process, so that nothing is left when it is killed.
function around(folder: string, log: string): string {
  const { username, uid } = userInfo();
  const user = uid === 0 ? `user ${username};` : '';
  const paths = TEMPORARY.map((name) => `${name}_temp_path ${join(folder, 'temporary', name)};`).join('\n  ');
  return `${user}
daemon off;
master_process off;
pid ${join(folder, 'nginx.pid')};
error_log stderr warn;
events { worker_connections 512; }
http {
  ${paths}
  log_format passed '$status $request_uri $upstream_addr';
  access_log ${log} passed;
  include ${join(folder, 'default.conf')};
}
`;
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
