// What stands below every durable turn: node:http that parses the request and makes one durable write (`lmdb`, `redis`), or reads the
// session first (`redis-read`).

import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import { open } from 'lmdb';

const REPLY = `CON ${'Welcome to the menu\n1. Know more\n2. Account\n*. Exit\n'.padEnd(116, '.')}`;
const HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'content-length': String(REPLY.length) };
const RECORD = 'x'.repeat(300);

const [kind, place] = process.argv.slice(2);
const WRITES = { lmdb: writeLmdb, redis: writeRedis, 'redis-read': readAndWriteRedis };
const write = await WRITES[kind](place);

async function writeLmdb(path) {
  const sessions = open({ path, encoding: 'string' });
  return async (key) => {
    await sessions.put(key, RECORD);
    await sessions.flushed;
  };
}

async function writeRedis(url) {
  const redis = new Redis(url);
  const hash = await redis.script('LOAD', `return redis.call('SET', KEYS[1], ARGV[1], 'EX', '3600')`);
  return (key) => redis.evalsha(hash, 1, key, RECORD);
}

async function readAndWriteRedis(url) {
  const redis = new Redis(url);
  const put = await writeRedis(url);
  return async (key) => {
    await redis.get(key);
    await put(key);
  };
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    await write(JSON.parse(Buffer.concat(chunks).toString()).sessionId);
    response.writeHead(200, HEADERS);
    response.end(REPLY);
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
