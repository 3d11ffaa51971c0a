// Checks of the machine: Node, its clock beside those of the stores, and how many connections it may hold.

import { advice, broken, type Check, type Finding, fine } from './check.ts';

/** When each line of Node that we run on ends. */
const ENDS: Readonly<Record<number, string>> = { 20: '2026-04-30', 22: '2027-04-30', 24: '2028-04-30' };
const OLDEST = [20, 19] as const;
const SKEW_MAX_MS = 1_000;
const FILES_BROKEN = 1_024;
const FILES_ADVICE = 10_000;

export const MACHINE_CHECKS: readonly Check[] = [
  { name: 'Node', run: ({ now }) => nodeFinding(process.versions.node, now) },
  { name: 'open files', run: () => filesFinding(openFilesMax()) },
];

export const CLOCK_CHECKS: readonly Check[] = [
  {
    name: 'clock',
    when: ({ redis, mongo }) => redis !== undefined || mongo !== undefined,
    run: async ({ redis, mongo }) => {
      const skews = [
        ...((await redis?.facts()) ?? []).map(({ skewMs }) => ['Redis', skewMs] as const),
        ...(mongo ? [['MongoDB', (await mongo.facts()).skewMs] as const] : []),
      ];
      return skews.map(([whose, skewMs]) => skewFinding(whose, skewMs));
    },
  },
];

export function nodeFinding(version: string, now: number): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const fix = 'Use Node 24.';
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    return broken(`Node ${version} is older than ${OLDEST.join('.')}`, fix);
  const end = ENDS[major];
  if (major % 2 === 1 || (end !== undefined && now >= Date.parse(end)))
    return advice(`Node ${version} gets no fixes${end ? ` since ${end}` : ': odd versions are not maintained'}`, fix);
  return fine(`Node ${version}`);
}

export function skewFinding(whose: string, skewMs: number): Finding {
  const words = `the clock of ${whose} is ${Math.abs(skewMs)} ms ${skewMs < 0 ? 'behind' : 'ahead of'} ours`;
  if (Math.abs(skewMs) <= SKEW_MAX_MS) return fine(words);
  return broken(words, 'Run NTP on all machines: sessions expire and timers fire by these clocks.');
}

export function filesFinding(max: number | undefined): Finding {
  if (max === undefined) return fine('any number of open files');
  const words = `${max} open files (ulimit -n)`;
  const fix = 'Raise it: ulimit -n 65536, or LimitNOFILE=65536 in the unit of systemd.';
  if (max < FILES_BROKEN) return broken(words, fix);
  return max < FILES_ADVICE ? advice(words, fix) : fine(words);
}

// Node raises its own limit to the hard one.
function openFilesMax(): number | undefined {
  const report = process.report as typeof process.report & { excludeNetwork?: boolean };
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  if (excludeNetwork !== undefined) report.excludeNetwork = excludeNetwork;
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isFinite(soft) ? soft : undefined;
}
