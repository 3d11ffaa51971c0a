// The voting rules of a deployment: read from its rules file, checked as a whole, completed with the defaults below.

import { checkFields, type FieldCheck, quoteValue, type ReportProblem, readConfigFile } from '../../config-file.ts';
import { isObject } from '../../given.ts';
import { flawOfExactJson } from '../../json/reader.ts';
import { isDid } from '../did/did.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { compareToOne, isAtLeast, POWER_MAX, parseFraction, parsePower, type VotingRules } from './tally.ts';

export type VoterPower = {
  readonly did: string;
  /** A whole number from 0 to 2^128 − 1 in decimal digits; 0: may not vote. */
  readonly power: string;
};

/** The rules by which proposals are decided; GOVERNANCE_FILE holds them. */
export type Governance = VotingRules & {
  /** Empty: every API key with the role representative. */
  readonly representatives: readonly string[];
  /** Empty: every API key with the role voter, with power 1. */
  readonly voters: readonly VoterPower[];
};

/**
 * What clients read of the rules. `tie`: what becomes of as many yes as no; null where the numbers decide.
 * @example
 * governanceView(DEFAULT_GOVERNANCE).tie; // → 'fails'
 */
export function governanceView(governance: Governance): Governance & { readonly tie: 'passes' | 'fails' | null } {
  const { threshold: needed } = governance;
  if (needed.kind !== 'percent') return { ...governance, tie: needed.kind === 'majority' ? 'fails' : null };
  return { ...governance, tie: isAtLeast(1n, parseFraction(needed.value)!, 2n) ? 'passes' : 'fails' };
}

/**
 * The rules that this text (JSON) gives. Throws ERR_CONFIG with every problem at once: `details` names each by its JSON
 * pointer. `source` is the file's name for the message.
 * @example
 * parseGovernance('{"threshold":{"kind":"count","value":3}}').threshold; // → { kind: 'count', value: '3' }
 * parseGovernance('{"quorum":2}'); // throws ERR_CONFIG
 */
export function parseGovernance(text: string, source = 'The governance file'): Governance {
  return readConfigFile(source, (report) => read(text, report));
}

function read(text: string, report: ReportProblem): Governance | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    report('', 'it is not JSON. Check commas, quotes and brackets.');
    return undefined;
  }
  const flaw = flawOfExactJson(text);
  // Numbers that would be rounded are beyond what the checks below allow.
  if (flaw?.kind === 'name') report(flaw.pointer, 'given twice; keep the one that counts');
  if (!isObject(value)) {
    report('', 'it must be one JSON object, such as {"quorum": "0.2"}');
    return undefined;
  }
  const governance: Governance = { ...DEFAULT_GOVERNANCE, ...checkFields(value, CHECKS, report) };
  // A count says by itself how many must take part.
  const whole =
    governance.threshold?.kind === 'count' && !('quorum' in value) ? { ...governance, quorum: '0' } : governance;
  reachable(whole, report);
  return whole;
}

const CHECKS: { readonly [Name in keyof Governance]: FieldCheck } = {
  threshold,
  quorum: (value, at, report) => {
    const fraction = typeof value === 'string' ? parseFraction(value) : undefined;
    if (!fraction || compareToOne(fraction) > 0)
      report(at, `must be a fraction from "0" to "1" in quotes, such as "0.2"; it is ${quoteValue(value)}`);
    return value;
  },
  votingPeriodSeconds: seconds(1),
  allowRevoting: yesOrNo,
  timelockSeconds: seconds(0),
  recuseController: yesOrNo,
  representatives: (value, at, report) => {
    const list = readList(value, at, report);
    list.forEach((did, index) => {
      person(did, `${at}/${index}`, report);
      if (list.indexOf(did) < index) report(`${at}/${index}`, `${quoteValue(did)} stands in the list twice`);
    });
    return list;
  },
  voters,
};

function threshold(value: unknown, at: string, report: ReportProblem): unknown {
  const kind = isObject(value) ? value.kind : undefined;
  if (!isObject(value) || (kind !== 'majority' && kind !== 'percent' && kind !== 'count')) {
    report(
      at,
      `must be {"kind":"majority"}, {"kind":"percent","value":"0.5"} or {"kind":"count","value":3}; it is ${quoteValue(value)}`,
    );
    return DEFAULT_GOVERNANCE.threshold;
  }
  checkKeys(value, kind === 'majority' ? ['kind'] : ['kind', 'value'], { at, report });
  if (kind === 'majority') return { kind };
  if (kind === 'percent') {
    const fraction = typeof value.value === 'string' ? parseFraction(value.value) : undefined;
    if (!fraction || fraction.over === 0n || compareToOne(fraction) > 0)
      report(
        `${at}/value`,
        `must be a fraction above "0", up to "1", in quotes, such as "0.5"; it is ${quoteValue(value.value)}`,
      );
    return { kind, value: String(value.value) };
  }
  const count = parseWholeNumber(value.value);
  if (count === undefined || count === 0n)
    report(`${at}/value`, `must be a whole number from 1; it is ${quoteValue(value.value)}`);
  return { kind, value: String(count ?? 1n) };
}

