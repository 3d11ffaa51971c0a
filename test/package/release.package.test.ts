// A release: which version it is, what its changelog says, and what is in its way.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findUnreleased, planRelease, type ReleaseFacts } from '../../server/packaging/release.ts';

const test = suite('release');
const FACTS: ReleaseFacts = {
  version: '0.1.0',
  changelog: '# Changelog\n\n## 0.2.0 — unreleased\n\n- New.\n\n## 0.1.0 — 2026-01-01\n',
  uncommitted: '',
  tags: ['v0.1.0'],
};

test('a version is named, or grows from the present one, and the changelog gets its day', () => {
  for (const wanted of ['minor', '0.2.0']) {
    const { version, changelog, problems } = planRelease(wanted, '2026-11-25', FACTS);
    assert.equal([version, problems], ['0.2.0', []]);
    assert.match(changelog, /^## 0\.2\.0 — 2026-11-25$/m);
    assert.not.match(changelog, /unreleased/);
  }
  assert.equal([findUnreleased(FACTS.changelog), findUnreleased('## 0.1.0 — 2026-01-01')], ['0.2.0', undefined]);
  assert.is(planRelease('patch', '', FACTS).version, '0.1.1');
  assert.is(planRelease('major', '', FACTS).version, '1.0.0');
});

test('everything that is in the way is told at once', () => {
  const { problems } = planRelease('0.1.0', '', { ...FACTS, uncommitted: ' M lib/index.ts' });
  assert.equal(
    problems.map((problem) => problem.split(':')[0]!.split('\n')[0]),
    ['CHANGELOG.md has no heading "## 0.1.0 — unreleased"', 'The tag v0.1.0 is there already.', 'Not committed'],
  );
  assert.match(planRelease('next', '', FACTS).problems.join('\n'), /^"next" is no version/);
});

test.run();
