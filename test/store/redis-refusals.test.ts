// What follows from each form of an error of Redis 6.2 to 8 and Valkey: recorded texts, played by a server on loopback.

import { createServer, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { redisSnapshots } from '../../lib/store/redis/index.ts';
import { readRefusal } from '../../lib/store/redis/refusals.ts';
import { refuses, session } from '../../lib/testing/sessions/bench.ts';
import { until } from '../support/until.ts';

const test = suite('refusals of Redis');
const clock = { now: Date.now };

const SHA = 'd1f3f8a2a9cb1f6cbd57a9a07f9e1e5e0a4c8b11';
const REPLICA = "READONLY You can't write against a read only replica.";

/** How an error reads: as a command gets it, and inside a script of 6.2 (found before the command runs, or by it), of 7 and newer. */
const FORMS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `ERR Error running script (call to f_${SHA}): @user_script:14: @user_script: 14: -${text} `,
  (text) => `ERR Error running script (call to f_${SHA}): @user_script:14: ${text}`,
  (text) => `${text.replace(/\.$/, '')}. script: ${SHA}, on @user_script:14.`,
  (text) => `${text.replace(/\.$/, '')} script: ${SHA}, on @user_script:14.`,
  (text) => `EXECABORT Transaction discarded because of: ${text}`,
];

const TEXTS: readonly (readonly [text: string, decision: string])[] = [
  [REPLICA, 'reconnect'],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 'reconnect'],
  ['UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)', 'reconnect'],
  ['NOSCRIPT No matching script. Please use EVAL.', 'send-source'],
  ['NOSCRIPT No matching script.', 'send-source'],
  ['WRONGPASS invalid username-password pair or user is disabled.', 'check-login'],
  ['NOAUTH Authentication required.', 'check-login'],
  ["NOPERM this user has no permissions to run the 'set' command", 'do-without'],
  ["NOPERM User default has no permissions to run the 'config|get' command", 'do-without'],
  ["ERR unknown command 'SPUBLISH', with args beginning with: 'canary' ", 'do-without'],
  ['ERR unknown command `CONFIG`, with args beginning with: `GET`, `canary`, ', 'do-without'],
  ["ERR Unknown subcommand or wrong number of arguments for 'INFO'. Try CLIENT HELP.", 'do-without'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'refuse'],
  ['LOADING Redis is loading the dataset in memory', 'refuse'],
  ['LOADING Valkey is loading the dataset in memory', 'refuse'],
  ['NOREPLICAS Not enough good replicas to write.', 'refuse'],
  ['CLUSTERDOWN Hash slot not served', 'refuse'],
  ['CLUSTERDOWN The cluster is down', 'refuse'],
  ['TRYAGAIN Multiple keys request during rehashing of slot', 'refuse'],
  ['BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.', 'refuse'],
  ['MISCONF Errors writing to the AOF file: No space left on device', 'refuse'],
  ['WRONGTYPE Operation against a key holding the wrong kind of value', 'refuse'],
];

test('the code of every error is read in every form, with advice, and without what is around it', () => {
  for (const [text, decision] of TEXTS)
    for (const form of FORMS) {
      const refusal = readRefusal(new Error(form(text)));
      assert.is(refusal.decision, decision, form(text));
      assert.ok(refusal.remedy, form(text));
      assert.is(refusal.text.split(' ')[0], text.split(' ')[0]);
      assert.not.match(refusal.text, /user_script|Error running|script: /);
    }
});

test('a server that turns out to be a replica, in any form, is left: the next command goes over a new connection', async () => {
  for (const form of FORMS) {
    let isReplica = true;
    const server = await playRedis((command) =>
      command !== 'evalsha' ? undefined : isReplica ? `-${form(REPLICA)}` : ':-1',
    );
    const store = redisSnapshots({ url: server.url });
    try {
      const error = await refuses('ERR_STORE', () => store.commit('a', 0, session(clock)));
      assert.match(error.message, "cannot commit: READONLY You can't write against a read only replica");
      assert.match(error.message, 'must lead to the master. Reconnecting.');
      isReplica = false;
      await until('it works', () =>
        store.commit('a', 0, session(clock)).then(
          () => true,
          () => false,
        ),
      );
      assert.is(server.connections(), 2, form(REPLICA));
    } finally {
      await store.close();
      await server.close();
    }
  }
});

test('a script that the server does not know, in any form, is sent with its source', async () => {
  for (const form of FORMS) {
    const server = await playRedis((command) =>
      command === 'evalsha' ? `-${form('NOSCRIPT No matching script.')}` : command === 'eval' ? ':-1' : undefined,
    );
    const store = redisSnapshots({ url: server.url });
    try {
      assert.equal(await store.commit('a', 0, session(clock)), { kind: 'committed', revision: 1 });
      assert.is(server.connections(), 1);
    } finally {
      await store.close();
      await server.close();
    }
  }
});

test.run();

/** A server that answers commands by a script: lines of RESP; undefined is +OK. */
async function playRedis(answer: (command: string) => string | undefined) {
  let connections = 0;
  const wires = new Set<Socket>();
  const server = createServer((wire) => {
    connections++;
    wires.add(wire);
    wire.on('error', () => {});
    let rest = '';
    wire.setEncoding('utf8').on('data', (text: string) => {
      const { commands, left } = readCommands(rest + text);
      rest = left;
      for (const [name = ''] of commands) {
        const info = 'loading:0\r\nredis_version:6.2.14';
        const line = name === 'info' ? `$${info.length}\r\n${info}` : (answer(name) ?? '+OK');
        wire.write(`${line}\r\n`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `redis://127.0.0.1:${port}`,
    connections: () => connections,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const wire of wires) wire.destroy();
      }),
  };
}

/** Whole commands of a RESP stream, in lower case, ASCII only. */
function readCommands(text: string): { commands: string[][]; left: string } {
  const commands: string[][] = [];
  let at = 0;
  const line = (from: number): number | undefined => {
    const end = text.indexOf('\r\n', from);
    return end < 0 ? undefined : end;
  };
  for (;;) {
    const end = line(at);
    if (end === undefined) break;
    let next = end + 2;
    const words: string[] = [];
    for (let left = Number(text.slice(at + 1, end)); left > 0; left--) {
      const head = line(next);
      if (head === undefined) return { commands, left: text.slice(at) };
      const size = Number(text.slice(next + 1, head));
      if (text.length < head + size + 4) return { commands, left: text.slice(at) };
      words.push(text.slice(head + 2, head + 2 + size).toLowerCase());
      next = head + size + 4;
    }
    commands.push(words);
    at = next;
  }
  return { commands, left: text.slice(at) };
}
