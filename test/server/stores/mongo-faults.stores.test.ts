// Words of MongoDB about PIN checks that are lost: checks fail closed, and no guess is free. All other faults are
// played in test/server/faults.

import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ACCOUNT_LIMITS } from '../../../lib/account/limits.ts';
import { ACCOUNT_KINDS, ACCOUNTS, type Account } from '../../../lib/account/records.ts';
import { mongoDocuments } from '../../../lib/store/mongo/index.ts';
import { type FaultProxy, faultProxy, PASS } from '../../support/fault-proxy.ts';
import { type MongoServer, startMongo } from '../../support/mongo-server.ts';
import { withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { LOGIN, pastWaiting } from '../support/login.ts';
import { json, type Served, withServer } from '../support/serve.ts';

/** Words that never come are waited for. */
export const runs = 'waits';

const test = suite('MongoDB faults');

const DEADLINE_MS = 1_200;
const PIN = '83519';
const WRONG = '47026';
const phone = '+260971230001';

let mongo: MongoServer;
let proxy: FaultProxy;

test.before(async () => {
  mongo = await startMongo();
  proxy = await faultProxy({ port: Number(new URL(mongo.url).port) });
});

test.after.each(() => proxy.set(PASS));

test.after(async () => {
  await proxy?.close();
  await mongo?.stop();
});

interface Dialled {
  readonly text: string;
  /** Sends the same text with more behind it. */
  say(more: string): Promise<string>;
}

interface Bench {
  readonly server: Served;
  /** Dials and types the PIN; the answer. */
  login(pin: string): Promise<string>;
  /** The same, going on until the check is over; the last answer. */
  outcome(pin: string): Promise<string>;
  /** The failures that are stored of the account, read past the proxy. */
  countFailures(): Promise<number>;
}

function withAccount(work: (bench: Bench) => Promise<void>): Promise<void> {
  const database = `faults-${randomBytes(4).toString('hex')}`;
  return withFolder(async (folder) => {
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(LOGIN));
    const env = {
      // Directly, or the driver would go around the proxy.
      MONGODB_URL: `mongodb://127.0.0.1:${proxy.port}/${database}?directConnection=true`,
      USSD_TURN_DEADLINE_MS: String(DEADLINE_MS),
      MENUS_DIR: folder,
      LOG_LEVEL: 'warn',
    };
    try {
      await withServer({ env }, async (server) => {
        let calls = 0;
        const dial = async (choice: string, pin: string): Promise<Dialled> => {
          const fields = { sessionId: `call-${calls++}`, serviceCode: '*2233#', phoneNumber: phone };
          for (const text of ['', choice]) await server.ussd({ ...fields, text });
          const typed = `${choice}*${pin}`;
          const { status, text } = await server.ask('/api/ussd', json({ ...fields, text: typed }));
          assert.is(status, 200);
          return { text, say: (more) => server.ussd({ ...fields, text: typed + more }) };
        };
        const outcome = async (choice: string, pin: string) => {
          const { text, say } = await dial(choice, pin);
          return pastWaiting(text, say);
        };
        assert.is(await outcome('1', PIN), 'END Made');
        const documents = mongoDocuments({
          url: `mongodb://127.0.0.1:${new URL(mongo.url).port}/${database}?directConnection=true`,
        });
        const countFailures = async () => {
          await documents.declare(ACCOUNT_KINDS);
          return (await documents.find<Account>(ACCOUNTS)).items[0]!.body.attempts.failures.length;
        };
        const login = async (pin: string) => (await dial('2', pin)).text;
        await work({ server, login, outcome: (pin) => outcome('2', pin), countFailures }).finally(documents.close);
      });
    } finally {
      const client = new MongoClient(mongo.url);
      await client.db(database).dropDatabase();
      await client.close();
    }
  });
}

// What a caller may hear while a PIN cannot be checked; and nobody is let in, nor told whether it was right.
const NOT_CHECKED = /^(END Trouble|CON Please wait\.\n1\. Continue|END Service temporarily unavailable\..*)$/;

const WRITES = /update[^a-z]/;

for (const after of ['close', 'stall'] as const)
  test(`lost acknowledgements (${after}) give no guess for free: what was counted stays counted`, () =>
    withAccount(async ({ server, login, outcome, countFailures }) => {
      await proxy.set({ kind: 'lose-reply', to: WRITES, after });
      // On a busy machine a try may be answered before it is counted, so what MongoDB has counted decides.
      let tries = 0;
      await until('as many counted tries as lock', async () => {
        assert.match(await login(++tries === 2 ? PIN : WRONG), NOT_CHECKED);
        return (await countFailures()) >= ACCOUNT_LIMITS.pinFailuresToLock;
      });
      assert.ok(proxy.lost > 0);
      await proxy.set(PASS);
      await until('the server to be ready', async () => (await server.ask('/readyz')).status === 200);
      // Closed rather than open: tries whose check never came count like failures.
      assert.is(await outcome(PIN), 'END Locked');
    }));

test.run();
