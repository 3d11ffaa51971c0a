// `npm run release -- <version|patch|minor|major>`: the version, its day in the changelog, its fixtures, one commit and its tag; pushing
// and publishing are left to people. With --dry-run it says what it would do, and what is in the way, and changes nothing.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const STEPS = ['patch', 'minor', 'major'] as const;
const VERSION = /^\d+\.\d+\.\d+$/;

export interface ReleaseFacts {
  /** Of package.json. */
  readonly version: string;
  readonly changelog: string;
  /** What git has not committed, one path per line. */
  readonly uncommitted: string;
  /** Names of tags. */
  readonly tags: readonly string[];
}

export interface Release {
  readonly version: string;
  readonly changelog: string;
  /** Why it cannot be released; empty when it can. */
  readonly problems: readonly string[];
}

/** The release of `wanted`: a version, or how the present one grows. `day` is `2026-11-25`. */
export function planRelease(wanted: string, day: string, facts: ReleaseFacts): Release {
  const version = STEPS.some((step) => step === wanted) ? grow(facts.version, wanted) : wanted;
  const heading = `## ${version} — unreleased`;
  const problems = [
    ...(VERSION.test(version) ? [] : [`"${wanted}" is no version: give 1.2.3, patch, minor or major.`]),
    ...(facts.changelog.includes(heading) ? [] : [`CHANGELOG.md has no heading "${heading}": say what users notice.`]),
    ...(facts.tags.includes(`v${version}`) ? [`The tag v${version} is there already.`] : []),
    ...(facts.uncommitted === '' ? [] : [`Not committed:\n${facts.uncommitted}`]),
  ];
  return { version, changelog: facts.changelog.replace(heading, `## ${version} — ${day}`), problems };
}

/** The version whose changes the changelog collects; undefined when there are none. */
export function findUnreleased(changelog: string): string | undefined {
  return /^## (\S+) — unreleased$/m.exec(changelog)?.[1];
}

function grow(version: string, step: string): string {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (step === 'major') return `${major + 1}.0.0`;
  return step === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

const CHART = 'server/deploy/helm/Chart.yaml';

if (process.argv[1] === import.meta.filename) {
  const options = { 'dry-run': { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const git = (...args: readonly string[]) => execFileSync('git', args, { encoding: 'utf8' }).trimEnd();
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  const wanted = positionals[0] ?? findUnreleased(changelog) ?? '';
  const release = planRelease(wanted, new Date().toISOString().slice(0, 10), {
    version,
    changelog,
    uncommitted: git('status', '--porcelain'),
    tags: git('tag').split('\n'),
  });
  const tag = `v${release.version}`;
  if (wanted === '') console.log('Nothing is unreleased.');
  else if (release.problems.length) {
    for (const problem of release.problems) console.error(`✘ ${problem}`);
    process.exitCode = 1;
  } else if (values['dry-run']) console.log(`Would commit and tag ${tag}.`);
  else {
    writeFileSync('CHANGELOG.md', release.changelog);
    const same = '--allow-same-version';
    execFileSync('npm', ['version', release.version, '--no-git-tag-version', same], { stdio: 'inherit' });
    const chart = readFileSync(CHART, 'utf8');
    writeFileSync(CHART, chart.replace(/^(version|appVersion): .*/gm, `$1: ${release.version}`));
    const fixtures = `test/fixtures/${release.version}`;
    const write = ['--import', 'tsx', 'test/versions/write.ts'];
    if (!existsSync(`${fixtures}/held.json`)) execFileSync(process.execPath, write, { stdio: 'inherit' });
    git('add', fixtures);
    git('commit', '--all', '--message', `Version ${release.version}`);
    git('tag', '--annotate', tag, '--message', tag);
    console.log(`Committed and tagged. Next: git push --follow-tags, then npm publish --provenance in CI.`);
  }
}
