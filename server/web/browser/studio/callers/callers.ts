// What callers do, on the drawing: turns on each way, and the screens where callers hang up.

import type { UsageReport, UsageScreen } from '../../../../usage/report.ts';
import { element, findElement } from '../../element.ts';
import { get } from '../requests.ts';
import { findRoute, listWays } from './routes.ts';

const HEATS = 5;
const SVG = 'http://www.w3.org/2000/svg';
/** Screens of the table. */
const ROWS = 100;

export interface CallersPart {
  /** Marks a new drawing of a flow. */
  mark(drawn: SVGSVGElement, flow: string): void;
}

/** Starts the choice of days, version and language above the drawing. */
export function callersPart(): CallersPart {
  const days = findElement<HTMLSelectElement>('callers-days');
  const version = findElement<HTMLSelectElement>('callers-version');
  const language = findElement<HTMLSelectElement>('callers-language');
  const words = findElement('callers-words');
  const table = findElement('callers-table');
  const links = findElement('callers-links');
  let drawn: SVGSVGElement | undefined;
  let flow = '';
  let asked = 0;

  async function show(): Promise<void> {
    const mine = ++asked;
    const isOn = days.value !== '';
    clearMarks(drawn);
    for (const part of [version, language, table, links]) part.hidden = true;
    words.textContent = '';
    if (!isOn || !drawn) return;
    const query = new URLSearchParams({ days: days.value });
    const whole = await read(query);
    if (mine !== asked || !whole) return;
    offer(
      version,
      'All versions',
      whole.ways.map((way) => String(way.version)),
    );
    offer(language, 'All languages', whole.ways.map((way) => way.language).filter(Boolean));
    if (version.value) query.set('version', version.value);
    if (language.value) query.set('lang', language.value);
    const report = query.size > 1 ? await read(query) : whole;
    if (mine !== asked || !report) return;
    words.textContent = describeUsage(report);
    setLinks(query);
    const isEmpty = report.ways.length === 0;
    table.hidden = isEmpty;
    if (isEmpty) return;
    markUsage(drawn, report);
    table.replaceChildren(element('summary', { text: 'All screens' }), screenTable(report));
  }

  async function read(query: URLSearchParams): Promise<UsageReport | undefined> {
    try {
      return await get<UsageReport>(`/usage/${encodeURIComponent(flow)}?${query}`);
    } catch (error) {
      words.textContent = (error as Error).message;
      return undefined;
    }
  }

  function setLinks(query: URLSearchParams): void {
    links.hidden = false;
    for (const link of links.querySelectorAll<HTMLAnchorElement>('a')) {
      const { format } = link.dataset;
      link.href = `/studio/usage/${encodeURIComponent(flow)}?${query}&format=${format}`;
      link.download = `${flow}-callers.${format}`;
    }
  }

  for (const choice of [days, version, language]) choice.addEventListener('change', () => void show());
  return {
    mark(next, name) {
      if (name !== flow) version.value = language.value = '';
      drawn = next;
      flow = name;
      void show();
    },
  };
}

/** Fills a choice, which is hidden while there is only one. */
function offer(choice: HTMLSelectElement, all: string, values: readonly string[]): void {
  const chosen = choice.value;
  const names = [...new Set(values)].sort();
  choice.replaceChildren(
    element('option', { text: all, is: { value: '' } }),
    ...names.map((name) => element('option', { text: name })),
  );
  choice.value = names.includes(chosen) ? chosen : '';
  choice.hidden = names.length < 2;
}

/** One sentence: how many began, and where most hung up. */
function describeUsage({ ways, screens, other }: UsageReport): string {
  if (ways.length === 0) return 'Nobody dialled this flow in this time.';
  const begun = ways.filter(({ from }) => from === null).reduce((sum, { turns }) => sum + turns, 0);
  const failed = ways.filter(({ outcome }) => outcome === 'failed').reduce((sum, { turns }) => sum + turns, 0);
  const worst = findWorst(screens);
  return [
    `${format(begun)} ${begun === 1 ? 'session' : 'sessions'} began here.`,
    worst
      ? `Most hang up at ${worst.screen}: ${format(worst.unanswered)} of ${format(worst.reached)}.`
      : 'Nobody hung up.',
    failed > 0 && `${format(failed)} ${failed === 1 ? 'turn' : 'turns'} failed.`,
    other > 0 && `${format(other)} turns on rare ways are not drawn.`,
  ]
    .filter(Boolean)
    .join(' ');
}

const format = (count: number) => count.toLocaleString('en');