function voters(value: unknown, at: string, report: ReportProblem): VoterPower[] {
  const list = readList(value, at, report).slice(0, DOMAIN_LIMITS.votersPerProposal);
  const places = new Map<unknown, number>();
  const powers = list.map((voter, index): VoterPower => {
    const here = `${at}/${index}`;
    if (!isObject(voter)) {
      report(here, `must be {"did":"did:…","power":"1"}; it is ${quoteValue(voter)}`);
      return { did: '', power: '0' };
    }
    checkKeys(voter, ['did', 'power'], { at: here, report });
    person(voter.did, `${here}/did`, report);
    const first = places.get(voter.did);
    if (first !== undefined)
      report(`${here}/did`, `${quoteValue(voter.did)} stands in the list twice, at ${at}/${first} too`);
    else places.set(voter.did, index);
    const power = parseWholeNumber(voter.power);
    if (power === undefined)
      report(
        `${here}/power`,
        `must be a whole number from "0" to 2^128 − 1 in quotes; it is ${quoteValue(voter.power)}`,
      );
    return { did: String(voter.did), power: String(power ?? 0n) };
  });
  const total = powers.reduce((sum, { power }) => sum + BigInt(power), 0n);
  if (total > POWER_MAX) report(at, `all powers together are ${total}, more than 2^128 − 1`);
  if (list.length && total === 0n) report(at, 'nobody has any power; give at least one voter a power above 0');
  return powers;
}

// With voters that come from API keys, how much power there will be is not checked here.
function reachable({ threshold: needed, voters: list }: Governance, report: ReportProblem): void {
  const total = list.reduce((sum, { power }) => sum + BigInt(power), 0n);
  if (needed?.kind === 'count' && total > 0n && BigInt(needed.value) > total)
    report('/threshold/value', `${needed.value} can never be reached: all voters together have ${total}`);
}

function seconds(least: number): FieldCheck {
  return (value, at, report) => {
    if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > DOMAIN_LIMITS.votingSecondsMax)
      report(
        at,
        `must be a whole number of seconds from ${least} to ${DOMAIN_LIMITS.votingSecondsMax}; it is ${quoteValue(value)}`,
      );
    return value;
  };
}

function yesOrNo(value: unknown, at: string, report: ReportProblem): unknown {
  if (typeof value !== 'boolean') report(at, `must be true or false; it is ${quoteValue(value)}`);
  return value;
}

function readList(value: unknown, at: string, report: ReportProblem): readonly unknown[] {
  if (!Array.isArray(value)) report(at, `must be a list, in [ ]; it is ${quoteValue(value)}`);
  else if (value.length > DOMAIN_LIMITS.votersPerProposal)
    report(at, `has ${value.length} entries; ${DOMAIN_LIMITS.votersPerProposal} are allowed`);
  return Array.isArray(value) ? value : [];
}

function person(value: unknown, at: string, report: ReportProblem): void {
  if (typeof value !== 'string' || !isDid(value))
    report(at, `must be a DID such as "did:ixo:…"; it is ${quoteValue(value)}`);
}

function checkKeys(
  value: object,
  names: readonly string[],
  { at, report }: { at: string; report: ReportProblem },
): void {
  for (const name of Object.keys(value))
    if (!names.includes(name)) report(`${at}/${name}`, `unknown; expected only ${names.join(' and ')}`);
}

// Numbers beyond 2^53 have been rounded by the time they are read, so those must be in quotes.
function parseWholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'string') return parsePower(value);
  return Number.isSafeInteger(value) && (value as number) >= 0 ? BigInt(value as number) : undefined;
}

/**
 * The rules of a deployment without a rules file. To change them, write the same keys into a JSON file and name it in
 * GOVERNANCE_FILE; a key that the file leaves out keeps the value given here.
 */
export const DEFAULT_GOVERNANCE: Governance = {
  // How many must say yes. "majority": more than half of the yes and no votes, so a tie loses.
  // { kind: 'percent', value: '0.5' }: at least that share of the yes and no votes, so a tie wins.
  // { kind: 'count', value: '3' }: at least that much voting power, however many say no.
  threshold: { kind: 'majority' },

  // How many must take part, with any vote: this share of all voting power. "0.2" is one fifth.
  quorum: '0.2',

  // How long a vote is open: 604800 seconds are seven days.
  votingPeriodSeconds: 604_800,

  // Whether voters may change their mind. If they may, nothing is decided before the vote closes;
  // if not, the vote ends as soon as the votes that are still missing cannot change the result.
  allowRevoting: false,

  // How long a result waits before it takes effect, so that an operator can still veto it. 0: at once.
  timelockSeconds: 0,

  // Whether those who control a domain are kept from voting on it.
  recuseController: false,

  // Who may propose, besides operators. An empty list: everyone whose API key has the role "representative".
  representatives: [],

  // Who may vote, and with how much power. An empty list: everyone whose API key has the role "voter", with power 1.
  voters: [],
};
