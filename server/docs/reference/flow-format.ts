// /docs/flow-format: every key of a flow file, and each type of screen as it is in the worked example.

import type { Flow, Screen } from '../../../lib/flow/format/flow.ts';
import { capitalize } from '../../../lib/flow/format/problem.ts';
import { FLOW_SCHEMA, screenTypes } from '../../../lib/flow/format/schema.ts';
import { ID_CHECKS } from '../../../lib/flow/run/id-checks.ts';
import { html, type Markup } from '../../../lib/markup.ts';
import { formatCode, jsonBlock, keyBlock, phoneBlock } from './code.ts';
import { once, type Reference, type ReferenceEntry, type Section } from './frame.ts';
import { type SchemaPages, schemaSection } from './schema-keys.ts';
import { exampleFlows, exampleTests } from './test-files.ts';

const PARTS = {
  option: 'Option',
  way: 'Way',
  ways: 'Ways',
  accept: 'Accept',
  range: 'Range',
  variable: 'Variable',
  text: 'Text',
  values: 'Values',
  migration: 'Migration',
} as const;

export const flowFormat: Reference = {
  path: '/docs/flow-format',
  title: 'Flow format',
  about: 'every key of a flow file, with examples',
  lead: html`<p class="lead">${formatCode(FLOW_SCHEMA.description!)}</p>
<p>A flow is a file <code>&lt;name&gt;.flow.json</code> in <code>MENUS_DIR</code>; its <a href="/docs/test-files">tests</a> stand beside
it in <code>&lt;name&gt;.test.json</code>. With <code>"$schema": "./flow.schema.json"</code> an editor completes and explains all of
this. Conditions and placeholders are in <a href="/docs/expressions">expressions and filters</a>, what can be called in
<a href="/docs/services">services</a>. How it is used: <a href="/docs/guides/menus">Writing menus</a>.</p>
<p>The screens shown here are those of one flow, which is <a href="/docs/test-files#worked-example">a whole with its tests</a>.</p>`,
  sections: once(listSections),
};

function listSections(): Section[] {
  const schema = FLOW_SCHEMA;
  const types = screenTypes();
  const pages: SchemaPages = {
    schema,
    anchors: Object.fromEntries([
      ...Object.keys(PARTS).map((name) => [name, name]),
      ...types.map((type) => [type, `screen-${type}`]),
    ]),
  };
  const section = (id: string, title: string, name: string) =>
    schemaSection({ id, title, part: schema.definitions![name]! }, pages);
  return [
    withLead(schemaSection({ id: 'flow', title: 'The file', part: schema }, pages), jsonBlock(exampleFlows()[0])),
    ...types.map((type) =>
      withLead(section(`screen-${type}`, `Screen: ${type}`, type), screenExample(type as Screen['type'])),
    ),
    ...Object.entries(PARTS).map(([name, title]) => section(name, title, name)),
    checkSection(),
  ];
}

const withLead = (section: Section, more: Markup): Section => ({ ...section, lead: html`${section.lead}${more}` });

/** A screen of this type in the worked example, and what the caller reads there, where there is something to read. */
function screenExample(type: Screen['type']): Markup {
  const { screen, shown } = findScreen(type);
  return html`<div class="beside">${keyBlock(...screen)}${shown !== undefined && phoneBlock(shown)}</div>`;
}

/** Rather one that a test shows whole. */
export function findScreen(type: Screen['type']): { screen: [id: string, screen: Screen]; shown?: string } {
  const { flow, screens } = exampleFlows()[1]!;
  const steps = exampleTests()
    .filter((file) => file.flow === flow)
    .flatMap(({ tests }) => tests.flatMap((one) => one.steps));
  const whole = steps.find(({ screen = '', text }) => text !== undefined && screens[screen]?.type === type);
  if (whole) return { screen: [whole.screen!, screens[whole.screen!]!], shown: whole.text! };
  return { screen: Object.entries(screens as Flow['screens']).find(([, one]) => one.type === type)! };
}

function checkSection(): Section {
  const entries = Object.entries(ID_CHECKS).map(
    ([name, { about, example }]): ReferenceEntry => ({
      id: `check-${name}`,
      name,
      body: html`<p>${capitalize(about)}. Such as <code>${example}</code>.</p>`,
    }),
  );
  const lead = html`<p>What <a href="#accept-check"><code>accept.check</code></a> can be. Spaces, dots and dashes count for nothing, and small letters are as good as capitals.</p>`;
  return { id: 'checks', title: 'Checks of numbers', lead, groups: [{ entries }] };
}