/** The screen that lost most callers. */
function findWorst(screens: readonly UsageScreen[]): UsageScreen | undefined {
  const [worst] = [...screens].sort((one, two) => two.unanswered - one.unanswered);
  return worst?.unanswered ? worst : undefined;
}

function clearMarks(drawn: SVGSVGElement | undefined): void {
  for (const mark of drawn?.querySelectorAll('.callers-mark') ?? []) mark.remove();
  for (const edge of drawn?.querySelectorAll('.edge') ?? [])
    for (let step = 0; step <= HEATS; step++) edge.classList.remove(`heat-${step}`);
}

/** Widens the ways that callers take, and writes their numbers; marks the screens where callers hang up. */
function markUsage(drawn: SVGSVGElement, { ways, screens }: UsageReport): void {
  const edges = [...drawn.querySelectorAll<SVGGElement>('.edge')];
  const states = new Map(
    [...drawn.querySelectorAll<SVGGElement>('.state')].map((state) => [state.getAttribute('data-state')!, state]),
  );
  const ends = edges.map((edge) => ({ from: edge.getAttribute('data-from')!, to: edge.getAttribute('data-to')! }));
  const facts = listWays(ends, (state) => states.get(state)?.getAttribute('data-kind') ?? '');
  const turns = edges.map(() => 0);
  for (const { from, to, turns: count } of ways) for (const at of findRoute(facts, from ?? '', to)) turns[at]! += count;
  const most = Math.max(1, ...turns);
  for (const [at, edge] of edges.entries()) {
    const count = turns[at]!;
    edge.classList.add(`heat-${Math.ceil((HEATS * count) / most)}`);
    const track = edge.querySelector<SVGPathElement>('.track');
    if (count === 0 || !track) continue;
    const { x, y } = track.getPointAtLength(track.getTotalLength() / 2);
    drawn.append(pill('turns', format(count), { x, y }));
  }
  const worst = findWorst(screens);
  for (const screen of screens) {
    const card = states.get(screen.screen)?.querySelector<SVGGraphicsElement>('.card, .frame');
    const place = states
      .get(screen.screen)
      ?.getAttribute('transform')
      ?.match(/-?[\d.]+/g);
    if (!card || !place || !(screen.unanswered || screen.failed)) continue;
    const { width } = card.getBBox();
    const lost = screen.unanswered > 0 && `−${format(screen.unanswered)} (${percent(screen)})`;
    const text = [lost, screen.failed > 0 && `${format(screen.failed)} failed`].filter(Boolean).join(' · ');
    const names = screen === worst ? 'lost worst' : 'lost';
    drawn.append(pill(names, text, { x: Number(place[0]) + width, y: Number(place[1]) - 4 }));
  }
}

const percent = ({ unanswered, reached }: UsageScreen) =>
  `${reached === 0 ? 0 : Math.round((100 * unanswered) / reached)} %`;

/** A number on a ground of its own, so that it can be read over lines. */
function pill(names: string, words: string, { x, y }: { readonly x: number; readonly y: number }): SVGGElement {
  const group = document.createElementNS(SVG, 'g');
  group.setAttribute('class', `callers-mark ${names}`);
  group.setAttribute('transform', `translate(${x} ${y})`);
  const text = document.createElementNS(SVG, 'text');
  text.textContent = words;
  text.setAttribute('text-anchor', 'middle');
  text.setAttribute('y', '4');
  const width = words.length * 7 + 12;
  const ground = document.createElementNS(SVG, 'rect');
  for (const [name, value] of Object.entries({ x: -width / 2, y: -9, width, height: 18, rx: 9 }))
    ground.setAttribute(name, String(value));
  group.append(ground, text);
  return group;
}

const COLUMNS = ['Screen', 'Reached', 'Hung up', 'Failed', 'Median'] as const;

function screenTable({ screens }: UsageReport): HTMLElement {
  const rows = [...screens].sort((one, two) => two.unanswered - one.unanswered).slice(0, ROWS);
  return element('div', { class: 'table', is: { tabindex: 0, role: 'region', 'aria-label': 'Screens' } }, [
    element('table', {}, [
      element('thead', {}, [
        element(
          'tr',
          {},
          COLUMNS.map((text) => element('th', { text, is: { scope: 'col' } })),
        ),
      ]),
      element(
        'tbody',
        {},
        rows.map((row) =>
          element(
            'tr',
            {},
            [
              row.screen,
              format(row.reached),
              row.unanswered ? `${format(row.unanswered)} (${percent(row)})` : '0',
              format(row.failed),
              row.medianSeconds === null ? '–' : `${row.medianSeconds} s`,
            ].map((text) => element('td', { text })),
          ),
        ),
      ),
    ]),
  ]);
}
