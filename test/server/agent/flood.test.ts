// Broken and hostile tokens thrown at a server: none gets in, and whoever asks for its health has an answer meanwhile.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BOMBS } from '../../delegation/hostile-bombs.ts';
import { diceOf, isSame, MUTATIONS } from '../../delegation/mutate.ts';
import { chooseSize } from '../../support/size.ts';
import { newUser, ORACLE_KEY } from '../plugins/users.ts';
import { withServer } from '../support/serve.ts';

const test = suite('a flood of tokens');

const TOKENS = chooseSize({ short: 300, day: 1_500, whole: 1_500 });
const THROWERS = 16;
/** How many tokens may be refused while one question for the health waits: a few from each thrower. */
const AT_MOST = 10 * THROWERS;
const SEED = 20_261_122;

type Headers = Readonly<Record<string, string>>;

const asInvocation = (token: string): Headers => ({ authorization: `Bearer ${token}`, 'x-auth-type': 'ucan' });
const asDelegation = (token: string): Headers => ({ 'x-ucan-delegation': token });

/** A request that can be sent: no letters that Node would not let into a header, and not more than a server reads. */
const canBeSent = (token: string) => /^[\t\x20-\x7e\x80-\xff]+$/.test(token) && token.length < 15_000;

interface Throw {
  readonly name: string;
  readonly headers: Headers;
  /** It is another writing of a good token. */
  readonly isGood: boolean;
}

/** As many bombs as broken tokens, in turn. */
async function throwsOf(good: string): Promise<Throw[]> {
  const names = Object.keys(MUTATIONS);
  const broken = Array.from({ length: TOKENS }, (_, at): Throw & { token: string } => {
    const dice = diceOf(SEED + at);
    const name = names[at % names.length]!;
    const token = MUTATIONS[name]!(good, dice).trim();
    const headers = dice(2) ? asInvocation(token) : asDelegation(token);
    return { name: `${name}, seed ${SEED + at}`, token, headers, isGood: isSame(token, good) };
  });
  const bombs = await Promise.all(
    BOMBS.map(async ({ name, token }) => ({ name, token: await token(), isGood: false })),
  );
  const each = bombs.flatMap(({ token, ...bomb }) => [
    { ...bomb, token, headers: asInvocation(token) },
    { ...bomb, token, headers: asDelegation(token) },
  ]);
  return broken.flatMap((one, at) => [one, each[at % each.length]!]).filter(({ token }) => canBeSent(token));
}

test('broken tokens by the thousand: none gets in, and health is told all the while', () =>
  withServer({ env: { ORACLE_KEY } }, async ({ ask }) => {
    const flood = await throwsOf((await newUser()).token);
    let [next, refused, isOver] = [0, 0, false];
    const throwAll = async () => {
      while (next < flood.length) {
        const { name, headers, isGood } = flood[next++]!;
        const { status, text } = await ask('/sessions', { headers });
        if (status === 401) refused++;
        assert.ok(isGood || status === 401 || status === 400, `${name}: ${status} ${text}`);
      }
    };
    const waits: number[] = [];
    const watch = async () => {
      while (!isOver) {
        const before = next;
        assert.is((await ask('/health')).status, 200);
        waits.push(next - before);
      }
    };
    const flooding = Promise.all(Array.from({ length: THROWERS }, throwAll)).finally(() => {
      isOver = true;
    });
    await Promise.all([flooding, watch()]);
    assert.ok(refused > TOKENS, `${refused} were refused`);
    assert.ok(waits.length > 2 && Math.max(...waits) <= AT_MOST, `refused while health was asked for: ${waits}`);
  }));

test.run();
