// What `npm start` does with signals. npm puts a shell between itself and the server, and passes signals to that shell.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { manifest, ROOT } from './manifest.ts';

const test = suite('npm start');

test('a SIGTERM reaches the server instead of leaving it behind without its shell', async () => {
  // `exec` gives the shell's place to node; cmd.exe of Windows knows no exec and takes what follows the `||`.
  const script = manifest.scripts.start!.replaceAll('dist/server/main.js', 'test/fixtures/package/server.mjs');
  const shell = spawn('sh', ['-c', script], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  try {
    let said = '';
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (!said) shell.kill('SIGTERM');
      said += text;
    });
    const [code] = await once(shell, 'exit');
    assert.is(code, 0);
    assert.is(said, 'up\nstopped in order\n');
  } finally {
    endGroup(shell.pid!);
  }
});

test.run();

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // All of its processes have ended.
  }
}
