// Dialogues that are recorded without their secrets, and replayed on a later version: same, moved, different.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RecordedTurn } from '../../../lib/flow/testing/replay.ts';
import { lineInside, recorder } from '../../../server/cli/phone/line.ts';
import { ROOT } from '../../package/manifest.ts';
import { withFolder } from '../../support/process.ts';
import { run, withFiles } from '../support/command.ts';
import { inside, PHONE, piped } from './dialogue.ts';

const test = suite('replay');
const MENUS = join(ROOT, 'menus');

/** Records what is typed on the shipped main menu. */
async function record(file: string, typed: readonly string[]): Promise<RecordedTurn[]> {
  const recording = recorder(file);
  await inside(
    (host) => {
      const line = lineInside(host, { ...PHONE, flow: 'main' });
      return piped(recording.line(line, { host, phone: PHONE, flow: 'main' }), typed);
    },
    { services: recording.services },
  );
  recording.close();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((one) => JSON.parse(one) as RecordedTurn);
}

// An account is made with a PIN that is first too short, then repeated wrongly, then right; and used.
const WALK = ['2', '2', 'Ada Moyo', '837', '83719', '83718', '83719', '1', '83719', '1'];

test('a recording has every turn, what services said, and no secret; on the same version all of it is the same', () =>
  withFolder(async (folder) => {
    const file = join(folder, 'a.jsonl');
    const turns = await record(file, [...WALK, '/retry', '/new', '1', '*']);
    assert.not.match(readFileSync(file, 'utf8'), /8371|837"/);
    assert.equal(
      turns.map((turn) => turn.in),
      [
        ...['', '2', '2', 'Ada Moyo'],
        { secret: 1, fits: false },
        { secret: 2, fits: true },
        { secret: 3, fits: true },
        { secret: 2, fits: true },
        '1',
        { secret: 2, fits: true },
        ...['1', '', '1', '*'],
      ],
    );
    const [first] = turns;
    assert.equal([first!.phone, first!.state, first!.version], [PHONE.phoneNumber, 'preMenu', 1]);
    const calls = turns.flatMap(({ calls }) => calls.map(({ service }) => service));
    assert.equal(calls, ['account.create', 'account.verifyPin']);
    const { code, out } = await run(['replay', file, '--menus-dir', MENUS]);
    assert.is(code, 0, out);
    assert.match(out, /\(main, version 1 → 1\)/);
    assert.match(out, /^2 dialogues, 14 turns: 14 same, 0 moved, 0 different$/m);
    assert.not.match(out, /8371/);
  }));

test('on a later version: what callers see otherwise is shown as a difference, and a new name of a screen is none', () =>
  withFolder(async (folder) => {
    const file = join(folder, 'a.jsonl');
    await record(file, ['1', '1']);
    const flow = readFileSync(join(MENUS, 'main.flow.json'), 'utf8');
    const renamed = flow.replace(/"information"/g, '"infos"').replace('"version": 1', '"version": 2');
    writeFileSync(join(folder, 'main.flow.json'), renamed);
    const same = await run(['replay', file, '--flow', join(folder, 'main.flow.json')]);
    assert.is(same.code, 0, same.out);
    assert.match(same.out, /~ 2 {2}typed "1" {2}screen "information" is "infos" now\./);
    assert.match(same.out, /^1 dialogue, 3 turns: 2 same, 1 moved, 0 different$/m);
    writeFileSync(join(folder, 'main.flow.json'), renamed.replace('"Know more"', '"Learn more"'));
    const other = await run(['replay', file, '--menus-dir', folder, '--json']);
    assert.is(other.code, 1);
    const [{ version, turns }] = JSON.parse(other.out) as [
      { version: number; turns: { outcome: string; details: string[] }[] },
    ];
    assert.is(version, 2);
    assert.ok(
      turns.some(
        ({ outcome, details }) => outcome === 'different' && details.some((line) => /^\+ .*Learn more/.test(line)),
      ),
    );
  }));

test('a version that asks another service, or ends sooner, is different in words', () => {
  const flow = (screens: object) => ({ flow: 'ask', version: 2, start: 'first', keys: { exit: '*' }, screens });
  const first = { type: 'menu', text: 'Here', options: [{ id: 'on', text: 'On', to: 'next' }] };
  const bye = { type: 'end', text: 'Bye' };
  const turn = (number: number, fields: object) =>
    JSON.stringify({ session: 's', turn: number, flow: 'ask', version: 1, end: false, calls: [], ...fields });
  const recording = [
    turn(1, { in: '', text: 'Here\n1. On\n*. Exit', state: 'first' }),
    turn(2, { in: '1', text: 'There', state: 'next' }),
    turn(3, { in: '1', text: 'Bye', end: true }),
  ].join('\n');
  const call = { type: 'call', service: 'a.b', done: 'bye', fail: 'bye' };
  const files = { 'r.jsonl': recording, 'ask.flow.json': flow({ first, next: call, bye }) };
  return withFiles(files, async (folder) => {
    const { code, out } = await run(['replay', join(folder, 'r.jsonl'), '--menus-dir', folder]);
    assert.is(code, 1);
    assert.match(out, /✘ 2 {2}typed "1" {2}Screen "next" calls "a\.b" without input, and then nothing answered that\./);
    assert.match(out, /✘ 3 .*the dialogue is over already/);
  });
});

test('dialogues of tests are replayed too', async () => {
  const { code, out } = await run(['replay', join(MENUS, 'main.test.json'), '--menus-dir', MENUS]);
  assert.is(code, 0, out);
  assert.match(out, /^\d+ dialogues, \d+ turns: \d+ same, 0 moved, 0 different$/m);
});

test('what cannot be replayed is told: no recording, a broken line, an unknown flow', () =>
  withFiles({ 'bad.jsonl': '{"session":"s"}\n', 'skips.jsonl': '', 'cut.jsonl': '{"sess' }, async (folder) => {
    assert.is((await run(['replay'])).code, 2);
    assert.is((await run(['replay', join(folder, 'none.jsonl')])).code, 2);
    for (const [name, words] of [
      ['bad', /bad\.jsonl:1: "turn" is missing/],
      ['skips', /it is empty/],
      ['cut', /cut\.jsonl:1: it is not JSON/],
    ] as const) {
      const { code, err } = await run(['replay', join(folder, `${name}.jsonl`), '--menus-dir', MENUS]);
      assert.is(code, 1, name);
      assert.match(err, words);
    }
    const unknown = await run(['replay', join(MENUS, 'main.test.json'), '--flow', 'mian', '--menus-dir', MENUS]);
    assert.is(unknown.code, 2);
    assert.match(unknown.err, /no sound flow "mian"\. Did you mean "main"\?/);
  }));

test.run();
