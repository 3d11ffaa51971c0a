// `twinline account`: shows and unlocks a caller's account, in the stores or on a running server.

import { parseArgs } from 'node:util';
import { accounts } from '../../../lib/account/account.ts';
import { pinVault } from '../../../lib/account/pin.ts';
import { ACCOUNTS } from '../../../lib/account/records.ts';
import { systemClock } from '../../../lib/clock.ts';
import { storedMemories } from '../../../lib/engine/memory/documents.ts';
import { suggest } from '../../../lib/flow/expression/suggest.ts';
import { auditLog } from '../../audit/writer.ts';
import type { ResealReport } from '../../stores/sealed.ts';
import type { AccountDesk, AccountReport } from '../../ussd/account-desk.ts';
import { withDocuments } from '../documents.ts';
import { readOperatorToken, readText, remote } from '../remote.ts';
import { formatCount, showProgress } from '../terminal.ts';
import { UsageError, type Verb } from '../verb.ts';

const OPTIONS = { url: { type: 'string' }, json: { type: 'boolean' }, 'dry-run': { type: 'boolean' } } as const;
const ACTIONS = ['show', 'unlock', 'export', 'erase'] as const;
const ALL_ACTIONS = [...ACTIONS, 'reseal'] as const;
type AccountAction = (typeof ACTIONS)[number];

export const accountVerb: Verb = {
  usage: '<show|unlock|export|erase> <phone> | reseal [options]',
  options: {
    '(show)': 'whether it is registered, locked, and until when; what the log calls this number',
    '(unlock)': 'forgets all failed tries; a line of the log says who did it; again changes nothing',
    '(export)': 'what flows keep of this caller between sessions, as JSON; the audit log says who asked',
    '(erase)': 'forgets all of that, not the account; the audit log says who did it; again changes nothing',
    '(reseal)':
      'seals all PINs, memories of callers, webhook secrets and delegations with the active key, while servers run; stopped, the next run goes on',
    '--dry-run': 'for reseal: counts what it would do and writes nothing',
    '--url <address>':
      'ask a running server, with OPERATOR_TOKEN; without it the stores of this configuration are opened',
    '--json': 'as JSON',
    '(exit codes)':
      '0 done, 1 the number has no account or no memory, or something cannot be opened, 2 wrong use, 78 configuration',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [named = '', phone = '', ...more] = positionals;
    if (named === 'reseal') {
      if (phone !== '' || values.url !== undefined)
        throw new UsageError(
          'account reseal takes no phone number and no --url: it opens the stores of these settings.',
        );
      return reseal(env, { dryRun: values['dry-run'] === true, json: values.json === true });
    }
    const action = ACTIONS.find((one) => one === named);
    if (action === undefined)
      throw new UsageError(`Say show, unlock, export, erase or reseal.${suggest(named, ALL_ACTIONS)}`);
    if (phone === '' || more.length) throw new UsageError('Give one phone number such as +260971230001.');
    const ask = { action, phone, json: values.json === true };
    if (values.url === undefined) return withDesk(env, (desk) => carryOut(desk, ask));
    return carryOut(remoteDesk(values.url, env), ask);
  },
};

interface Ask {
  readonly action: AccountAction;
  readonly phone: string;
  readonly json: boolean;
}

async function carryOut(desk: AccountDesk, { action, phone, json }: Ask): Promise<number> {
  if (action === 'export') {
    const { memory } = await desk.export(phone, 'cli');
    console.log(JSON.stringify({ memory }, null, 2));
    return memory.length ? 0 : 1;
  }
  if (action === 'erase') {
    const { erased } = await desk.erase(phone, 'cli');
    console.log(json ? JSON.stringify({ erased }) : `${formatCount(erased, 'flow')} kept something of it: erased.`);
    return erased ? 0 : 1;
  }
  const report = action === 'show' ? await desk.show(phone) : await desk.unlock(phone, 'cli');
  if (json) console.log(JSON.stringify(report, null, 2));
  else if ('before' in report) console.log(formatUnlock(report));
  else console.log(formatReport(report));
  return report.registered ? 0 : 1;
}

