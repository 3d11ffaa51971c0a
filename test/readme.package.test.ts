// What the README says is true: its paths exist, its commands run, the first dial answers as printed.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { walk } from './guides/walk.ts';
import { withServer } from './server/support/serve.ts';
import { builtFile } from './support/build.ts';
import { skipWithout } from './support/on-path.ts';
import { withFolder } from './support/process.ts';

const test = suite('README');

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

const blocks = (language: string) =>
  [...README.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map((match) => match[1]!);

test('every path in it exists', () => {
  const named = README.matchAll(/`((?:lib|server|machines|menus|test)\/[^`\s<]*)`|\]\((?!https?:)([^)#\s]+)/g);
  const paths = [...named].map((match) => match[1] ?? match[2]!);
  assert.ok(paths.length > 10);
  const missing = paths.filter((path) => !existsSync(join(ROOT, path.replace(/\*.*$/, ''))));
  assert.equal(missing, []);
});

test('every path in the pages for contributors exists', () => {
  for (const page of ['.github/CONTRIBUTING.md', '.github/SECURITY.md']) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const named = text.matchAll(/`((?:lib|server|machines|menus|test)\/[^`\s<]*)`|\]\((?!https?:)([^)#\s]+)/g);
    const missing = [...named].filter(([, path, link]) => !existsSync(join(ROOT, path ?? join('.github', link!))));
    assert.equal(
      missing.map(([whole]) => whole),
      [],
      page,
    );
  }
});

test('every npm command in it has its script', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const named = [...README.matchAll(/npm (?:run )?(start|test|verify|bench|[a-z]+:[a-z]+)/g)].map((match) => match[1]!);
  assert.ok(named.includes('start') && named.includes('test'));
  assert.equal(
    named.filter((name) => !(name in scripts)),
    [],
  );
});

test('npm start ends in a server that answers the printed curl with the main menu, as the README shows', () =>
  withFolder(async (folder) => {
    const curl = blocks('sh')
      .find((block) => block.startsWith('curl '))!
      .trim();
    const shown = blocks('text').find((block) => block.startsWith('CON '))!;
    const env = { ...process.env, PORT: '0', DATA_DIR: join(folder, 'data'), NODE_ENV: 'development' };
    const child = spawn('npm', ['start'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = new Promise((resolve) => child.on('exit', resolve));
    try {
      const printed = await lineWith(child.stdout, 'curl ');
      const url = /http:\/\/[\w.:]+/.exec(printed)![0];
      assert.is(printed.trim().replace(url, 'http://127.0.0.1:3000'), curl, 'the printed line is the README’s');
      skipWithout(['curl']);
      const answer = execFileSync('sh', ['-c', printed.trim()], { encoding: 'utf8' });
      assert.is(answer, shown.trimEnd());
    } finally {
      child.kill('SIGTERM');
      await exited;
    }
  }));

test('every other command in it runs as it is written, beside a server', () =>
  withFolder((folder) =>
    withServer({ env: { DATA_DIR: ':memory:' } }, async (server) => {
      skipWithout(['curl']);
      cpSync(join(ROOT, 'menus'), join(folder, 'menus'), { recursive: true });
      // As npx does, which would look for the package first.
      const cli = await builtFile('server/cli/main.ts');
      writeFileSync(join(folder, 'npx'), `#!/bin/sh\nshift\nexec ${process.execPath} ${cli} "$@"\n`, { mode: 0o755 });
      const port = new URL(server.url).port;
      const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder, PORT: port };
      const commands = blocks('sh')
        .flatMap((block) => block.trim().split('\n'))
        .filter((line) => !line.startsWith('npm '))
        .map((line) =>
          line.replace('<the key that npm start prints>', server.developmentKey!).replaceAll(':3000', `:${port}`),
        );
      assert.ok(commands.length > 8, String(commands.length));
      for (const command of commands) {
        const child = spawn('sh', ['-c', `exec ${command}`], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
        const ended = once(child, 'close');
        let said = '';
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
        // The inspector goes on until it is stopped.
        if (/\binspect\b/.test(command)) {
          await lineWith(child.stdout, 'Inspector: http');
          child.kill('SIGTERM');
        }
        const [code] = await ended;
        assert.ok(code === 0 || code === null, `${command}: ${code}\n${said}`);
        assert.not.match(said, /"error"/, command);
      }
    }),
  ));

test('npm ci takes each locked package on this Node, where no engine refuses it', () => {
  const args = ['ci', '--dry-run', '--engine-strict', '--ignore-scripts', '--no-audit'];
  execFileSync('npm', args, { cwd: ROOT, stdio: 'pipe' });
});

test('the lines of code that use the package run, and print the second screen', () => {
  const [code] = blocks('js');
  const flow = readFileSync(join(ROOT, 'menus/main.flow.json'), 'utf8');
  return walk([
    { kind: 'write', file: 'menus/main.flow.json', pointer: '', text: flow },
    { kind: 'write', file: 'app.mjs', pointer: '', text: code! },
    { kind: 'run', text: 'node app.mjs', prints: 'Know more\n1. What Twinline does\n…' },
  ]);
});

function lineWith(stream: NodeJS.ReadableStream, word: string): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk) => {
      text += chunk;
      const line = text.split('\n').find((part, at, all) => part.includes(word) && at < all.length - 1);
      if (line) resolve(line);
    });
    stream.on('end', () => reject(new Error(`the output ended without "${word}":\n${text}`)));
  });
}

test.run();
