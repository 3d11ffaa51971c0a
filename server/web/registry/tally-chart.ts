// The bars of a vote, turnout and approval, with their thresholds. Drawn as SVG because the content security policy
// forbids inline styles.

import { type Count, parseFraction, type VotingRules } from '../../../lib/domain/voting/tally.ts';
import { html, type Markup } from '../../../lib/markup.ts';

interface Segment {
  readonly kind: 'yes' | 'no' | 'abstain';
  readonly power: bigint;
}

interface Bar {
  readonly title: string;
  /** Text alternative. */
  readonly label: string;
  readonly whole: bigint;
  readonly segments: readonly Segment[];
  /** Threshold: percent of the bar, and its name. */
  readonly line?: { readonly at: number; readonly name: string } | undefined;
}

/** Turnout and approval. */
export function tallyChart(count: Count, rules: VotingRules): Markup {
  return html`${drawBar(participation(count, rules))}${drawBar(approval(count, rules))}`;
}

function participation(count: Count, rules: VotingRules): Bar {
  const { yes, no, abstain, cast, totalPower } = count;
  const quorum = parsePercent(rules.quorum);
  return {
    title: 'Taken part',
    label: `${formatPercent(cast, totalPower)} of all voting power has voted; the quorum is ${formatFraction(rules.quorum)}`,
    whole: totalPower,
    segments: [
      { kind: 'yes', power: yes },
      { kind: 'no', power: no },
      { kind: 'abstain', power: abstain },
    ],
    line: quorum > 0 ? { at: quorum, name: `Quorum ${formatFraction(rules.quorum)}` } : undefined,
  };
}

function approval({ yes, no, totalPower }: Count, { threshold }: VotingRules): Bar {
  if (threshold.kind === 'count') {
    const at = totalPower === 0n ? 100 : Math.min(100, share(BigInt(threshold.value), totalPower));
    return {
      title: 'In favour',
      label: `${yes} of ${threshold.value} that are needed say yes`,
      whole: totalPower,
      segments: [{ kind: 'yes', power: yes }],
      line: { at, name: `Needed ${threshold.value}` },
    };
  }
  const at = threshold.kind === 'majority' ? 50 : parsePercent(threshold.value);
  const name = threshold.kind === 'majority' ? 'More than half' : `Needed ${formatFraction(threshold.value)}`;
  return {
    title: 'In favour, of yes and no',
    label: `${formatPercent(yes, yes + no)} of yes and no say yes; ${name.toLowerCase()}`,
    whole: yes + no,
    segments: [
      { kind: 'yes', power: yes },
      { kind: 'no', power: no },
    ],
    line: { at, name },
  };
}

function drawBar({ title, label, whole, segments, line }: Bar): Markup {
  let from = 0;
  const rects = segments.map(({ kind, power }) => {
    const width = share(power, whole);
    const rect = width > 0 && html`<rect class="${kind}" x="${from}%" width="${width}%" height="100%"></rect>`;
    from += width;
    return rect;
  });
  const anchor = line && (line.at < 20 ? 'start' : line.at > 80 ? 'end' : 'middle');
  return html`<figure>
<figcaption>${title}</figcaption>
<svg class="tally" role="img" aria-label="${label}" height="58" width="100%">
<svg y="22" height="26" width="100%"><rect class="track" width="100%" height="100%"></rect>${rects}</svg>
${
  line &&
  html`<line class="halo" x1="${line.at}%" x2="${line.at}%" y1="16" y2="54"></line>
<line class="line" x1="${line.at}%" x2="${line.at}%" y1="16" y2="54"></line>
<text class="name" x="${line.at}%" y="11" text-anchor="${anchor}">${line.name}</text>`
}
</svg>
</figure>
`;
}

/** Percentage with two decimals. */
export function share(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 10_000n) / whole) / 100;
}

/** The same as text. Rounds neither to 0 % nor to 100 % unless exact. */
export function formatPercent(part: bigint, whole: bigint): string {
  const percent = share(part, whole);
  if (part > 0n && percent < 0.1) return 'under 0.1 %';
  if (part < whole && percent > 99.9) return 'over 99.9 %';
  return `${Number(percent.toFixed(1))} %`;
}

/** A fraction such as `0.5` or `2/3` as a percentage. */
export function parsePercent(text: string): number {
  const fraction = parseFraction(text);
  return fraction ? share(fraction.over, fraction.under) : 100;
}

/** A fraction of the rules as text: `50 %`, `2/3`. */
export function formatFraction(text: string): string {
  return text.includes('/') ? text : `${Number((Number(text) * 100).toFixed(6))} %`;
}
