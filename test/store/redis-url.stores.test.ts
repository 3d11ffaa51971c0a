// Redis URLs: every form is read, no other, and a password is never shown.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isRedisUrl, parseRedisUrl, type RedisAddress } from '../../lib/store/redis/url.ts';
import { refuses } from '../../lib/testing/sessions/bench.ts';

const READ: readonly [string, Omit<RedisAddress, 'name'>, string?][] = [
  ['redis://h', { kind: 'single', nodes: [{ host: 'h', port: 6379 }], db: 0, tls: false }],
  ['rediss://h:7/', { kind: 'single', nodes: [{ host: 'h', port: 7 }], db: 0, tls: true }],
  ['redis://[::1]:7/12', { kind: 'single', nodes: [{ host: '::1', port: 7 }], db: 12, tls: false }],
  [
    'redis://app:p%40ss:w%2Frd@h/1',
    { kind: 'single', nodes: [{ host: 'h', port: 6379 }], user: 'app', password: 'p@ss:w/rd', db: 1, tls: false },
    'redis://app:****@h/1',
  ],
  [
    'redis://:canary@h',
    { kind: 'single', nodes: [{ host: 'h', port: 6379 }], password: 'canary', db: 0, tls: false },
    'redis://:****@h',
  ],
  [
    'redis://canary@h',
    { kind: 'single', nodes: [{ host: 'h', port: 6379 }], password: 'canary', db: 0, tls: false },
    'redis://:****@h',
  ],
  [
    'rediss+cluster://a:1,b,[::1]:3',
    {
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 6379 },
        { host: '::1', port: 3 },
      ],
      db: 0,
      tls: true,
    },
  ],
  [
    'redis+sentinel://u:canary@a:1,b/my-master/2',
    {
      kind: 'sentinel',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 26379 },
      ],
      master: 'my-master',
      user: 'u',
      password: 'canary',
      db: 2,
      tls: false,
    },
    'redis+sentinel://u:****@a:1,b/my-master/2',
  ],
];

const REFUSED = [
  '',
  'h:6379',
  'http://canary@h',
  'redis:h',
  'redis://',
  'redis://canary@',
  'redis://h:0',
  'redis://h:65536',
  'redis://h:canary',
  'redis://h/canary',
  'redis://h/1/2',
  'redis://a,b',
  'redis://h?canary=1',
  'redis://u:can/ary@h',
  'redis://u:can@ary@h',
  'redis://u:%canary@h',
  'redis+cluster://a,b/1',
  'redis+cluster://a,,b',
  'redis+sentinel://a,b',
  'redis+sentinel://a,b/m/2/3',
  'redis+unix://h',
  'redis://h h',
];

const test = suite('Redis URLs');

for (const [text, parts, name = text] of READ)
  test(`${name} is read`, () => {
    assert.equal(parseRedisUrl(text), { ...parts, name });
    assert.ok(isRedisUrl(text));
    assert.not.match(name, /canary/);
  });

test('what is no Redis URL is refused without being quoted', async () => {
  for (const text of REFUSED) {
    assert.not(isRedisUrl(text), text);
    const error = await refuses('ERR_CONFIG', () => parseRedisUrl(text));
    assert.not.match(`${error.stack}`, /canary|can\/ary|can@ary/);
  }
});

test.run();
