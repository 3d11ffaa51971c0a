// Flows that tests walk, as files: test/fixtures/flows.

import { readFileSync } from 'node:fs';
import type { Flow } from '../../lib/flow/format/flow.ts';

export const flowFixture = (name: string): Flow =>
  JSON.parse(readFileSync(new URL(`../fixtures/flows/${name}.flow.json`, import.meta.url), 'utf8'));