function formatUnlock({ registered, unlocked, before }: Awaited<ReturnType<AccountDesk['unlock']>>): string {
  const was = { open: 'it was not locked', locked: `it was locked until ${before.lockedUntil}`, held: 'it was held' };
  const who = registered ? `The account ${before.customerId}` : 'No account has this number. Its tries';
  if (!unlocked) return `${who}: there is nothing to unlock.`;
  return registered ? `${who} is unlocked: ${was[before.state]}.` : `${who} are forgotten: ${was[before.state]}.`;
}

function formatReport({ customerId, lastUnlock, callers, ...report }: AccountReport): string {
  const states = {
    open: 'open',
    locked: `locked until ${report.lockedUntil}`,
    held: 'held: locked until an operator unlocks it',
  };
  return [
    customerId === null ? 'No account has this number' : `Account ${customerId}`,
    `state: ${states[report.state]}`,
    `failed tries: ${report.failuresInRow} in a row, ${report.failuresInWindow} within a day, ${report.locks} locks`,
    ...(report.simChangedAt
      ? [`new SIM: ${report.simChangedAt}, so the PIN cannot be changed until it is unlocked`]
      : []),
    ...callers.map(({ key, caller }) => `in the log: "caller":"${caller}" (key "${key}")`),
    ...(lastUnlock ? [`last unlocked: ${lastUnlock.at} by ${lastUnlock.by}`] : []),
  ].join('\n');
}

function reseal(env: NodeJS.ProcessEnv, { dryRun, json }: { dryRun: boolean; json: boolean }): Promise<number> {
  return withDocuments({ env, what: 'accounts' }, async ({ config: { keyring }, documents, log }) => {
    const { resealAll } = await import('../../stores/sealed.ts');
    const audit = auditLog({ documents, keyring, clock: systemClock, log });
    const total = await documents.count(ACCOUNTS);
    try {
      if (!dryRun) await audit.append({ action: 'keys.resealed', by: 'cli', details: { key: keyring.active } });
      const progress = await showProgress({ total, stream: process.stderr, unit: 'documents' });
      const report = await resealAll({ documents, keyring, dryRun }, (done) =>
        progress.update(Math.min(done, total), { lines: done }),
      ).finally(progress.stop);
      console.log(json ? JSON.stringify(report) : describeReseal(report, { dryRun, key: keyring.active }));
      return Object.keys(report.unopened).length ? 1 : 0;
    } finally {
      await audit.close();
    }
  });
}

function describeReseal(report: ResealReport, { dryRun, key }: { dryRun: boolean; key: string }): string {
  const { moved, current, unopened } = report;
  const verb = dryRun ? 'would be moved' : 'moved';
  return [
    `${formatCount(moved, 'document')} ${verb} to the key "${key}", ${current} had it already.`,
    ...Object.entries(unopened).map(
      ([kid, count]) =>
        `✘ ${formatCount(count, 'document')} sealed with the key ${JSON.stringify(kid)} cannot be opened: put it behind the first key of PIN_ENCRYPTION_KEY, or they are damaged.`,
    ),
  ].join('\n');
}

function withDesk(env: NodeJS.ProcessEnv, work: (desk: AccountDesk) => Promise<number>): Promise<number> {
  return withDocuments({ env, what: 'accounts' }, async ({ config: { keyring }, documents, log }) => {
    const { accountDesk } = await import('../../ussd/account-desk.ts');
    const vault = pinVault({ keyring });
    const audit = auditLog({ documents, keyring, clock: systemClock, log });
    const desk = accountDesk({
      accounts: accounts({ documents, vault, clock: systemClock }),
      memory: storedMemories({ documents, keyring, clock: systemClock }),
      aliases: vault.aliases,
      audit,
    });
    return work(desk).finally(audit.close);
  });
}

function remoteDesk(url: string, env: NodeJS.ProcessEnv): AccountDesk {
  // In development, a server accepts local requests without a token.
  const server = remote({ url, key: readOperatorToken(env) ?? 'none' }, env);
  const ask = async <T>(action: AccountAction, phoneNumber: unknown): Promise<T> => {
    const body = Buffer.from(JSON.stringify({ phoneNumber }));
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
    const answer = await server.send(`/api/ussd/accounts/${action}`, { method: 'POST', headers, body });
    return JSON.parse(await readText(answer)) as T;
  };
  return {
    show: (phone) => ask('show', phone),
    unlock: (phone) => ask('unlock', phone),
    export: (phone) => ask('export', phone),
    erase: (phone) => ask('erase', phone),
  };
}
