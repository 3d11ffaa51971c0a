// Two servers behind nginx, with their sessions in Redis: the proxy gives every request to the next one, and when one is gone the
// other goes on where the caller is. REDIS_URL names the Redis; nginx is found on PATH.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const folder = mkdtempSync(join(tmpdir(), 'two-servers-'));
// Both read what the other has sealed: with REDIS_URL, the keys are given.
const keys = { PIN_ENCRYPTION_KEY: randomBytes(32).toString('hex') };

async function kill(child) {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function startTwinline(name) {
  const env = { ...process.env, ...keys, PORT: '0', DATA_DIR: join(folder, name), TRUST_PROXY_ENABLED: 'true' };
  const child = spawn('node_modules/.bin/twinline', ['start'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += chunk;
    });
  for (;;) {
    const port = /http:\/\/127\.0\.0\.1:(\d+)\D/.exec(said)?.[1];
    if (port) return { port, stop: () => kill(child) };
    if (child.exitCode !== null) throw new Error(`${name} does not start:\n${said}`);
    await pause(50);
  }
}

async function findFreePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address?.port;
}

async function startNginx(ports) {
  const port = await findFreePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`);
  const config = `
    ${userInfo().uid === 0 ? `user ${userInfo().username};` : ''}
    daemon off; master_process off; pid ${join(folder, 'nginx.pid')}; error_log stderr crit;
    events {}
    http {
      ${temporary.join(' ')} access_log off;
      upstream twinline { ${ports.map((one) => `server 127.0.0.1:${one};`).join(' ')} }
      server {
        listen 127.0.0.1:${port};
        location / { proxy_pass http://twinline; proxy_set_header X-Forwarded-For $remote_addr; proxy_next_upstream error timeout; }
      }
    }`;
  writeFileSync(join(folder, 'nginx.conf'), config);
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 200 && !(await fetch(`${url}/livez`).catch(() => undefined)); tries++) await pause(50);
  return { url, stop: () => kill(child) };
}

const servers = await Promise.all(['a', 'b'].map(startTwinline));
const proxy = await startNginx(servers.map(({ port }) => port));
const fields = { sessionId: 'call-1', serviceCode: '*77#', phoneNumber: '+260971230001' };
const dial = async (text) => {
  const body = new URLSearchParams({ ...fields, text });
  const answer = await fetch(`${proxy.url}/api/ussd`, { method: 'POST', body });
  console.log((await answer.text()).split('\n')[0]);
};
await dial('');
await dial('1');
await servers[0].stop();
console.log('one server is gone');
await dial('1*0');
await dial('1*0*1');
await servers[1].stop();
await proxy.stop();
rmSync(folder, { recursive: true, force: true });

// Prints:
//   CON Welcome to Twinline
//   CON Know more
//   one server is gone
//   CON Welcome to Twinline
//   CON Know more
