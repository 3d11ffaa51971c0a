// SVG and Mermaid: what stands in them, that no text breaks out of them, and that they are as strict as pages need.

import { parseXml, type XmlDocument, XmlElement } from '@rgrove/parse-xml';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { measureCard } from '../../lib/diagram/card.ts';
import type { Drawing, Placed } from '../../lib/diagram/drawing.ts';
import { flowDrawing } from '../../lib/diagram/flow-drawing.ts';
import { mermaidText } from '../../lib/diagram/mermaid.ts';
import { coverageOverlay, renderSvg } from '../../lib/diagram/svg.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { flowOf, menuTo } from '../flow/phone.ts';
import { everything } from './machines.ts';

const test = suite('diagram svg');

/** Everything one below the other: where things are is for the layout to decide. */
function stacked(drawing: Drawing): Placed {
  let y = 0;
  const boxes = new Map(
    drawing.states.map((state) => {
      const { width, height } = measureCard(state);
      y += height + 40;
      return [state.id, { x: 10, y, width, height }];
    }),
  );
  const label = { x: 0, y: 0, width: 50, height: 15 };
  const arrows = drawing.arrows.map(() => ({
    points: [
      { x: 0, y: 0 },
      { x: 0, y: 20 },
      { x: 30, y: 20 },
    ],
    label,
  }));
  return { drawing, width: 400, height: y, boxes, arrows };
}

function elements(within: XmlDocument | XmlElement, name: string, className: string): XmlElement[] {
  return within.children.flatMap((child) => {
    if (!(child instanceof XmlElement)) return [];
    const isOne = child.name === name && ` ${child.attributes.class} `.includes(` ${className} `);
    return [...(isOne ? [child] : []), ...elements(child, name, className)];
  });
}

const HOSTILE = '</title></svg><script>alert(1)</script> "\' & ]]> \u0000 \u202E';

const hostile = flowDrawing(
  compileFlow(
    flowOf(
      {
        a: { type: 'menu', text: HOSTILE, options: [{ id: 'on', text: HOSTILE, to: 'b' }] },
        b: { type: 'branch', branch: [{ when: `c == "</text><script>"`, to: 'a' }, { to: 'b' }] },
      },
      { vars: { c: { type: 'string' } } },
    ),
  ),
);

test('every state is a group with its path and kind, every arrow one with its ends and events', () => {
  const drawing = flowDrawing(everything);
  const xml = parseXml(renderSvg(stacked(drawing)));
  const states = elements(xml, 'g', 'state').map(({ attributes }) => [
    attributes['data-state'],
    attributes['data-kind'],
  ]);
  assert.equal(states.sort(), drawing.states.map(({ id, kind }) => [id, kind]).sort());
  const edges = elements(xml, 'g', 'edge').map(({ attributes: all }) => [
    all['data-from'],
    all['data-to'],
    all['data-events'],
  ]);
  assert.equal(edges.length, drawing.arrows.length);
  assert.ok(
    edges.some(([from, to, events]) => from === 'asks' && to === 'first' && events === 'xstate.done.actor.asks'),
  );
  for (const edge of elements(xml, 'g', 'edge')) {
    assert.is(elements(edge, 'path', 'track').length, 1);
    assert.is(elements(edge, 'text', 'label').length, 1);
  }
  assert.is(elements(xml, 'svg', 'drawing').length, 1);
  assert.match(xml.root!.attributes.viewBox!, /^0 0 \d/);
  assert.match(xml.root!.text, /Begins in first\. States: pay\., first/);
});

test('no text becomes markup, and what XML cannot say is replaced', () => {
  for (const dress of ['standalone', 'embedded'] as const) {
    const svg = renderSvg(stacked(hostile), { dress });
    assert.not.match(svg, /<script|<\/title><\/svg>/);
    assert.not.ok(svg.includes('\u0000'));
    assert.is(elements(parseXml(svg), 'g', 'state').length, hostile.states.length);
    assert.match(svg, /&lt;script&gt;/);
  }
});

