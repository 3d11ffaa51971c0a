// /docs/test-files: every key of a test file, how screens of called flows are named, and a whole flow with its tests.

import type { Flow, FlowScreen } from '../../../lib/flow/format/flow.ts';
import { FLOW_SCHEMA, FLOW_TEST_SCHEMA } from '../../../lib/flow/format/schema.ts';
import { formatFile } from '../../../lib/flow/format/write.ts';
import type { FlowTestFile } from '../../../lib/flow/testing/file.ts';
import type { Json } from '../../../lib/json/json.ts';
import { html, type Markup } from '../../../lib/markup.ts';
import { fileBlock, formatCode, keyBlock } from './code.ts';
import { once, type Reference, type Section } from './frame.ts';
import { type SchemaPages, schemaSection } from './schema-keys.ts';

const PARTS = { test: 'A test', step: 'A step', answer: 'An answer of a service' } as const;

export const testFiles: Reference = {
  path: '/docs/test-files',
  title: 'Test files',
  about: 'every key of the tests beside a flow, and a whole example',
  lead: html`<p class="lead">${formatCode(FLOW_TEST_SCHEMA.description!)}</p>
<p>The tests of <code>harvest.flow.json</code> are <code>harvest.test.json</code> beside it; <code>npx twinline test</code> runs them. What is
not named is not compared: a step may say the whole <code>text</code>, parts of it, or only the screen.</p>`,
  sections: once(listSections),
};

function listSections(): Section[] {
  const schema = FLOW_TEST_SCHEMA;
  const pages: SchemaPages = { schema, anchors: Object.fromEntries(Object.keys(PARTS).map((name) => [name, name])) };
  return [
    schemaSection({ id: 'file', title: 'The file', part: schema }, pages),
    ...Object.entries(PARTS).map(([name, title]) =>
      schemaSection({ id: name, title, part: schema.definitions![name]! }, pages),
    ),
    { id: 'called-flows', title: 'Screens of called flows', lead: showCalledFlows(), groups: [] },
    { id: 'worked-example', title: 'A flow and its tests', lead: showExample(), groups: [] },
  ];
}

// The screen of the worked example that calls the other flow, and a step that stands inside.
function showCalledFlows(): Markup {
  const [, caller] = exampleFlows();
  const [id, screen] = Object.entries(caller!.screens).find(([, { type }]) => type === 'flow')! as [string, FlowScreen];
  const inside = exampleTests()[0]!
    .tests.flatMap(({ steps }) => steps)
    .find((step) => step.screen?.startsWith(`${screen.flow}.`))!;
  const [, name] = inside.screen!.split('.');
  return html`<p>While a called flow runs, a screen is the name of that flow, a dot, and its own id, from wherever the flow was called. Here
the screen <code>${id}</code> calls the flow <code>${screen.flow}</code>:</p>
${keyBlock(id, screen)}
<p>Its screen <code>${name!}</code> is <code>${inside.screen!}</code> in a test:</p>
${keyBlock('steps', [inside])}
<p><code>given</code> sets variables of the tested flow only; those of a called
flow come from <code>with</code>.</p>`;
}

function showExample(): Markup {
  const [, ...flows] = exampleFlows();
  const file = (name: string, value: unknown) => fileBlock(name, formatFile(value as Json));
  return html`<p>A farmer dials, logs in and sells. The screens and tests of these references are from here.</p>
${flows.map((flow) => file(`${flow.flow}.flow.json`, flow))}
${exampleTests().map((tests) => file(`${tests.flow}.test.json`, tests))}`;
}

/** The smallest flow, one with every type of screen, and the one that it calls. */
export function exampleFlows(): readonly Flow[] {
  return (FLOW_SCHEMA.examples ?? []) as readonly Flow[];
}

/** The tests of the second. */
export function exampleTests(): readonly FlowTestFile[] {
  return (FLOW_TEST_SCHEMA.examples ?? []) as readonly FlowTestFile[];
}
