// The guide's chat with the agent runs as it is printed: a reply, a stream that is cut, and the rest of it.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { twinline } from '../../server/cli/main.ts';
import { withServer } from '../server/support/serve.ts';
import { programsOf, skipWithout } from '../support/on-path.ts';

const test = suite('guide to the agent service');
const GUIDE = readFileSync(fileURLToPath(new URL('../../server/docs/guides/agent.md', import.meta.url)), 'utf8');

test('a reply, a stream that is cut, and the rest of it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-guide-'));
  const env = { DATA_DIR: join(folder, 'data') };
  const say = console.log;
  const printed: string[] = [];
  try {
    await withServer({ env }, async ({ url }) => {
      console.log = (line: string) => void printed.push(line);
      assert.is(await twinline(['token'], env), 0);
      console.log = say;
      const script = /^```sh elsewhere\n(API=.*npx twinline token[\s\S]*?)^```/m.exec(GUIDE)![1]!;
      const [, ...rest] = script.split('\n');
      skipWithout(programsOf(script));
      const run = [`API=${url} TOKEN=${printed[0]}`, ...rest].join('\n');
      const { stdout } = await promisify(execFile)('sh', ['-euc', run], { cwd: folder });
      assert.match(stdout, /"message":\{"type":"ai"/);
      const frames = stdout.slice(stdout.indexOf('event: run'));
      const ids = [...frames.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
      assert.equal(
        ids,
        ids.map((_, at) => at + 1),
      );
      assert.match(frames, /event: done\nid: \d+\ndata: .*"status":"finished"/);
    });
  } finally {
    console.log = say;
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();