test('no style and no script stands in attributes; for pages there is no sheet inside either', () => {
  const placed = stacked(flowDrawing(everything));
  assert.match(renderSvg(placed), /<style>[^<]*prefers-color-scheme: dark/);
  const embedded = renderSvg(placed, { dress: 'embedded' });
  assert.not.match(embedded, /<style|\sstyle=|\son\w+=|<script|https?:\/\/(?!www\.w3\.org\/2000\/svg")/);
});

test('counts show as heat, what was never reached as uncovered', () => {
  const drawing = flowDrawing(everything);
  const counts = new Map([
    ['first→pay', 900],
    ['first→rows', 30],
    ['rows→which', 0],
  ]);
  const covered = new Set(drawing.states.map(({ id }) => id).filter((id) => id !== 'lost'));
  const xml = parseXml(renderSvg(stacked(drawing), { counts, covered }));
  const edge = (from: string, to: string) =>
    elements(xml, 'g', 'edge').find(({ attributes: all }) => all['data-from'] === from && all['data-to'] === to)!
      .attributes;
  assert.equal([edge('first', 'pay').class, edge('first', 'pay')['data-count']], ['edge heat-5', '900']);
  assert.match(edge('first', 'rows').class!, /^edge heat-[1-4]$/);
  assert.is(edge('rows', 'which').class, 'edge heat-0');
  assert.is(edge('asks', 'first').class, 'edge');
  const missing = elements(xml, 'g', 'uncovered').map(({ attributes }) => attributes['data-state']);
  assert.equal(missing, ['lost']);
});

test('coverage marks screens and ways without a test, and leaves called flows to theirs', () => {
  const drawing = flowDrawing(everything);
  const missing = (...names: string[]) => ({ seen: 0, all: 0, missing: names });
  const coverage = {
    screens: missing('lost'),
    options: missing('lost.b', 'first.rows'),
    ways: missing('asks.fail[1]'),
  };
  const { covered, taken } = coverageOverlay(drawing, coverage);
  assert.equal(
    drawing.states.map(({ id }) => id).filter((id) => !covered!.has(id)),
    ['lost'],
  );
  const untaken = drawing.arrows.map(({ from, to }) => `${from}→${to}`).filter((key) => !taken!.has(key));
  assert.equal(untaken.sort(), ['asks→lost', 'first→rows', 'lost→bye']);
});

test('Mermaid text of a small flow', () => {
  const flow = flowOf(
    {
      welcome: {
        type: 'menu',
        text: 'Hi',
        options: [
          { id: 'pin', text: 'PIN', to: 'pin' },
          { id: 'note', text: 'Note', to: 'note' },
        ],
      },
      pin: { type: 'input', text: 'PIN', save: 'p', accept: { digits: 4 }, to: 'check' },
      check: {
        type: 'call',
        service: 'a.b',
        save: 'r',
        done: [{ when: "r.ok == 'yes'", to: 'bye' }, { to: 'welcome' }],
        fail: 'bye',
      },
      note: { type: 'menu', text: 'Note', options: [{ id: 'back', text: 'Back', to: 'welcome' }] },
      bye: { type: 'end', text: 'Bye' },
    },
    { vars: { p: { type: 'string', secret: true }, r: { type: 'object' } } },
  );
  assert.is(
    mermaidText(flowDrawing(compileFlow(flow))),
    `---
title: "Flow test, version 1"
---
stateDiagram-v2
  welcome
  [*] --> welcome
  pin
  check
  state "note" as s4
  bye
  bye --> [*]
  welcome --> pin: opt.pin
  welcome --> s4: opt.note
  pin --> check: text [valid]
  check --> bye: done [ok == 'yes'], fail
  check --> welcome: done
  s4 --> welcome: opt.back
`,
  );
});

test('Mermaid text holds no character that ends a name or a statement, and called flows are inside', () => {
  const lines = mermaidText(hostile).split('\n').slice(3);
  for (const line of lines) assert.not.match(line.replaceAll(/#\d+;/g, ''), /[<>;%](?!$)(?<!--|-->)/, line);
  const nested = mermaidText(flowDrawing(everything));
  assert.match(nested, / {2}state "pay" as s1\n {2}state s1 \{\n(?: {4}.*\n)+ {2}\}\n/);
  assert.match(mermaidText(flowDrawing(compileFlow(flowOf({ end: menuTo('end') })))), /state "end" as s1/);
});

test.run();
