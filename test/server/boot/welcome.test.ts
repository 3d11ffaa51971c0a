// What a start prints: where things are, and what settings have brought in.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { welcome } from '../../../server/boot/welcome.ts';
import { requireConfig } from '../../../server/config/config.ts';

const test = suite('welcome');

const URL = 'http://127.0.0.1:3000';

function print(env: NodeJS.ProcessEnv, paths: readonly string[] = []): string {
  const routes = ['/api/ussd', '/api/ussd/hubtel', '/api/ussd/sessions', ...paths].map((path) => ({
    method: 'POST',
    path,
  }));
  const survives = 'lost when the process that holds them ends';
  const place = {
    keeps: 'logs',
    program: 'files',
    place: 'given by the program',
    durability: 'memory',
    survives,
  } as const;
  const server = {
    url: URL,
    metricsUrl: undefined,
    developmentKey: undefined,
    routes,
    publicRoutes: [],
    places: [place],
  };
  return welcome(requireConfig({ DATA_DIR: ':memory:', ...env }), server).join('\n');
}

test('dialects of modules are named with their addresses, and so is each module of a setting', () => {
  const modules = {
    ADAPTERS: './zed.mjs',
    SERVICES: './bills.mjs,./tea.mjs',
    PLUGINS: 'credits',
    LINT_RULES: './calm.mjs',
  };
  const text = print(modules, ['/api/ussd/zed/talk/:id', '/api/ussd/zed/talk/:id']);
  assert.is(text.match(/own dialect/g)?.length, 1);
  for (const line of [
    /^ {2}own dialect {4}http:\/\/127\.0\.0\.1:3000\/api\/ussd\/zed\/talk\/:id$/m,
    /^ {2}adapters {7}\.\/zed\.mjs$/m,
    /^ {2}services {7}\.\/bills\.mjs, \.\/tea\.mjs$/m,
    /^ {2}plugins {8}credits$/m,
    /^ {2}lint rules {5}\.\/calm\.mjs$/m,
    /^ {2}logs in {8}files, given by the program: lost/m,
  ])
    assert.match(text, line);
});

test('without any there is no line about them', () => {
  assert.not.match(print({}), /own dialect|adapters|services|plugins|lint rules/);
});

test.run();
