// The unit for systemd, as systemd's own checks see it; and what it starts is in the package.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { longestStopMs } from '../../server/boot/process.ts';
import { readConfig } from '../../server/config/config.ts';
import { EXIT_CONFIG } from '../../server/http/errors.ts';
import { skipWithout } from '../support/on-path.ts';
import { withFolder } from '../support/process.ts';
import { KEYS } from './keys.ts';
import { manifest, ROOT } from './manifest.ts';

const test = suite('systemd');

const unit = readFileSync(join(ROOT, 'server/deploy/twinline.service'), 'utf8');
const values = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!);
/** The least exposed that systemd knows is 0, the most 100. */
const EXPOSURE_MAX = 15;

/** Runs systemd-analyze on the unit, with the Node that is here. */
function analyze(
  args: readonly string[],
  text = unit,
): Promise<{ readonly status: number | null; readonly said: string }> {
  return withFolder(async (folder) => {
    const file = join(folder, 'twinline.service');
    writeFileSync(file, text.replace('/usr/bin/node', process.execPath));
    const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' });
    return { status, said: stdout + stderr };
  });
}

test('systemd understands every line', async () => {
  skipWithout(['systemd-analyze']);
  assert.equal(await analyze(['verify', '--man=no']), { status: 0, said: '' });
  assert.match((await analyze(['verify', '--man=no'], unit.replace('LimitNOFILE', 'LimitFiles'))).said, /LimitFiles/);
});

test(`its exposure is ${EXPOSURE_MAX / 10} of 10 at most`, async () => {
  skipWithout(['systemd-analyze']);
  const security = ['security', '--offline=true', '--no-pager', `--threshold=${EXPOSURE_MAX}`];
  const { status, said } = await analyze(security);
  assert.is(status, 0, said);
  assert.is.not((await analyze(security, unit.replace('DynamicUser=yes', 'User=root'))).status, 0);
});

test('it starts the command of the package, with settings that are valid', () => {
  const [start] = values('ExecStart');
  const [, script, verb] = start!.split(' ');
  assert.is(script, `node_modules/twinline/${manifest.bin!.twinline}`);
  assert.is(verb, 'start');
  const given = values('Environment').join(' ').replace('%S', '/var/lib').split(' ');
  const env = Object.fromEntries(given.map((pair) => pair.split('='))) as Record<string, string>;
  const { config, problems } = readConfig({ ...env, ...KEYS });
  assert.equal(problems, []);
  assert.ok(Number(values('TimeoutStopSec')[0]) * 1_000 > longestStopMs(config!), 'it may drain');
  assert.equal(values('RestartPreventExitStatus'), [String(EXIT_CONFIG)]);
  assert.is(env.DATA_DIR, `/var/lib/${values('StateDirectory')[0]}`, 'the only folder that it may write to');
});

test.run();
