// Every dialect against the contract of adapters, each with its recorded dialogue and a client that reads its answers.

import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import { adapterChecks } from '../../lib/testing/adapter.ts';
import type { RecordedDialogue } from '../../lib/testing/recorded.ts';
import { type AdapterName, createAdapters } from '../../lib/ussd/adapters.ts';
import { TELECOM_DIALECTS } from '../../lib/ussd/telecoms.ts';

function readDialogue(name: string): RecordedDialogue {
  return JSON.parse(readFileSync(new URL(`../conversations/adapters/${name}.json`, import.meta.url), 'utf8'));
}

for (const [name, adapter] of Object.entries(createAdapters('cumulative'))) {
  const test = suite(`adapter ${name}`);
  const client = TELECOM_DIALECTS[name as AdapterName].read;
  for (const { name: promise, run } of adapterChecks(adapter, { dialogue: readDialogue(name), client }))
    test(promise, run);
  test.run();
}
